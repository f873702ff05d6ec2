//! Exchanges that share their connections, in the simulated world.

mod acts;
pub(crate) mod books;
mod frame;
mod scenes;
mod server;
mod storm;

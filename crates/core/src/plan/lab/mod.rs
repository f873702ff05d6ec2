//! Labs: a network in a file.

pub mod impair;
pub mod tc;

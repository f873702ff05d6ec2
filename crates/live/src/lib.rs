//! The full-screen view of a running command.
//!
//! [`draw_board`] draws a [`Board`](sixmark_sheet::board::Board) and decides nothing; the
//! [`engine`] has the terminal, the keys and the thread that redraws.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod draw;
pub mod engine;
mod keys;
mod view_state;

pub use draw::draw_board;
pub use keys::{ViewKey, keys_of};
pub use view_state::{ViewColour, ViewState};

/// The smallest screen on which a board is readable, in columns and rows.
pub const SMALLEST: (u16, u16) = (60, 20);

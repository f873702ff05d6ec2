//! Gates as tables: what is read, what is refused and with which words, and what comes of it.

mod evaluating;
mod reading;
mod refusing;

//! Table-driven tests of gates: texts that are accepted, texts that are rejected with their
//! messages, and results.

mod evaluating;
mod given;
mod reading;
mod refusing;

//! The `sixmark` command.

fn main() {}

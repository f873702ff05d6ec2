//! The `sixmark` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    sixmark::cli::main(std::env::args_os())
}

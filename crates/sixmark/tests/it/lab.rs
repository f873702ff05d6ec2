//! Labs: links between namespaces.
#![cfg(test)]

mod emulator;
mod netem;
mod pair;

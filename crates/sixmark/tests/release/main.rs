//! What a release consists of: packages of the crates, lists of what others wrote, and the script that makes it. These
//! need Git, Python and the sources that Cargo has downloaded.
#![cfg(test)]

mod built;
mod packages;
mod script;
mod third_party;
mod tree;

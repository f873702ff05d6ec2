//! `sixmark watch`, from files that the tests make.

mod files;
mod frames;
mod outputs;
mod partial;
mod refusals;

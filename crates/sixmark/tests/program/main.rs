//! The program and what the library offers, on loopback: these need nothing but Cargo and a kernel that has
//! both families and io_uring.
#![cfg(test)]

mod action;
mod cli;
mod dead_families;
mod doctor;
mod eyes;
mod kept;
mod lab;
mod origin;
mod packaging;
mod readme;
mod result;
mod sameness;
mod site;
mod store;
mod study;
mod traffic;
mod vitals;
mod watch;

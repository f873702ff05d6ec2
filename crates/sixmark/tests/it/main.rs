//! Black-box and simulated tests, in one binary so that they link once.
#![cfg(test)]

mod browser;
mod cli;
mod lab;
mod origin;
mod readme;
mod result;
mod servers;
mod sim;
mod store;
mod study;
mod support;
mod traffic;
mod vitals;
mod watch;

//! Black-box and simulated tests, in one binary so that they link once.

mod cli;
mod result;
mod servers;
mod sim;
mod support;

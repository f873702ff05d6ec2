//! The command line from outside.
#![cfg(test)]

mod body;
mod checks;
mod clocks;
mod compare;
mod connections;
mod ending;
mod find_max;
mod gates;
mod history;
mod http10;
mod http2;
mod http3;
mod lapses;
mod mix;
mod origin;
mod outcomes;
mod output;
mod pace;
mod ratio;
mod redirects;
mod refusals;
mod report;
mod request;
mod requests;
mod source;
mod statuses;
mod tls;
mod turbo;
mod versions;

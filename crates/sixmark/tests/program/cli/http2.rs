//! HTTP/2 from outside: what a request looks like, how connections are used, and what the command
//! line refuses.

mod abuse;
mod peer;

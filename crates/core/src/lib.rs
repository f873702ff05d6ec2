//! The pure part of sixmark: no sockets, files, threads or clock. Bytes and time go in, decisions
//! come out, so that everything here can be tested with a table, a seed or a fuzzer.

pub mod calibration;
pub mod chain;
pub mod check;
pub mod clocks;
pub mod comparison;
pub mod condition;
pub mod content;
pub mod cookies;
pub mod document;
pub mod family;
pub mod find;
pub mod hpack;
pub(crate) mod http;
pub mod http1;
pub mod http2;
pub mod http3;
pub mod import;
pub mod mix;
pub mod observer;
pub mod outcome;
pub mod pace;
pub mod plan;
pub(crate) mod qpack;
pub mod quic;
pub mod redirect;
pub mod report;
pub mod result;
pub mod search;
pub mod seconds;
pub mod tally;
pub mod tcp;
pub mod template;
pub mod timing;
pub mod tls;
pub mod x509;

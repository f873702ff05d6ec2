//! What each fuzz target does with an input. The fuzzer calls it on nightly (`fuzz_targets/`). A test on stable calls
//! it with the inputs that are kept (`crates/sixmark/tests/fuzzed.rs`, which includes this file).

pub mod capture_file;
pub mod dns_message;
pub mod filed_capture;
pub mod flow;
pub mod gate;
pub mod http1_response;
pub mod http2_response;
pub mod http3_response;
pub mod import_file;
pub mod plan;
pub mod requests;
pub mod study;
pub mod tally;
pub mod traffic_script;
pub mod url;
pub mod wire;
pub mod x509;

/// A target. It reads an input, and panics where something does not hold.
pub type Target = fn(&[u8]);

/// All targets, by name.
pub const TARGETS: [(&str, Target); 17] = [
    ("capture_file", capture_file::check),
    ("dns_message", dns_message::check),
    ("filed_capture", filed_capture::check),
    ("flow", flow::check),
    ("gate", gate::check),
    ("http1_response", http1_response::check),
    ("http2_response", http2_response::check),
    ("http3_response", http3_response::check),
    ("import_file", import_file::check),
    ("plan", plan::check),
    ("requests", requests::check),
    ("study", study::check),
    ("tally", tally::check),
    ("traffic_script", traffic_script::check),
    ("url", url::check),
    ("wire", wire::check),
    ("x509", x509::check),
];

//! Whatever a server shows as its certificate: reading when it expires never panics, and what is
//! read can be written as a time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sixmark_core::x509::{not_after, rfc3339};

fuzz_target!(|der: &[u8]| {
    if let Some(end) = not_after(der) {
        let text = rfc3339(end);
        assert!(text.len() >= 20 && text.ends_with('Z'), "{text}");
    }
});

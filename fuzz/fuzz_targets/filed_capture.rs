#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sixmark_fuzz::filed_capture::check(input));

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sixmark_fuzz::dns_message::check(input));

//! Reports in a browser, and browsers as clients of studies: Debian's chromium with its chromedriver, and
//! firefox-esr.
//!
//! `SIXMARK_SKIP=chromium` and `SIXMARK_SKIP=firefox` leave them out, `netns` what needs a lab.
#![cfg(test)]

mod bare;
mod clients;
mod report;

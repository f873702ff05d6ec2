//! What a person sees: reports in a browser, and the live view on a terminal; and browsers as clients of
//! studies. Debian's chromium with its chromedriver, firefox-esr, and tmux.
//!
//! `SIXMARK_SKIP=chromium`, `SIXMARK_SKIP=firefox` and `SIXMARK_SKIP=tmux` leave them out, `netns` what needs a
//! lab.
#![cfg(test)]

mod bare;
mod clients;
mod eyes;
mod race;
mod report;
mod view;
mod width;

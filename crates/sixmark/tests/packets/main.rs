//! What the kernel saw on the wire beside what sixmark says, live and from what tcpdump and tshark made of it.
//!
//! These need root, tcpdump, tshark, nginx and curl; `SIXMARK_SKIP=netns,tcpdump,tshark` leaves all out but
//! one, which needs `setpriv`. See docs/accuracy.md.
#![cfg(test)]

mod capture;
mod exchanges;
mod instruments;
mod live;
mod rights;
mod ring;
mod segments;
mod shared_waits;
mod tcpdump;
mod waits;
mod watched;

//! The study `lazy-eye`: what clients do when a family is slow or dead, beside what "Lazy Eye Inspection"
//! (IMC 2025) published of them.
//!
//! It has no file and no cells: its subject is a client in a case of `sixmark-eyes`, its figures are read
//! from packets, and a load has none of them. It shares the words of other studies: repetitions in random
//! order, published figures, claims with an answer each.
//!
//! [`clients`] lists the clients, [`published`] has the paper's table, [`traits`] what a client does,
//! [`seen_client`] all that was seen of it, [`claims`] the answers, [`document`] what is written, [`sheet`] how
//! it is shown. Only [`engine`] starts programs and opens files.

pub mod claims;
pub mod clients;
pub mod document;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod published;
pub mod seen_client;
pub mod sheet;
pub mod traits;

/// Its name among the built-in studies.
pub const NAME: &str = "lazy-eye";
/// Its title.
pub const TITLE: &str = "Lazy Eye Inspection: Happy Eyeballs of clients, read from packets";
/// What it does, for people.
pub const DESCRIPTION: &str = "\
Starts each client in a lab, in five networks: both families answer alike, IPv6 takes 2 s longer, the answer \
for AAAA comes 1 s late, the answer for A comes 1 s late, and of four addresses of each family only the last \
of IPv4 answers. A capture beside the client shows its queries and its attempts to connect. What it does is \
compared with the paper's table, and for clients that the paper does not have, with their documentation. \
Small programs for libraries are built here, without a network, where the tool chain is installed; a client \
that is not here is omitted, with the reason.";
/// How often each client is started in each case: the fewest starts that decide a claim by a count.
pub const REPETITIONS: u32 = 4;
/// The same in the short form, which has the clients of the paper alone.
pub const QUICK_REPETITIONS: u32 = 2;

/// How the study differs from the published one.
pub const DIFFERENCES: [&str; 5] = [
    "The paper delays IPv6 by 0 to 400 ms in steps of 5 ms, and takes for the attempt delay the step at which a \
     client changes to IPv4. Here IPv6 takes 2 s longer, and the delay is read from the packets: from the first \
     attempt over IPv6 to the first over IPv4.",
    "The paper delays the answer for AAAA by 0 to 1,000 ms in steps of 10 ms; here it comes 1 s late.",
    "For the number of addresses the paper delays all of them by 30 s. Here they are silent, except the last of \
     IPv4, and a command has 5 s, a browser 13 s.",
    "Browsers are started without a screen, by their command line instead of Selenium, and without what they \
     ask by themselves. Firefox opens no connection before it is needed.",
    "Browsers are of the versions that are installed, years newer than those of the paper. Mobile browsers, \
     Safari, Edge, recursive resolvers and the web-based test are not repeated.",
];

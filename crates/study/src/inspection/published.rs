//! The table that the authors of "Lazy Eye Inspection" published, as it is printed.

use serde::{Deserialize, Serialize};

/// The title of the paper.
pub const TITLE: &str =
    "Lazy Eye Inspection: Capturing the State of Happy Eyeballs Implementations";
/// Who published it, and where.
pub const SOURCE: &str = "Sattler, Kirstein, Wüstrich, Zirngibl, Carle: IMC 2025, arXiv 2412.00263";
/// Where the table stands.
pub const TABLE: &str = "\"Overview of Browser Results\", https://happy-eyeballs.github.io (README.md of \
                         github.com/happy-eyeballs/happy-eyeballs.github.io, commit 1edcdc6, 6 April 2025)";
/// Where the abstract stands.
pub const ABSTRACT: &str = "the abstract (arXiv 2412.00263v3, 7 May 2025)";
/// Remarks of its authors, and about it.
pub const REMARKS: [&str; 6] = [
    "The order of AAAA and A may also be influenced by the system's stub resolver, except for browsers based on \
     Chromium, which use their own.",
    "Chromium and Chrome have a feature flag for the resolution delay, off by default.",
    "Several attempt delays of Firefox were observed; 250 ms was the dominating one.",
    "Safari uses a dynamic approach; the authors found no configuration that triggers a specific result.",
    "Wget does not perform any type of Happy Eyeballs.",
    "Figures of the text of the paper that are not in its abstract or in this table were not available, and are \
     not repeated here.",
];

/// What the paper's table has of a client, as printed; null where it has a dash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedClient {
    /// The client.
    pub client: String,
    /// Its versions.
    pub version: String,
    /// Whether it prefers IPv6.
    pub ipv6_preferred: Option<String>,
    /// The connection attempt delay (CAD), as `300ms`.
    pub attempt_delay: Option<String>,
    /// Whether it asks for AAAA before A.
    pub aaaa_first: Option<String>,
    /// Whether it has a resolution delay (RD).
    pub resolution_delay: Option<String>,
    /// The number of addresses of IPv4 that it uses.
    pub ipv4_used: Option<String>,
    /// The number of addresses of IPv6 that it uses.
    pub ipv6_used: Option<String>,
    /// Whether it selects addresses of both families in turn.
    pub interleaves: Option<String>,
    /// Whether the local and the web-based test agree.
    pub consistent: Option<String>,
}

/// The rows of the table: client, version, IPv6 preferred, CAD, AAAA first, RD implemented, IPv4 used, IPv6
/// used, address selection, consistency of local and web test.
const ROWS: [[&str; 10]; 10] = [
    ["Google Chrome", "130.0", "Yes", "300ms", "Yes", "No", "1", "1", "No", "Yes"],
    ["Chromium", "130.0", "Yes", "300ms", "Yes", "No", "1", "1", "No", "Yes"],
    ["Microsoft Edge", "130.0", "Yes", "300ms", "Yes", "No", "1", "1", "No", "Yes"],
    ["Mozilla Firefox", "132.0", "Yes", "250ms", "No", "No", "1", "1", "No", "Mostly"],
    ["Safari", "17.6", "Yes", "50ms - 2s", "Yes", "Yes", "all", "all", "Yes", "No"],
    ["Mobile Safari", "17.6 & 18.1", "Yes", "50ms - 1s", "Yes", "Yes", "-", "-", "-", "-"],
    ["Google Chrome Mobile", "127.0 & 130.0", "Yes", "300ms", "No", "No", "-", "-", "-", "-"],
    [
        "Mozilla Firefox Mobile",
        "125.0, 128.0, & 131.0",
        "Yes",
        "300ms",
        "No",
        "No",
        "-",
        "-",
        "-",
        "-",
    ],
    ["curl", "7.88.1", "Yes", "200ms", "Yes", "No", "1", "1", "No", "-"],
    ["wget", "1.21.3", "Yes", "-", "No", "No", "0", "1", "No", "-"],
];

/// Returns the rows of the table, in its order.
pub fn published_clients() -> Vec<PublishedClient> {
    ROWS.iter().map(read_row).collect()
}

fn read_row(row: &[&str; 10]) -> PublishedClient {
    let cell = |at: usize| Some(row[at]).filter(|text| *text != "-").map(str::to_owned);
    PublishedClient {
        client: row[0].to_owned(),
        version: row[1].to_owned(),
        ipv6_preferred: cell(2),
        attempt_delay: cell(3),
        aaaa_first: cell(4),
        resolution_delay: cell(5),
        ipv4_used: cell(6),
        ipv6_used: cell(7),
        interleaves: cell(8),
        consistent: cell(9),
    }
}

/// Returns a delay in milliseconds as it is printed, `300ms`; `None` if it is not a single one.
pub fn read_delay(printed: &str) -> Option<f64> {
    printed.strip_suffix("ms")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_are_no_figures_and_ranges_no_single_delay() {
        let all = published_clients();
        let of = |name: &str| all.iter().find(|of| of.client == name).unwrap();
        assert_eq!(of("wget").attempt_delay, None);
        assert_eq!(of("wget").ipv4_used.as_deref(), Some("0"));
        assert_eq!(of("Chromium").attempt_delay.as_deref().and_then(read_delay), Some(300.0));
        assert_eq!(of("Safari").attempt_delay.as_deref().and_then(read_delay), None);
        assert_eq!(of("Mobile Safari").interleaves, None);
    }
}

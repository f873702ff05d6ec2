//! Checks the search for the highest rate against simulated servers whose capacity is known, and
//! writes the result into a page between the lines `<!-- search -->` and `<!-- end search -->`:
//! `calibrate_search docs/statistics.md 200`.

mod searches;
mod servers;
#[cfg(test)]
mod tests;

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{Write as _, stderr};

use sixmark_result::find::{FindMax, FoundRate};
use sixmark_units::family::{Family, PerFamily};

use searches::search_servers;
use servers::Server;

/// The servers by their names, and how many times the capacity over IPv6 that over IPv4 is.
pub(crate) const SERVERS: [(&str, Server, &[f64]); 9] = [
    ("M/M/1, 500/s", Server::Markov(960.5), &[1.0, 1.05, 1.2]),
    ("M/D/1, 800 services/s", Server::Constant(800.0), &[1.0, 1.05, 1.2]),
    ("bucket of 500/s, depth 50, refuses", Server::Policer(500.0, 50.0), &[1.0, 1.05, 1.2]),
    ("bucket of 500/s, depth 50, delays", Server::Shaper(500.0, 50.0), &[1.0, 1.05, 1.2]),
    ("0.1 % fail at random", Server::Failing(500.0, 0.001), &[1.0, 1.05, 1.2]),
    ("1 % fail at random", Server::Failing(500.0, 0.01), &[1.0, 1.2]),
    ("capacity falls by 1 % a second", Server::Decaying(2_000.0, 0.01), &[1.0, 1.2]),
    ("pauses of 100 ms, every 20 s", Server::Pausing(800.0, 20.0), &[1.0, 1.2]),
    ("pauses of 100 ms, every 2 s", Server::Pausing(800.0, 2.0), &[1.0]),
];

/// What the searches of a server and another one showed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calibrated {
    pub(crate) searches: f64,
    /// Brackets of a family that contain its capacity, open sides included.
    pub(crate) covered: f64,
    /// Brackets with two confirmed sides, those of them that contain the capacity, and the sum of the
    /// logarithms of their widths.
    pub(crate) closed: f64,
    pub(crate) closed_covered: f64,
    widths: f64,
    /// Searches with a ratio, those whose ratio contains the true one, and those whose ratio
    /// excludes 1.
    pub(crate) ratios: f64,
    pub(crate) ratio_covered: f64,
    pub(crate) different: f64,
    trials: f64,
    seconds: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let page = env::args().nth(1).ok_or("which page? calibrate_search docs/statistics.md 200")?;
    let searches: u64 = env::args().nth(2).map_or(Ok(200), |text| text.parse())?;
    let mut table = HEAD.to_owned();
    for (name, server, apart) in SERVERS {
        for &factor in apart {
            let row = write_row(name, factor, &calibrated(server, factor, searches)?)?;
            write!(stderr(), "{row}")?;
            table += &row;
        }
    }
    let text = fs::read_to_string(&page)?;
    let (begin, end) = ("<!-- search -->\n", "<!-- end search -->");
    let missing = || format!("{page} has no place for the table 'search'");
    let (before, rest) = text.split_once(begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(end).ok_or_else(missing)?;
    let error = (5.0 * 95.0 / searches as f64).sqrt();
    let note = format!("\n{searches} searches a row: 5.0 is uncertain by {error:.1}.\n");
    fs::write(&page, format!("{before}{begin}{table}{note}{end}{after}"))?;
    Ok(())
}

const HEAD: &str = "\
| server | apart | capacity in bracket, % | confirmed, % | capacity in these, % | width, % | with ratio, % | true ratio in it, % | called different, % | trials | seconds |
|---|---|---|---|---|---|---|---|---|---|---|
";

/// Searches pairs of servers, of which that over IPv4 has `factor` times the capacity.
pub(crate) fn calibrated(
    server: Server,
    factor: f64,
    searches: u64,
) -> Result<Calibrated, Box<dyn Error>> {
    let servers = PerFamily { ipv6: server, ipv4: server.scaled(factor) };
    let start = servers.map(|server| server.capacity(0.0));
    let mut all = Calibrated::default();
    for seed in 1..=searches {
        let found = search_servers(servers, seed)?;
        // A capacity that changes is the one at the end.
        let now = |family: Family| match servers[family] {
            Server::Decaying(..) => servers[family].capacity(found.took_s.unwrap_or(0.0)),
            _ => start[family],
        };
        all.add(&found, PerFamily::from_fn(now));
    }
    Ok(all)
}

impl Calibrated {
    fn add(&mut self, found: &FindMax, capacity: PerFamily<f64>) {
        self.searches += 1.0;
        self.trials += found.trials() as f64;
        self.seconds += found.took_s.unwrap_or(0.0);
        for (family, of) in found.families.iter() {
            let covered = f64::from(u8::from(contains(of, capacity[family])));
            self.covered += covered;
            if let (true, Some(low), Some(high)) = (of.is_confirmed(), of.holds, of.fails) {
                self.closed += 1.0;
                self.closed_covered += covered;
                self.widths += (high / low).ln();
            }
        }
        if let Some([least, most]) = found.ratio {
            let ratio = capacity.ipv6 / capacity.ipv4;
            self.ratios += 1.0;
            self.ratio_covered += f64::from(u8::from(least <= ratio && ratio <= most));
            self.different += f64::from(u8::from(least > 1.0 || most < 1.0));
        }
    }

    /// Returns the share of brackets that contain the capacity.
    fn coverage(&self) -> f64 {
        self.covered / (2.0 * self.searches)
    }
}

fn contains(of: &FoundRate, capacity: f64) -> bool {
    of.holds.is_none_or(|holds| holds <= capacity) && of.fails.is_none_or(|fails| capacity <= fails)
}

fn write_row(name: &str, factor: f64, of: &Calibrated) -> Result<String, std::fmt::Error> {
    let percent = |part: f64, whole: f64| {
        if whole > 0.0 { format!("{:.1}", part / whole * 100.0) } else { "-".to_owned() }
    };
    let width = if of.closed > 0.0 {
        format!("{:.1}", ((of.widths / of.closed).exp() - 1.0) * 100.0)
    } else {
        "-".to_owned()
    };
    let mut row = String::new();
    writeln!(
        row,
        "| {name} | {:.0} % | {} | {} | {} | {width} | {} | {} | {} | {:.0} | {:.0} |",
        (factor - 1.0) * 100.0,
        percent(of.coverage(), 1.0),
        percent(of.closed, 2.0 * of.searches),
        percent(of.closed_covered, of.closed),
        percent(of.ratios, of.searches),
        percent(of.ratio_covered, of.ratios),
        percent(of.different, of.searches),
        of.trials / of.searches,
        of.seconds / of.searches,
    )?;
    Ok(row)
}

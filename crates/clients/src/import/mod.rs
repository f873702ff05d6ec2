//! Output of tools that ran elsewhere: which tool wrote it, over which family, and the figures in it.
//!
//! The output comes from machines that nobody here controls: it is untrusted, and what is not
//! understood is an error, not a zero.

mod curl_json;
mod iperf3;
mod proxy;
mod text;
mod wget_log;

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::client::ToldFigures;
use crate::client::ab::ab_figures;
use crate::client::h2load::h2load_figures;
use crate::client::read::{maybe, parse_number};
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_units::family::Family;

pub use crate::import_tool::ImportTool;
use text::{decode, one_line};

/// The most bytes of a file that is imported.
pub const LARGEST_IMPORT: u64 = 16 << 20;

/// What a file of a tool says.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// The tool that wrote it.
    pub tool: ImportTool,
    /// The line with which the tool names itself and its version, if it does.
    pub version: Option<String>,
    /// The family of its connections, if the output has an address.
    pub family: Option<Family>,
    /// The figures by the name of their [`Metric`], in its base unit; at least one.
    pub figures: BTreeMap<String, f64>,
    /// The duration of the transfers, in seconds.
    pub took_s: f64,
    /// The number of complete responses without a successful status.
    pub refused: u64,
}

/// What the parser of a tool found.
#[derive(Default)]
struct ToldTransfers {
    told: ToldFigures,
    version: Option<String>,
    families: SeenFamilies,
    took_s: f64,
    /// Whether a transfer was complete.
    complete: bool,
}

/// The families of the addresses in an output.
#[derive(Clone, Copy, Default)]
struct SeenFamilies {
    ipv6: bool,
    ipv4: bool,
}

impl SeenFamilies {
    /// Adds the family of an address, which may have brackets; a name is ignored.
    fn add(&mut self, host: &str) {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let bare = bare.split('%').next().unwrap_or_default();
        match bare.parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(IpAddr::V6(_)) => self.ipv6 = true,
            Ok(IpAddr::V4(_)) => self.ipv4 = true,
            Err(_) => {}
        }
    }

    /// Returns the family, if there is one.
    fn single(self) -> Result<Option<Family>, String> {
        match (self.ipv6, self.ipv4) {
            (true, true) => Err("has transfers over IPv6 and over IPv4: write a file for each \
                                 family"
                .to_owned()),
            (true, false) => Ok(Some(Family::Ipv6)),
            (false, true) => Ok(Some(Family::Ipv4)),
            (false, false) => Ok(None),
        }
    }
}

/// Parses the bytes of a file. `tool` wrote it; if absent, its words tell which.
///
/// # Errors
/// Returns a clause of one line, to be read after the name of the file, if it is empty or not the
/// output of a known tool, if the output has an unexpected form, if no transfer was complete, or if
/// transfers used both families.
pub fn read_output(bytes: &[u8], tool: Option<ImportTool>) -> Result<ToolOutput, String> {
    let text = decode(bytes);
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    let detected = detect_tool(&text);
    let Some(tool) = tool.or(detected) else {
        let known = ImportTool::NAMES.join(", ");
        return Err(format!("is not the output of a known tool ({known})"));
    };
    let name = tool.name();
    let found = read_tool(tool, &text).and_then(|found| check_figures(found, tool));
    found.map_err(|why| one_line(&format!("is not understood as the output of {name}: {why}")))
}

/// Returns the tool that wrote a text, as far as its words tell.
fn detect_tool(text: &str) -> Option<ImportTool> {
    if text.trim_start().starts_with('{') {
        let has = |key: &str| text.contains(&format!("\"{key}\""));
        return match () {
            () if has("time_total") || has("curl_version") => Some(ImportTool::Curl),
            () if has("start") && has("end") => Some(ImportTool::Iperf3),
            () => None,
        };
    }
    let has = |is: fn(&str) -> bool| text.lines().any(is);
    match () {
        () if wget_log::is_log(text) => Some(ImportTool::Wget),
        () if has(|line| line.starts_with("This is ApacheBench")) => Some(ImportTool::Ab),
        () if has(|line| line.starts_with("Complete requests:")) => Some(ImportTool::Ab),
        () if has(|line| line.starts_with("finished in ")) => Some(ImportTool::H2load),
        () if has(|line| line.starts_with("starting benchmark")) => Some(ImportTool::H2load),
        () => None,
    }
}

fn read_tool(tool: ImportTool, text: &str) -> Result<ToldTransfers, String> {
    match tool {
        ImportTool::Wget => wget_log::read_wget_log(text),
        ImportTool::Curl => curl_json::read_curl_json(text),
        ImportTool::Ab => read_ab_report(text),
        ImportTool::H2load => read_h2load_report(text),
        ImportTool::Iperf3 => iperf3::read_iperf3(text),
    }
}

fn read_ab_report(text: &str) -> Result<ToldTransfers, String> {
    only_one(text, "Complete requests:")?;
    if text.lines().any(|line| line.starts_with("Benchmarking ") && line.contains(" [through ")) {
        return Err(format!("it went {}", proxy::THROUGH_PROXY));
    }
    let mut families = SeenFamilies::default();
    maybe(text, "Server Hostname:").into_iter().for_each(|host| families.add(host));
    let version = maybe(text, "This is ").map(str::to_owned);
    let taken = maybe(text, "Time taken for tests:");
    let took_s = taken.map_or(Ok(0.0), parse_number)?;
    of_report(ab_figures(text)?, version, families, took_s)
}

fn read_h2load_report(text: &str) -> Result<ToldTransfers, String> {
    only_one(text, "finished in ")?;
    let told = h2load_figures(text)?;
    let took_s = figure(&told, Quantity::Elapsed);
    of_report(told, None, SeenFamilies::default(), took_s)
}

/// Fails if a report occurs more than once: a report is one repetition.
fn only_one(text: &str, label: &str) -> Result<(), String> {
    if text.lines().filter(|line| line.trim_start().starts_with(label)).count() > 1 {
        Err("has several reports: write a file for each".to_owned())
    } else {
        Ok(())
    }
}

fn of_report(
    told: ToldFigures,
    version: Option<String>,
    families: SeenFamilies,
    took_s: f64,
) -> Result<ToldTransfers, String> {
    let complete = figure(&told, Quantity::Completed) > 0.0;
    Ok(ToldTransfers { told, version, families, took_s, complete })
}

fn figure(told: &ToldFigures, quantity: Quantity) -> f64 {
    told.figures.0.get(&Metric::Quantity(quantity).to_string()).copied().unwrap_or(0.0)
}

/// Fails if no transfer was complete, or if a figure can't be one.
fn check_figures(found: ToldTransfers, tool: ImportTool) -> Result<ToolOutput, String> {
    let family = found.families.single()?;
    if !found.complete {
        return Err("it has no complete transfer".to_owned());
    }
    let figures = found.told.figures.0;
    let is_wrong = |value: f64| !value.is_finite() || value < 0.0;
    if let Some((name, value)) = figures.iter().find(|(_, value)| is_wrong(**value)) {
        return Err(format!("{name} would be {value}"));
    }
    if is_wrong(found.took_s) {
        return Err(format!("it would have taken {} s", found.took_s));
    }
    Ok(ToolOutput {
        tool,
        version: found.version.map(|line| one_line(&line)).filter(|line| !line.is_empty()),
        family,
        figures,
        took_s: found.took_s,
        refused: found.told.refused,
    })
}

#[cfg(test)]
mod tests;

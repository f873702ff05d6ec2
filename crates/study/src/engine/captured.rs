//! Captures around cells, which yield delays and throughput as seen in the packets.

use std::collections::BTreeMap;
use std::time::Duration;

use sixmark_analysis::average::average;
use sixmark_design::study_result::{CellResult, Statistic};
use sixmark_document::provenance::Warning;
use sixmark_tally::family_result::Families;
use sixmark_tally::metric::{Bounds, Metric, Quantity};
use sixmark_tally::timed_phase::TimePoint;
use sixmark_units::family::Family;
use sixmark_wire::flow::{HttpExchange, Unmeasured};

use crate::engine::cell_warnings::doubt;
use sixmark_lab::Up;
use sixmark_lab::plan::storage::server;
use sixmark_sys::command_error::CommandError;
use sixmark_watch::capture::{Capture, CaptureSettings, Captured};

/// How long to wait for connections to come to rest.
const PATIENCE: Duration = Duration::from_secs(2);

/// Starts the capture that a study asks for, of traffic to the servers of these URLs.
pub(super) fn begin_capture(
    up: &Up,
    at: &str,
    interface: &str,
    urls: &[String],
) -> Result<Capture, CommandError> {
    let (interface, ports) = (interface.to_owned(), ports_of(urls));
    Capture::start(up.hosts().get(at)?.net(), CaptureSettings { interface, ports, file: None })
}

/// Returns the ports of URLs, each once.
pub(super) fn ports_of(urls: &[String]) -> Vec<u16> {
    let port = |url: &String| server(url).ok().map(|url| url.port);
    let mut ports: Vec<u16> = urls.iter().filter_map(port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Ends a capture and adds its figures of requests for `path` to those of a cell.
pub(super) fn end_capture(
    capture: Capture,
    path: &str,
    cell: &mut CellResult,
) -> Result<(), CommandError> {
    let captured = capture.stop(PATIENCE)?;
    cell.warnings.extend(doubts_of_capture(&captured, path));
    for family in Family::BOTH {
        let Some(figures) = figures_of(&mut cell.families, family) else { continue };
        let own = captured.exchanges.iter();
        let own: Vec<&HttpExchange> =
            own.filter(|t| t.family() == family && t.path == path).collect();
        add(figures, &own);
    }
    Ok(())
}

fn figures_of(
    families: &mut Families<BTreeMap<String, f64>>,
    family: Family,
) -> Option<&mut BTreeMap<String, f64>> {
    match family {
        Family::Ipv6 => families.ipv6.as_mut(),
        Family::Ipv4 => families.ipv4.as_mut(),
    }
}

fn add(figures: &mut BTreeMap<String, f64>, exchanges: &[&HttpExchange]) {
    let mut delays: Vec<f64> =
        exchanges.iter().filter_map(|t| t.delay_ns).map(|ns| ns as f64 / 1e3).collect();
    delays.sort_by(f64::total_cmp);
    let mut put = |measure: Metric, value: f64| figures.insert(measure.to_string(), value);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let median = |values: &[f64]| {
        average(values, Statistic::Median, Bounds::NONE).map_or(f64::NAN, |median| median.value)
    };
    if let (Some(min), Some(max)) = (delays.first(), delays.last()) {
        put(Metric::Delay(TimePoint::Min), *min);
        put(Metric::Delay(TimePoint::Max), *max);
        put(Metric::Delay(TimePoint::Mean), mean(&delays));
        put(Metric::Delay(TimePoint::P50), median(&delays));
    }
    let rates: Vec<f64> =
        exchanges.iter().filter_map(|t| t.throughput_bits_per_s()).map(|bits| bits / 8.0).collect();
    if !rates.is_empty() {
        put(Metric::Quantity(Quantity::Throughput), median(&rates));
    }
    let again: u64 = exchanges.iter().map(|t| t.repeated.from_server.segments).sum();
    put(Metric::Quantity(Quantity::Retransmitted), again as f64);
}

fn doubts_of_capture(captured: &Captured, path: &str) -> Vec<Warning> {
    let mut doubts = Vec::new();
    if captured.dropped > 0 {
        let line = format!("the kernel dropped {} packets of the capture", captured.dropped);
        doubts.push(doubt("capture_drops", line));
    }
    let own = || captured.exchanges.iter().filter(|exchange| exchange.path == path);
    let mut told: Vec<Unmeasured> = Vec::new();
    for reason in own().filter_map(|exchange| exchange.unmeasured) {
        if told.contains(&reason) {
            continue;
        }
        told.push(reason);
        let line = format!("a transfer was not measured by the capture: {}", reason.words());
        doubts.push(doubt("capture_unmeasured", line));
    }
    if own().any(|exchange| exchange.coalesced > 0) {
        let line = "the capture saw segments before segmentation: turn offloads off (ethtool -K \
                    IFACE tso off gso off gro off)";
        doubts.push(doubt("capture_coalesced", line.to_owned()));
    }
    if own().next().is_none() {
        doubts.push(doubt("capture_unmeasured", format!("the capture saw no GET of {path}")));
    }
    doubts
}

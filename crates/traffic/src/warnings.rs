//! Warnings about doubtful figures of traffic.

use crate::traffic_result::{FlowResult, OfferedTraffic, TrafficResult};
use crate::{Basis, FlowProtocol};
use sixmark_document::provenance::{Ended, Warning};
use sixmark_units::quantity::{duration_us, write_count};

use sixmark_sys::command_error::CommandError;

/// The largest share of late messages, or of due bytes not sent, that needs no warning. A larger
/// share would change the rate too much.
const MANY: f64 = 0.01;

/// The code of the warning that the far side did not report.
pub const FAR_SIDE_LOST: &str = "far_side_lost";

/// Warns that it is unknown what the far side sent and received, and why.
pub(super) fn far_side_lost(error: &CommandError) -> Warning {
    doubt(FAR_SIDE_LOST, format!("{error}: figures cover this side only"))
}

fn doubt(code: &str, message: String) -> Warning {
    Warning { code: code.to_owned(), message }
}

pub(super) fn doubts_of_traffic(result: &TrafficResult) -> Vec<Warning> {
    let mut doubts = Vec::new();
    if result.ended == Ended::Interrupted {
        doubts.push(doubt("interrupted", "interrupted: figures cover the time until then".into()));
    }
    doubts.extend(late(result));
    doubts.extend(behind(result));
    doubts.extend(drops(result));
    doubts.extend(problems(result));
    doubts.extend(foreign(result));
    doubts.extend(clocks(result));
    doubts.extend(notes(result));
    doubts
}

/// Warns about messages that left late although their sockets had room.
fn late(result: &TrafficResult) -> Option<Warning> {
    let late = result.total.late?;
    let sent = result.total.sent?.messages.max(1);
    let latest = result.hosts.iter().filter_map(|host| host.latest_us).fold(0.0, f64::max);
    let message = format!(
        "{} of {} messages were sent more than 1 ms late, up to {}: the sending host is \
         overloaded, and even traffic becomes bursts",
        write_count(late),
        write_count(sent),
        duration_us(latest)
    );
    (late as f64 / sent as f64 > MANY).then(|| doubt("generator_late", message))
}

/// Warns if less was sent than was due, because streams had no room or because the sender could not
/// keep up.
fn behind(result: &TrafficResult) -> Option<Warning> {
    let short = |flow: &&FlowResult| {
        let figures = &flow.figures;
        let (offered, sent) = (figures.offered, figures.sent);
        offered
            .zip(sent)
            .is_some_and(|(o, s)| (o.bytes.saturating_sub(s.bytes) as f64) > MANY * o.bytes as f64)
    };
    let flows: Vec<&FlowResult> = result.flows.iter().filter(short).collect();
    let rate = |of: fn(&FlowResult) -> Option<f64>| -> f64 {
        flows.iter().filter_map(|flow| of(flow)).sum::<f64>() / 1e6
    };
    let offered = rate(|f| f.figures.offered.map(|a| a.bits_per_s(Basis::Payload)));
    let sent = rate(|f| f.figures.sent.map(|a| a.bits_per_s(Basis::Payload)));
    let tcp = flows.iter().all(|flow| flow.protocol == FlowProtocol::Tcp);
    let why = if tcp { "TCP's send buffer was full" } else { "the sender could not keep up" };
    let message = format!(
        "{} of {} flows sent less than requested, {sent:.2} instead of {offered:.2} Mbit/s of \
         payload: {why}",
        flows.len(),
        result.flows.len()
    );
    (!flows.is_empty()).then(|| doubt("behind", message))
}

fn drops(result: &TrafficResult) -> Option<Warning> {
    let drops: u64 = result.hosts.iter().map(|host| host.socket_drops).sum();
    let message = format!(
        "{} datagrams were lost at full socket buffers: by the receiving host, not by the network; \
         raise net.core.rmem_max there, or give sixmark a core of its own",
        write_count(drops)
    );
    (drops > 0).then(|| doubt("socket_drops", message))
}

/// Warns about flows and ports that failed. Of the flows, only the first is described.
fn problems(result: &TrafficResult) -> Vec<Warning> {
    let troubled: Vec<&FlowResult> =
        result.flows.iter().filter(|flow| flow.problem.is_some()).collect();
    let first = troubled.first().map(|flow| {
        let what = flow.problem.as_deref().unwrap_or_default();
        let (id, protocol, family) = (flow.id, flow.protocol, flow.family);
        let others = match troubled.len() {
            1 => String::new(),
            n => format!(" (and {} other flows)", n - 1),
        };
        doubt("flow_failed", format!("flow {id}, {protocol} over {family}: {what}{others}"))
    });
    let ports = result.hosts.iter().flat_map(|host| &host.problems);
    let ports = ports.map(|problem| doubt("port_failed", problem.clone()));
    first.into_iter().chain(ports).collect()
}

fn foreign(result: &TrafficResult) -> Option<Warning> {
    let foreign: u64 = result.hosts.iter().map(|host| host.foreign).sum();
    let message = format!(
        "{} datagrams or connections carried something other than messages and are not counted",
        write_count(foreign)
    );
    (foreign > 0).then(|| doubt("foreign", message))
}

fn clocks(result: &TrafficResult) -> Option<Warning> {
    let timed = result.flows.iter().any(|flow| flow.delay.is_some());
    let message = "the sides have different clocks: delays are shown only as differences, which \
                   include clock drift";
    (timed && !result.shared_clock).then(|| doubt("clocks_apart", message.into()))
}

fn notes(result: &TrafficResult) -> Option<Warning> {
    let OfferedTraffic::Script { file, notes, .. } = &result.asked else { return None };
    let said: Vec<String> =
        notes.iter().take(3).map(|note| format!("line {}: {}", note.line, note.what)).collect();
    let more = if notes.len() > said.len() { " and others" } else { "" };
    let message = format!("{file} has lines that are ignored: {}{more}", said.join("; "));
    (!notes.is_empty()).then(|| doubt("left_out", message))
}

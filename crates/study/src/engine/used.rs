//! What a cell used beside the time of its client: processor time of the service, of translators and of
//! the machine, and segments that the client's hosts received.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use sixmark_design::study_result::CellResult;
use sixmark_lab::{Host, Up};
use sixmark_result::result::RunResult;
use sixmark_sys::command_error::CommandError;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_vitals::host::CpuTimes;
use sixmark_vitals::parse::{paired, stat};

use super::stage::Stage;

/// The bytes of a MiB.
const MIB: f64 = 1_048_576.0;

/// What was used up to a moment.
pub(super) struct Used {
    at: Instant,
    /// The processor time of the service in seconds, if it runs in a lab.
    service_s: Option<f64>,
    /// The processor time of the lab's translators in seconds, if it has any.
    translators_s: Option<f64>,
    /// The times of all processors of the machine.
    machine: Option<CpuTimes>,
    /// The TCP segments that the client's hosts have received, if they are those of a lab.
    segments_in: Option<u64>,
}

impl Used {
    /// Reads what was used until now, `server` by this service.
    ///
    /// # Errors
    /// A host of the lab can't be entered.
    pub(super) fn until_now(
        stage: &Stage<'_>,
        server: Option<&str>,
        hosts: &[&Host],
    ) -> Result<Used, CommandError> {
        let segments = hosts.iter().map(|host| host.within(|| Ok(segments_in())));
        let segments = segments.collect::<Result<Vec<_>, _>>()?;
        let sum = segments.into_iter().try_fold(0_u64, |sum, of| Some(sum + of?));
        let service_s = stage.up().zip(server).and_then(|(up, server)| up.cpu_of(server));
        Ok(Used {
            at: Instant::now(),
            service_s,
            translators_s: stage.up().and_then(Up::cpu_of_translators),
            machine: machine(),
            segments_in: sum.filter(|_| !hosts.is_empty()),
        })
    }

    /// Adds what was used from `before` until this moment to the figures of a cell, if only one family
    /// was loaded.
    pub(super) fn add(&self, before: &Used, cell: &mut CellResult) {
        if cell.families.iter().count() != 1 {
            return;
        }
        // Agents are processes of their own, in other hosts.
        let by_agents = cell.agents.is_some();
        let figures = [&mut cell.families.ipv6, &mut cell.families.ipv4];
        for figures in figures.into_iter().flatten() {
            add_client(figures);
            self.add_service(before, figures);
            self.add_translators(before, figures);
            self.add_machine(before, figures);
            if !by_agents {
                self.add_segments(before, figures);
            }
        }
    }

    fn add_service(&self, before: &Used, figures: &mut BTreeMap<String, f64>) {
        let Some(seconds) = self.service_s.zip(before.service_s).map(|(now, then)| now - then)
        else {
            return;
        };
        put_server(figures, seconds, self.at.duration_since(before.at).as_secs_f64());
    }

    fn add_translators(&self, before: &Used, figures: &mut BTreeMap<String, f64>) {
        let both = self.translators_s.zip(before.translators_s);
        let Some(seconds) = both.map(|(now, then)| now - then) else { return };
        put(figures, Quantity::TranslatorCpu, seconds);
        put_per_request(figures, Quantity::TranslatorCpuPerRequest, seconds);
    }

    fn add_machine(&self, before: &Used, figures: &mut BTreeMap<String, f64>) {
        let Some((now, then)) = self.machine.as_ref().zip(before.machine.as_ref()) else { return };
        let all_us = now.all_us().saturating_sub(then.all_us()) as f64;
        let busy_us = now.busy_us().saturating_sub(then.busy_us()) as f64;
        if all_us == 0.0 {
            return;
        }
        put(figures, Quantity::MachineCpuShare, (busy_us / all_us).min(1.0));
        put_per_request(figures, Quantity::MachineCpuPerRequest, busy_us / 1e6);
        let programs = get(figures, Quantity::Cpu).zip(get(figures, Quantity::ServerCpu));
        if let Some((client_s, service_s)) = programs {
            put(figures, Quantity::ProgramsCpuShare, (client_s + service_s) * 1e6 / all_us);
        }
    }

    fn add_segments(&self, before: &Used, figures: &mut BTreeMap<String, f64>) {
        let segments = self.segments_in.zip(before.segments_in);
        let rate = get(figures, Quantity::ContentRate).zip(get(figures, Quantity::Elapsed));
        let (Some((now, then)), Some((rate, elapsed_s))) = (segments, rate) else { return };
        let mib = rate * elapsed_s / MIB;
        if mib > 0.0 {
            put(figures, Quantity::SegmentsInPerMib, now.saturating_sub(then) as f64 / mib);
        }
    }
}

/// Adds the processor time that the server's machine reports of itself: that of the processes that it
/// observes, else its own. Only if one family was loaded.
pub(super) fn add_server_elsewhere(cell: &mut CellResult, result: &RunResult) {
    let server = result.vitals.as_ref().and_then(|vitals| vitals.server.as_ref());
    let cost = server.and_then(|server| server.processes.as_ref().or(server.machine.as_ref()));
    let Some((server, cost)) = server.zip(cost).filter(|_| cell.families.iter().count() == 1)
    else {
        return;
    };
    let figures = [&mut cell.families.ipv6, &mut cell.families.ipv4];
    for figures in figures.into_iter().flatten() {
        put_server(figures, cost.cpu_s, server.covered_s);
    }
}

/// Adds the server's processor time in seconds during `took_s` seconds.
fn put_server(figures: &mut BTreeMap<String, f64>, seconds: f64, took_s: f64) {
    put(figures, Quantity::ServerCpu, seconds);
    put_per_request(figures, Quantity::ServerCpuPerRequest, seconds);
    if took_s > 0.0 {
        put(figures, Quantity::ServerCpuShare, seconds / took_s);
    }
}

/// Adds the client's processor time per complete response.
fn add_client(figures: &mut BTreeMap<String, f64>) {
    if let Some(seconds) = get(figures, Quantity::Cpu) {
        put_per_request(figures, Quantity::ClientCpuPerRequest, seconds);
    }
}

/// Adds processor time in seconds as microseconds per complete response, if there were any.
fn put_per_request(figures: &mut BTreeMap<String, f64>, quantity: Quantity, seconds: f64) {
    let completed = get(figures, Quantity::Completed);
    if let Some(completed) = completed.filter(|completed| *completed > 0.0) {
        put(figures, quantity, seconds * 1e6 / completed);
    }
}

fn get(figures: &BTreeMap<String, f64>, quantity: Quantity) -> Option<f64> {
    figures.get(&Metric::Quantity(quantity).to_string()).copied()
}

fn put(figures: &mut BTreeMap<String, f64>, quantity: Quantity, value: f64) {
    figures.insert(Metric::Quantity(quantity).to_string(), value);
}

/// Returns the times of all processors; `None` if the kernel does not tell them.
fn machine() -> Option<CpuTimes> {
    stat(&fs::read_to_string("/proc/stat").ok()?).ok().map(|machine| machine.cpu)
}

/// Returns the TCP segments that the calling thread's network namespace has received.
fn segments_in() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/snmp").ok()?;
    Some(paired(&text).get("Tcp", "InSegs").0)
}

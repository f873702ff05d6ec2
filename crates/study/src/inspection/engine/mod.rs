//! Starting each client in the networks of the study.
//!
//! The process must be in a lab's enclosure: it has no network, so that what is built here is built from
//! what is installed.

mod ready_client;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use sixmark_document::environment::environment;
use sixmark_document::provenance::{Ended, Tool};
use sixmark_eyes::client_trace::ClientTrace;
use sixmark_eyes::engine::{CaseNetwork, EyesOptions};
use sixmark_eyes::eyes_case::EyesCase;
use sixmark_eyes::eyes_result::CaseResult;
use sixmark_lab::TEMPORARY;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::enclosure::Rights;
use sixmark_units::random::Random;

use super::claims::inspection_claims;
use super::clients::{CLIENTS, INSPECTED_CASES, InspectedClient, MANY};
use super::document::{InspectionResult, PublishedInspection, SCHEMA};
use super::published::{self, published_clients};
use super::seen_client::{ClientInspection, LeftOutClient};
use super::traits::ClientTraits;
use super::{NAME, QUICK_REPETITIONS, REPETITIONS, TITLE};
use ready_client::ReadyClient;

/// How long a command has for the page.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it has where no address of IPv6 answers and only the last of IPv4 does.
const PATIENCE_OF_MANY: Duration = Duration::from_secs(5);
/// How much longer a browser has, which takes seconds to start.
const OF_BROWSERS: Duration = Duration::from_secs(8);

/// How the study is carried out.
#[derive(Clone, Copy, Debug)]
pub struct InspectionOptions<'a> {
    /// The privileges in the enclosure.
    pub rights: Rights,
    /// The short form: the clients of the paper alone, and fewer repetitions.
    pub quick: bool,
    /// The names of the clients that are started; all if it is empty.
    pub only: &'a [String],
    /// Determines the order of cases and clients.
    pub seed: u64,
    /// Ends everything when set.
    pub stop: &'a AtomicBool,
}

/// What happens in the study.
#[derive(Clone, Copy, Debug)]
pub enum InspectionEvent<'a> {
    /// A client is made ready, which may take the time of a build.
    Prepares(&'a str),
    /// A client is left out.
    LeavesOut(&'a LeftOutClient),
    /// A client is started.
    Starts {
        /// The number of the start, from 1.
        number: u32,
        /// The number of all starts.
        all: u32,
        /// The client.
        label: &'a str,
        /// What the network of the case is like.
        about: &'a str,
    },
}

/// A client with what was seen of it, by case.
struct InspectedStarts {
    client: ReadyClient,
    traces: Vec<(&'static str, Vec<ClientTrace>)>,
}

/// Returns the clients that a form of the study has.
pub fn chosen_clients(quick: bool, only: &[String]) -> Vec<&'static InspectedClient> {
    let is_meant = |client: &&InspectedClient| match only {
        [] => !quick || client.published.is_some(),
        _ => only.iter().any(|name| name == client.name),
    };
    CLIENTS.iter().filter(is_meant).collect()
}

/// Carries out the study.
///
/// # Errors
/// Returns an error if a lab can't be built, or packets can't be captured.
pub fn inspect_clients(
    options: &InspectionOptions<'_>,
    see: &mut dyn FnMut(&InspectionEvent<'_>),
) -> Result<InspectionResult, CommandError> {
    let begin = Instant::now();
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let repetitions = if options.quick { QUICK_REPETITIONS } else { REPETITIONS };
    let (mut watched, left_out) = ready_clients(options, see)?;
    let mut plan = StartPlan { options, see, begun: 0, repetitions };
    let is_whole = plan.start_all(&mut watched)?;
    let clients: Vec<ClientInspection> = watched.into_iter().map(inspected).collect();
    let claims = inspection_claims(&clients, &left_out);
    Ok(InspectionResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        name: NAME.to_owned(),
        title: TITLE.to_owned(),
        started,
        elapsed_s: begin.elapsed().as_secs_f64(),
        ended: if is_whole { Ended::Complete } else { Ended::Interrupted },
        quick: options.quick,
        seed: options.seed,
        repetitions,
        environment: environment(Vec::new()),
        published: published_inspection(),
        clients,
        left_out,
        claims,
    })
}

/// Returns the published study as a document has it.
pub fn published_inspection() -> PublishedInspection {
    PublishedInspection {
        title: published::TITLE.to_owned(),
        source: published::SOURCE.to_owned(),
        table: published::TABLE.to_owned(),
        remarks: published::REMARKS.map(str::to_owned).to_vec(),
        clients: published_clients(),
    }
}

fn inspected(of: InspectedStarts) -> ClientInspection {
    let cases: Vec<CaseResult> =
        of.traces.into_iter().map(|(case, traces)| CaseResult::of(case, traces)).collect();
    let known = of.client.client();
    ClientInspection {
        client: known.name.to_owned(),
        label: known.label.to_owned(),
        version: of.client.version().to_owned(),
        command: of.client.shown_words(),
        published_as: known.published.map(str::to_owned),
        traits: ClientTraits::of(&cases),
        cases,
    }
}

/// Makes the clients ready. Those that are not here are left out.
fn ready_clients(
    options: &InspectionOptions<'_>,
    see: &mut dyn FnMut(&InspectionEvent<'_>),
) -> Result<(Vec<InspectedStarts>, Vec<LeftOutClient>), CommandError> {
    let folder = PathBuf::from(TEMPORARY).join(NAME);
    let (mut ready, mut left_out) = (Vec::new(), Vec::new());
    for client in chosen_clients(options.quick, options.only) {
        see(&InspectionEvent::Prepares(client.label));
        match ReadyClient::prepare(client, &folder.join(client.name)) {
            Ok(client) => ready.push(InspectedStarts { client, traces: Vec::new() }),
            Err(reason) => {
                let absent = LeftOutClient {
                    client: client.name.to_owned(),
                    label: client.label.to_owned(),
                    published_as: client.published.map(str::to_owned),
                    reason,
                };
                see(&InspectionEvent::LeavesOut(&absent));
                left_out.push(absent);
            }
        }
    }
    if ready.is_empty() {
        let reasons: Vec<&str> = left_out.iter().map(|of| of.reason.as_str()).collect();
        let line = format!("no client of the study is here: {}", reasons.join("; "));
        return Err(CommandError::Measure(line));
    }
    Ok((ready, left_out))
}

/// The starts of the study.
struct StartPlan<'a, 'b> {
    options: &'a InspectionOptions<'a>,
    see: &'b mut dyn FnMut(&InspectionEvent<'_>),
    begun: u32,
    repetitions: u32,
}

impl StartPlan<'_, '_> {
    /// Starts every client in each of its cases, as often as is planned. Returns false if it was stopped.
    fn start_all(&mut self, watched: &mut [InspectedStarts]) -> Result<bool, CommandError> {
        let mut random = Random::new(self.options.seed, 0);
        let mut cases = INSPECTED_CASES;
        for _ in 0..self.repetitions {
            shuffle(&mut cases, &mut random);
            for name in cases {
                let mut order: Vec<usize> = (0..watched.len()).collect();
                order.retain(|at| watched[*at].client.client().cases.contains(&name));
                shuffle(&mut order, &mut random);
                if !order.is_empty() && !self.start_in_case(name, &order, watched)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Starts these clients one after the other in the network of a case. Returns false if it was stopped.
    fn start_in_case(
        &mut self,
        name: &'static str,
        order: &[usize],
        watched: &mut [InspectedStarts],
    ) -> Result<bool, CommandError> {
        let unknown = || CommandError::Measure(format!("there is no case {name}"));
        let case = EyesCase::named(name).ok_or_else(unknown)?;
        let all = self.repetitions
            * watched.iter().map(|of| of.client.client().cases.len() as u32).sum::<u32>();
        let Some(network) =
            CaseNetwork::build(case, &self.eyes_options(&watched[order[0]].client, PATIENCE))?
        else {
            return Ok(false);
        };
        for at in order {
            let of = &mut watched[*at];
            self.begun += 1;
            let label = of.client.client().label;
            (self.see)(&InspectionEvent::Starts {
                number: self.begun,
                all,
                label,
                about: case.about,
            });
            let patience = patience_of(of.client.client(), name);
            let seen = network.watch_start(&self.eyes_options(&of.client, patience))?;
            let Some(trace) = seen else { return Ok(false) };
            match of.traces.iter_mut().find(|(known, _)| *known == name) {
                Some((_, traces)) => traces.push(trace),
                None => of.traces.push((name, vec![trace])),
            }
        }
        Ok(true)
    }

    fn eyes_options<'c>(&self, client: &'c ReadyClient, patience: Duration) -> EyesOptions<'c>
    where
        Self: 'c,
    {
        let InspectionOptions { rights, stop, .. } = *self.options;
        let (client, program) = (client.watched(), client.program());
        EyesOptions { client, program, identity: None, patience, rights, stop }
    }
}

fn patience_of(client: &InspectedClient, case: &str) -> Duration {
    let base = if case == MANY { PATIENCE_OF_MANY } else { PATIENCE };
    if client.is_browser() { base + OF_BROWSERS } else { base }
}

fn shuffle<T>(all: &mut [T], random: &mut Random) {
    for last in (1..all.len()).rev() {
        all.swap(last, random.below(last as u64 + 1) as usize);
    }
}

/// Says that a folder or a file of a client can't be written.
fn folder_error(folder: &Path, error: &std::io::Error) -> String {
    format!("'{}' can't be written: {error}", folder.display())
}

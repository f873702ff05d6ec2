//! The messages between a controller and its agents, as JSON. docs/fleet.md describes the protocol.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Environment, RouteTaken, Warning};
use sixmark_plan::plan::wire_form::WirePlan;
use sixmark_units::family::PerFamily;
use sixmark_vitals::section::MachineRole;

use crate::allow::AllowedTargets;
use crate::names::{AgentName, LoadName};

/// Reads JSON that a peer sent. All that is read as JSON here is read as text, so that the code for
/// reading a plan or a tally is in the program once.
///
/// # Errors
/// The bytes are not UTF-8, or not JSON of this type.
pub fn read_json<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    let text = std::str::from_utf8(bytes).map_err(serde::de::Error::custom)?;
    serde_json::from_str(text)
}

/// What an agent sent, with the name under which the transport knows it: the content may claim
/// another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromAgent {
    /// The agent whose key sent it.
    pub agent: AgentName,
    /// The content.
    pub content: Vec<u8>,
}

/// The version of these messages. Agents of another version are refused.
pub const PROTOCOL: u32 = 3;

/// What a controller asks all agents.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedOfAll {
    /// Who is there? Each agent answers with its [`AgentCard`].
    Who,
    /// The controller is alive, and the load goes on. No answer.
    Alive {
        /// The controller.
        controller: String,
    },
    /// End every load now, whoever began it. No answer.
    Abort,
}

/// What an agent says about itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentCard {
    /// Its name.
    pub name: AgentName,
    /// The number of times that an agent of this name was started before, as far as its folder
    /// shows.
    pub incarnation: u64,
    /// The version of these messages that it understands.
    pub protocol: u32,
    /// The version of sixmark.
    pub version: String,
    /// The host on which it runs, as it calls itself.
    pub host: String,
    /// Its machine, without routes.
    pub environment: Environment,
    /// The load that it is generating, if any.
    pub busy: Option<LoadName>,
    /// The targets that it may load.
    pub allowed: Vec<AllowedTargets>,
    /// The loads whose records it still keeps, because no controller has confirmed them.
    pub kept: Vec<LoadName>,
}

/// What a controller asks one agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedOfAgent {
    /// What time is it there?
    Time,
    /// Could it carry out a share of this plan?
    Check(Box<WireLoad>),
    /// Get ready to carry out a share.
    Prepare(Box<ShareOrder>),
    /// How far is this load?
    State(LoadName),
    /// Begin the load at this time.
    Begin {
        /// The load.
        load: LoadName,
        /// Nanoseconds since 1970, by the agent's clock.
        at_ns: u64,
    },
    /// End the load early; what was counted is published.
    End(LoadName),
    /// Publish the records from this number on again: some did not arrive.
    Resend {
        /// The load.
        load: LoadName,
        /// The incarnation whose records are wanted.
        incarnation: u64,
        /// The number of the first record.
        from: u64,
    },
    /// What did the load cost its server, whose vitals this agent read? The load's work over all
    /// agents decides the cost of a request.
    ServerCost {
        /// The load.
        load: LoadName,
        /// What all agents asked of the server.
        work: LoadWork,
    },
    /// Publish no more records of this load, and keep them: the controller no longer waits for
    /// them.
    Withhold(LoadName),
    /// All records have arrived, or are not wanted: the agent need not keep them any longer.
    Seal(LoadName),
}

/// A plan with everything that carrying it out needs, secrets included.
#[derive(Clone, Serialize, Deserialize)]
pub struct WireLoad {
    /// The plan, complete with contents and secrets.
    pub plan: WirePlan,
    /// The files that the plan names.
    pub files: Vec<WireFile>,
}

impl fmt::Debug for WireLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CarriedLoad").finish_non_exhaustive()
    }
}

/// A file of the controller that a plan names. It may be a private key.
#[derive(Clone, Serialize, Deserialize)]
pub struct WireFile {
    /// Its name in the plan.
    pub name: String,
    /// Its content, in base64.
    pub base64: String,
}

/// A share of a load, to be carried out by one agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShareOrder {
    /// The name of the load.
    pub load: LoadName,
    /// The controller, whose [`AskedOfAll::Alive`] keeps the load going.
    pub controller: String,
    /// The load ends this long after the last sign of life of the controller, in seconds.
    pub lease_s: u64,
    /// The whole plan.
    pub what: WireLoad,
    /// The numbers of the workers that run at this agent.
    pub workers: Range<u32>,
    /// The number of agents among which the workers of the whole plan are divided.
    pub agents: u32,
    /// Whether packets are captured and compared with the agent's clock.
    pub truth: bool,
    /// The source of the server's vitals, if this agent is to read it.
    pub vitals_from: Option<String>,
}

/// The work that a whole load asked of its server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoadWork {
    /// Complete responses.
    pub requests: PerFamily<u64>,
    /// Bytes received and sent.
    pub bytes: PerFamily<u64>,
    /// The complete responses of each whole second.
    pub seconds: Vec<PerFamily<u64>>,
    /// The length of the load, in seconds.
    pub elapsed_s: f64,
}

/// What an agent answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentAnswer {
    /// It was done.
    Done,
    /// It can't be done or is not allowed, for this reason.
    Refused(String),
    /// The time there, in nanoseconds since 1970.
    Time(u64),
    /// The plan can be carried out.
    Checked {
        /// The routes to the targets.
        routes: Vec<RouteTaken>,
        /// Warnings about the plan.
        doubts: Vec<Warning>,
    },
    /// How far a load is.
    State(ShareState),
    /// What the load cost its server, with warnings; `None` if it is not known.
    ServerCost(Option<Box<(MachineRole, Vec<Warning>)>>),
    /// It is too late to begin, by this many nanoseconds.
    Late(u64),
}

/// How far an agent's share of a load is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareState {
    /// The agent does not know the load.
    Unknown,
    /// Workers start and connections are opened.
    Preparing,
    /// All workers are ready to begin.
    Ready,
    /// The time to begin is known, or past.
    Begun,
    /// All records have been written, and are being published.
    Publishing {
        /// Why the last attempt failed; `None` if it did not, or there was none yet.
        refused: Option<String>,
    },
    /// All records that there are have been published.
    Published,
    /// The share could not be carried out, for this reason.
    Failed(String),
}

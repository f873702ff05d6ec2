//! MGEN scripts: which flows are sent and which ports are open, and when.
//!
//! Settings that do not affect the traffic are ignored, with a note. Anything else that is not
//! supported is an error.

mod events;
mod line;
mod pattern;
mod write;

pub use write::write_script;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::{Flow, FlowProtocol};
use events::{Event, ScriptEventKind};

/// The largest number of lines. More are taken to be a mistake.
const MOST_LINES: usize = 1_000_000;

/// A parsed script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The flows to send.
    pub flows: Vec<Outgoing>,
    /// The ports to listen on.
    pub listening: Vec<Listening>,
    /// Notes about ignored settings, in the order of the lines.
    pub notes: Vec<Note>,
}

/// A flow to send, with its destination and socket settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The flow.
    pub flow: Flow,
    /// The destination.
    pub to: SocketAddr,
    /// The source port. If absent or 0, the kernel chooses one.
    pub port: Option<u16>,
    /// The hop limit (TTL) of its packets; the system's default if absent.
    pub hops: Option<u8>,
    /// The traffic class (type of service); the system's default if absent.
    pub class: Option<u8>,
    /// The size of the socket's send buffer, in bytes; the system's default if absent.
    pub buffer: Option<u32>,
    /// The sequence number of its first message.
    pub sequence: u32,
}

/// A port to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listening {
    /// The transport protocol.
    pub protocol: FlowProtocol,
    /// The port, 1 or more.
    pub port: u16,
    /// The time at which it opens, in nanoseconds from the start.
    pub from_ns: u64,
    /// The time at which it closes, in nanoseconds from the start. If absent, it closes with the
    /// end of all traffic.
    pub until_ns: Option<u64>,
}

/// A setting in a script that is ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// The line number, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub line: usize,
    /// What is ignored, and why.
    pub what: String,
}

/// An error in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptMistake {
    /// The line number, from 1.
    pub line: usize,
    /// The error message, in one line.
    pub what: String,
}

impl fmt::Display for ScriptMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// The global settings, used by flows that do not set their own.
#[derive(Clone, Copy, Debug, Default)]
struct Defaults {
    hops: Option<u8>,
    class: Option<u8>,
    buffer: Option<u32>,
}

impl Script {
    /// Returns the time of the last event in nanoseconds, or `None` if a flow or a port stays on
    /// forever.
    pub fn end_ns(&self) -> Option<u64> {
        let flows = self.flows.iter().map(|one| one.flow.stop_ns);
        let ports = self.listening.iter().map(|one| one.until_ns);
        flows.chain(ports).try_fold(0, |latest, end| end.map(|end| latest.max(end)))
    }
}

/// Parses a script.
///
/// # Errors
/// Returns the first error found.
pub fn parse_script(text: &str) -> Result<Script, ScriptMistake> {
    let mut script = Script::default();
    let mut defaults = Defaults::default();
    let mut events: Vec<Event> = Vec::new();
    for (line, words) in line::split_lines(text, MOST_LINES)? {
        let wrong = |what| ScriptMistake { line, what };
        match events::read_event(&words).map_err(wrong)? {
            events::ScriptLine::Event(at_ns, kind) => events.push(Event { line, at_ns, kind }),
            events::ScriptLine::Hops(hops) => defaults.hops = Some(hops),
            events::ScriptLine::Class(class) => defaults.class = Some(class),
            events::ScriptLine::Buffer(bytes) => defaults.buffer = Some(bytes),
            events::ScriptLine::Nothing(what) => script.notes.push(Note { line, what }),
        }
    }
    // As in MGEN: by time; events at the same time keep the order of their lines.
    events.sort_by_key(|event| event.at_ns);
    let mut builder =
        ScriptBuilder { defaults, on: BTreeMap::new(), open: BTreeMap::new(), script };
    for event in events {
        let line = event.line;
        builder.take(event).map_err(|what| ScriptMistake { line, what })?;
    }
    Ok(builder.script)
}

/// The state while the events are processed in order.
struct ScriptBuilder {
    defaults: Defaults,
    /// The flows that are on, with their indices in the script's flows.
    on: BTreeMap<u32, usize>,
    /// The ports that are open, with their indices in the script's ports.
    open: BTreeMap<(FlowProtocol, u16), usize>,
    script: Script,
}

impl ScriptBuilder {
    fn take(&mut self, Event { at_ns, kind, .. }: Event) -> Result<(), String> {
        match kind {
            ScriptEventKind::On(mut new) => {
                let id = new.flow.id;
                if self.on.contains_key(&id) {
                    return Err(format!("flow {id} is already on; turn it OFF first"));
                }
                events::check_size(&new.flow, new.flow.largest())?;
                new.hops = new.hops.or(self.defaults.hops);
                new.class = new.class.or(self.defaults.class);
                new.buffer = new.buffer.or(self.defaults.buffer);
                self.on.insert(id, self.script.flows.len());
                self.script.flows.push(*new);
            }
            ScriptEventKind::Modify(id, phase) => {
                let one = self.flow(id)?;
                events::check_size(&one.flow, phase.bytes)?;
                one.flow.phases.push(phase);
            }
            ScriptEventKind::Off(id) => {
                self.flow(id)?.flow.stop_ns = Some(at_ns);
                self.on.remove(&id);
            }
            ScriptEventKind::Listen(protocol, ports) => {
                for port in ports {
                    self.listen(protocol, port, at_ns)?;
                }
            }
            ScriptEventKind::Ignore(protocol, ports) => {
                for port in ports {
                    let at = self.open.remove(&(protocol, port)).ok_or_else(|| {
                        format!("{protocol} port {port} is not open, so IGNORE can't close it")
                    })?;
                    self.script.listening[at].until_ns = Some(at_ns);
                }
            }
        }
        Ok(())
    }

    fn flow(&mut self, id: u32) -> Result<&mut Outgoing, String> {
        let at = self.on.get(&id).ok_or_else(|| format!("flow {id} is not on at this time"))?;
        Ok(&mut self.script.flows[*at])
    }

    fn listen(&mut self, protocol: FlowProtocol, port: u16, from_ns: u64) -> Result<(), String> {
        let at = self.script.listening.len();
        if self.open.insert((protocol, port), at).is_some() {
            return Err(format!("{protocol} port {port} is already open"));
        }
        self.script.listening.push(Listening { protocol, port, from_ns, until_ns: None });
        Ok(())
    }
}

#[cfg(test)]
mod tests;

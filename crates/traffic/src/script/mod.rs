//! MGEN's scripts: what is sent and listened for, and when.
//!
//! What of a script has no bearing on the traffic is left out and said so; what has one and is not
//! known here is refused.

mod events;
mod line;
mod pattern;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::{Flow, FlowProtocol};
use events::{Event, ScriptEventKind};

/// More lines than this are no script that somebody meant.
const MOST_LINES: usize = 1_000_000;

/// What a script asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// What is sent.
    pub flows: Vec<Outgoing>,
    /// What is listened for.
    pub listening: Vec<Listening>,
    /// What of it is left out, line by line.
    pub notes: Vec<Note>,
}

/// A flow with where it goes and what its socket is set to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outgoing {
    /// What is sent, and when.
    pub flow: Flow,
    /// Where to.
    pub to: SocketAddr,
    /// The port that it comes from; absent or 0 where any will do.
    pub port: Option<u16>,
    /// How many routers its packets may pass; absent where the system's default counts.
    pub hops: Option<u8>,
    /// The traffic class, or type of service.
    pub class: Option<u8>,
    /// The socket's buffer for what is sent, bytes.
    pub buffer: Option<u32>,
    /// The number of its first message.
    pub sequence: u32,
}

/// A port that is listened on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listening {
    /// What comes in.
    pub protocol: FlowProtocol,
    /// The port, 1 or more.
    pub port: u16,
    /// From when on, nanoseconds from the beginning.
    pub from_ns: u64,
    /// Until when; absent where only the end of everything ends it.
    pub until_ns: Option<u64>,
}

/// Something in a line that changes nothing here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// The line, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub line: usize,
    /// What it is.
    pub what: String,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptMistake {
    /// The line, from 1.
    pub line: usize,
    /// What it is, in one line.
    pub what: String,
}

impl fmt::Display for ScriptMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// Where a global setting holds for all flows that say nothing else.
#[derive(Clone, Copy, Debug, Default)]
struct Defaults {
    hops: Option<u8>,
    class: Option<u8>,
    buffer: Option<u32>,
}

impl Script {
    /// When the last thing that it says happens, nanoseconds; none where a flow or a port has no end.
    pub fn end_ns(&self) -> Option<u64> {
        let flows = self.flows.iter().map(|one| one.flow.stop_ns);
        let ports = self.listening.iter().map(|one| one.until_ns);
        flows.chain(ports).try_fold(0, |latest, end| end.map(|end| latest.max(end)))
    }
}

/// Reads a script.
///
/// # Errors
/// What is wrong with its first line that is.
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
    // As MGEN does: by time, in the order of the lines at the same time.
    events.sort_by_key(|event| event.at_ns);
    let mut course = Course { defaults, on: BTreeMap::new(), open: BTreeMap::new(), script };
    for event in events {
        let line = event.line;
        course.take(event).map_err(|what| ScriptMistake { line, what })?;
    }
    Ok(course.script)
}

/// What is on while the events are gone through.
struct Course {
    defaults: Defaults,
    /// Flows that are on: where they are in the script.
    on: BTreeMap<u32, usize>,
    /// Ports that are open.
    open: BTreeMap<(FlowProtocol, u16), usize>,
    script: Script,
}

impl Course {
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

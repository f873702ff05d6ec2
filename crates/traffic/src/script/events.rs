//! Parses a line of a script.

use std::net::{IpAddr, SocketAddr};

use super::super::flow::largest;
use super::super::{Flow, FlowPhase, FlowProtocol, TrafficSide, least};
use super::Outgoing;
use super::line::{Words, shown_word};
use super::pattern::pattern;
use sixmark_units::family::Family;

/// The largest number of ports in one line.
const MOST_PORTS: usize = 4_096;

/// MGEN settings that do not affect the traffic, with the number of words that follow each.
const HARMLESS: [(&str, usize); 17] = [
    ("BINARY", 0),
    ("BOOST", 0),
    ("DEBUG", 1),
    ("EPOCHTIMESTAMP", 0),
    ("FLUSH", 0),
    ("HOSTADDR", 1),
    ("INSTANCE", 1),
    ("LOCALTIME", 0),
    ("LOG", 1),
    ("LOGDATA", 1),
    ("LOGGPSDATA", 1),
    ("NOLOG", 0),
    ("OUTPUT", 1),
    ("PRECISE", 1),
    ("REUSE", 1),
    ("SAVE", 1),
    ("TXLOG", 0),
];

/// An event, with its line number and its time in nanoseconds from the start.
pub(super) struct Event {
    pub(super) line: usize,
    pub(super) at_ns: u64,
    pub(super) kind: ScriptEventKind,
}

/// The kinds of events.
pub(super) enum ScriptEventKind {
    On(Box<Outgoing>),
    Modify(u32, FlowPhase),
    Off(u32),
    Listen(FlowProtocol, Vec<u16>),
    Ignore(FlowProtocol, Vec<u16>),
}

/// The meaning of a line.
pub(super) enum ScriptLine {
    Event(u64, ScriptEventKind),
    Hops(u8),
    Class(u8),
    Buffer(u32),
    /// A setting that has no effect, with a note that says so.
    Nothing(String),
}

/// Parses the words of a line.
pub(super) fn read_event(words: &[String]) -> Result<ScriptLine, String> {
    let mut words = Words::new(words);
    let mut ahead = words.clone();
    let first = ahead.word("an event")?;
    let said = if first.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let at_ns = words.seconds("a time in seconds")?;
        ScriptLine::Event(at_ns, event(at_ns, &mut words)?)
    } else {
        words = ahead;
        setting(first, &mut words)?
    };
    match words.next() {
        None => Ok(said),
        Some(word) => Err(format!("'{}' is not supported here", shown_word(word))),
    }
}

fn setting(name: &str, words: &mut Words<'_>) -> Result<ScriptLine, String> {
    let upper = name.to_ascii_uppercase();
    let byte = |words: &mut Words<'_>, what| words.whole(what, 255).map(|value| value as u8);
    match &*upper {
        "TTL" => byte(words, "a number of hops").map(ScriptLine::Hops),
        "TOS" => byte(words, "a type of service").map(ScriptLine::Class),
        "TXBUFFER" => buffer(words).map(ScriptLine::Buffer),
        // Receive buffers are always as large as the system allows, so the value is not used. The
        // note reports this.
        "RXBUFFER" => buffer(words).map(|_| {
            ScriptLine::Nothing(
                "RXBUFFER: buffers always have the largest size that the system \
                 allows"
                    .into(),
            )
        }),
        _ => {
            let known = HARMLESS.iter().find(|(harmless, _)| *harmless == upper);
            let Some((_, follow)) = known else {
                return Err(format!("'{}' is not supported", shown_word(name)));
            };
            for _ in 0..*follow {
                words.word("a value")?;
            }
            Ok(ScriptLine::Nothing(format!("{upper} has no effect on the traffic")))
        }
    }
}

fn buffer(words: &mut Words<'_>) -> Result<u32, String> {
    words.whole("a buffer's size in bytes", i32::MAX as u64).map(|bytes| bytes as u32)
}

fn event(at_ns: u64, words: &mut Words<'_>) -> Result<ScriptEventKind, String> {
    let name = words.word("an event")?;
    match &*name.to_ascii_uppercase() {
        "ON" => on(at_ns, words).map(|new| ScriptEventKind::On(Box::new(new))),
        "MOD" => {
            let id = read_number(words)?;
            let (pattern, bytes) = pattern(words.word("a pattern")?, words)?;
            Ok(ScriptEventKind::Modify(id, FlowPhase { from_ns: at_ns, pattern, bytes }))
        }
        "OFF" => read_number(words).map(ScriptEventKind::Off),
        "LISTEN" => Ok(ScriptEventKind::Listen(protocol(words)?, ports(words)?)),
        "IGNORE" => Ok(ScriptEventKind::Ignore(protocol(words)?, ports(words)?)),
        other => {
            let other = shown_word(other);
            Err(format!("the event {other} is not supported: ON, MOD, OFF, LISTEN, IGNORE"))
        }
    }
}

fn on(at_ns: u64, words: &mut Words<'_>) -> Result<Outgoing, String> {
    let id = read_number(words)?;
    let protocol = protocol(words)?;
    let mut port = None;
    let mut to = None;
    let mut what = None;
    let (mut hops, mut class, mut buffer_size, mut count, mut sequence) =
        (None, None, None, None, 0);
    while let Some(word) = words.next() {
        match &*word.to_ascii_uppercase() {
            "SRC" => port = Some(words.whole("a port", 65_535)? as u16),
            "DST" => to = Some(destination(words.word("an address and a port")?)?),
            "TTL" => hops = Some(words.whole("a number of hops", 255)? as u8),
            "TOS" => class = Some(words.whole("a type of service", 255)? as u8),
            "TXBUFFER" => buffer_size = Some(buffer(words)?),
            "COUNT" => count = Some(words.whole("a number of messages", u32::MAX.into())?),
            "SEQUENCE" => sequence = words.whole("a sequence number", u32::MAX.into())? as u32,
            "PERIODIC" | "POISSON" | "BURST" | "JITTER" | "CLONE" if what.is_none() => {
                what = Some(pattern(word, words)?);
            }
            _ => return Err(format!("'{}' is not supported in ON", shown_word(word))),
        }
    }
    let to = to.ok_or("ON needs a destination, DST ADDRESS/PORT")?;
    let (pattern, bytes) = what.ok_or("ON needs a pattern, as in PERIODIC [10 1024]")?;
    let family = Family::of(to.ip());
    let phases = vec![FlowPhase { from_ns: at_ns, pattern, bytes }];
    let from = TrafficSide::Near;
    let flow = Flow { id, family, protocol, from, phases, stop_ns: None, count };
    Ok(Outgoing { flow, to, port, hops, class, buffer: buffer_size, sequence })
}

fn read_number(words: &mut Words<'_>) -> Result<u32, String> {
    words.whole("a flow's number", u32::MAX.into()).map(|id| id as u32)
}

fn protocol(words: &mut Words<'_>) -> Result<FlowProtocol, String> {
    let name = words.word("UDP or TCP")?;
    let named = |p: &FlowProtocol| p.to_string().eq_ignore_ascii_case(name);
    let found = FlowProtocol::BOTH.into_iter().find(named);
    found.ok_or_else(|| format!("the protocol '{}' is not supported: UDP, TCP", shown_word(name)))
}

/// Parses a destination of the form `ADDRESS/PORT`.
fn destination(text: &str) -> Result<SocketAddr, String> {
    let wrong = || {
        let text = shown_word(text);
        format!("'{text}' is not an address and a port, as in 192.0.2.1/5000 or 2001:db8::1/5000")
    };
    let (address, port) = text.rsplit_once('/').ok_or_else(wrong)?;
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    if address.is_multicast() {
        return Err(format!("'{}': multicast is not supported", shown_word(text)));
    }
    if port == 0 {
        return Err(wrong());
    }
    Ok(SocketAddr::new(address, port))
}

/// Parses a comma-separated list of ports and ranges, such as `5000,5002-5003`.
fn ports(words: &mut Words<'_>) -> Result<Vec<u16>, String> {
    let text = words.word("ports")?;
    let wrong = |part: &str| format!("'{}' is not a port or a range of ports", shown_word(part));
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let port =
            |text: &str| text.parse::<u16>().ok().filter(|&p| p > 0).ok_or_else(|| wrong(part));
        let (first, last) = (port(first)?, port(last)?);
        if first > last {
            return Err(wrong(part));
        }
        all.extend(first..=last);
        if all.len() > MOST_PORTS {
            return Err(format!("more than {MOST_PORTS} ports in a line"));
        }
    }
    Ok(all)
}

/// Checks the size of a flow's messages. The limits depend on protocol and family, so this is
/// possible only once the destination is known.
pub(super) fn check_size(flow: &Flow, bytes: u32) -> Result<(), String> {
    let most = largest(flow.family, flow.protocol);
    if bytes > most {
        Err(format!("a message of {bytes} bytes is too large for a datagram: at most {most}"))
    } else {
        at_least(flow, bytes)
    }
}

fn at_least(flow: &Flow, bytes: u32) -> Result<(), String> {
    let (family, least) = (flow.family, least(flow.family));
    if bytes < least {
        Err(format!(
            "a message of {bytes} bytes has no room for its header: at least {least} over {family}"
        ))
    } else {
        Ok(())
    }
}

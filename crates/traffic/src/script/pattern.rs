//! The patterns of a script: `PERIODIC [RATE SIZE]`, `POISSON [RATE SIZE]` and `BURST
//! [REGULAR|RANDOM EVERY PATTERN FIXED|EXPONENTIAL LENGTH]`.

use super::super::{Burst, Gap, LARGEST, Length, Pattern, Steady};
use super::line::{Words, shown_word};

/// Parses the rest of a pattern after its name. Also returns the size of its messages.
pub(super) fn pattern(name: &str, words: &mut Words<'_>) -> Result<(Pattern, u32), String> {
    let upper = name.to_ascii_uppercase();
    if upper != "BURST" {
        return steady(name, words).map(|(steady, bytes)| (Pattern::Steady(steady), bytes));
    }
    words.exactly("[")?;
    let kind = words.word("REGULAR or RANDOM")?;
    let every = match &*kind.to_ascii_uppercase() {
        "REGULAR" => Gap::Regular,
        "RANDOM" => Gap::Random,
        _ => return Err(format!("'{}' should be REGULAR or RANDOM", shown_word(kind))),
    };
    let every_ns = words.seconds("the time between bursts in seconds")?;
    let inner = words.word("the pattern within bursts")?;
    let (within, bytes) = steady(inner, words)?;
    let kind = words.word("FIXED or EXPONENTIAL")?;
    let length = match &*kind.to_ascii_uppercase() {
        "FIXED" => Length::Fixed,
        "EXP" | "EXPONENTIAL" => Length::Exponential,
        _ => return Err(format!("'{}' should be FIXED or EXPONENTIAL", shown_word(kind))),
    };
    let length_ns = words.seconds("the length of a burst in seconds")?;
    words.exactly("]")?;
    if every_ns == 0 || length_ns == 0 {
        return Err("bursts have a length and a time between them above 0".into());
    }
    let burst = Burst { within, every, every_ns, length, length_ns, carry: false };
    if burst.has_messages() {
        Ok((Pattern::Burst(burst), bytes))
    } else {
        Err("bursts are too short for their rate: most have no message".into())
    }
}

fn steady(name: &str, words: &mut Words<'_>) -> Result<(Steady, u32), String> {
    let gap = match &*name.to_ascii_uppercase() {
        "PERIODIC" => Gap::Regular,
        "POISSON" => Gap::Random,
        _ => {
            let name = shown_word(name);
            return Err(format!("the pattern '{name}' is not supported: PERIODIC, POISSON, BURST"));
        }
    };
    words.exactly("[")?;
    if words.clone().next().is_some_and(|rate| rate.starts_with('-')) {
        return Err("a negative rate (as fast as possible) is not supported".into());
    }
    let per_s = words.number("messages per second")?;
    let bytes = words.whole("the size of a message in bytes", LARGEST.into())? as u32;
    words.exactly("]")?;
    Ok((Steady { per_s, gap, offset: 0.0 }, bytes))
}

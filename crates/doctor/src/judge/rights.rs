//! Capabilities of the process.

use crate::facts::Facts;
use crate::finding::{CheckState, Finding};

use super::{
    Capability, NET_ADMIN, NET_BIND_SERVICE, NET_RAW, SYS_ADMIN, SYS_NICE, SYS_RESOURCE, listed,
};

/// The capabilities that sixmark uses, and what for.
const USED: [(Capability, &str); 6] = [
    (NET_RAW, "`watch` on interfaces, `run --truth`"),
    (NET_ADMIN, "`origin --tap`, larger receive buffers of `traffic --listen`"),
    (SYS_ADMIN, "labs without a user namespace, in which services have accounts of their own"),
    (SYS_NICE, "links of labs that are on time beside other work"),
    (SYS_RESOURCE, "raising the hard limit on open files"),
    (NET_BIND_SERVICE, "`origin` on ports below 1024"),
];

/// The capabilities that the command gives: those of commands that would not work otherwise.
const GIVEN: [Capability; 2] = [NET_RAW, NET_BIND_SERVICE];

/// Judges the capabilities.
pub(super) fn judge_capabilities(facts: &Facts) -> Finding {
    const NAME: &str = "capabilities";
    if let Err(why) = &facts.host.capabilities {
        return Finding::unknown(NAME, why, "What this process may do is not known.");
    }
    let shown = |of: Capability| format!("CAP_{}", of.name.to_uppercase());
    let (has, lacks): (Vec<_>, Vec<_>) = USED.iter().partition(|(of, _)| facts.host.has(*of));
    let names = |all: &[&(Capability, &str)]| {
        let names: Vec<String> = all.iter().map(|(of, _)| shown(*of)).collect();
        listed(&names.iter().map(String::as_str).collect::<Vec<_>>())
    };
    if lacks.is_empty() {
        let means = "No command lacks a right.";
        return Finding::new(NAME, CheckState::Ok, names(&has), means);
    }
    let found = if has.is_empty() {
        "none of those that sixmark uses".to_owned()
    } else {
        format!("{}; not {}", names(&has), names(&lacks))
    };
    let uses: Vec<String> =
        lacks.iter().map(|(of, why)| format!("{} is for {why}", shown(*of))).collect();
    let missing: Vec<Capability> = GIVEN.into_iter().filter(|of| !facts.host.has(*of)).collect();
    let mend = (!missing.is_empty()).then(|| facts.host.grant(&missing));
    let finding = Finding::new(NAME, CheckState::Limited, found, format!("{}.", uses.join("; ")));
    finding.mended(mend)
}

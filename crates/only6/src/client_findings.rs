//! What the starts of a client show, by scenario and over all of them.
//!
//! The same rules judge a proxy as the client of its backend.

use std::net::IpAddr;

use sixmark_units::family::Family;

use crate::app_scenario::{AppScenario, NodeAccess, ScenarioTwist};
use crate::app_start::ProgramEnd;
use crate::app_wire::{AppWire, WireAttempt};

/// A connection over the other family after more than this is late, in milliseconds.
const LATE_MS: f64 = 2_000.0;

/// What a client did once: a start of it, or the part of a proxy's start in which it fetched from its backend.
#[derive(Clone, Copy, Debug)]
pub struct AppClientStart<'a> {
    /// The scenario.
    pub scenario: &'static AppScenario,
    /// What the client's host has.
    pub access: NodeAccess,
    /// The name of the other side.
    pub name: &'a str,
    /// The other side's address in the URL; `None` if the URL has its name.
    pub literal: Option<IpAddr>,
    /// What was seen on the wire.
    pub wire: &'a AppWire,
    /// How it ended; `None` of a proxy.
    pub end: Option<&'a ProgramEnd>,
    /// True if it did what was asked of it.
    pub has_worked: bool,
    /// True if packets are missing.
    pub is_incomplete: bool,
}

/// A finding of one start, with its evidence.
pub type StartFinding = (&'static str, String);

impl AppClientStart<'_> {
    fn has_ipv6(&self) -> bool {
        self.access.has_stack(Family::Ipv6)
    }

    /// Returns the attempts to addresses that were neither in the URL nor learned from DNS.
    fn unlearned(&self) -> impl Iterator<Item = &WireAttempt> {
        self.wire
            .attempts
            .iter()
            .filter(|of| !self.wire.has_learned(of.address) && self.literal != Some(of.address))
    }

    fn asked(&self, kind: &str) -> bool {
        self.wire.queries.iter().any(|of| of.kind == kind && of.name == self.name)
    }

    fn learned(&self, family: Family) -> Vec<IpAddr> {
        let all = self.wire.learned().into_iter();
        all.filter(|of| Family::of(*of) == family && self.access.has_stack(family)).collect()
    }

    /// Returns what the start shows by itself.
    pub fn findings(&self) -> Vec<StartFinding> {
        let rules = [
            self.find_literal(),
            self.find_missing_query(),
            self.find_rejected_literal(),
            self.find_bad_host(),
            self.find_order(),
            self.find_late(),
        ];
        let mut found: Vec<StartFinding> = rules.into_iter().flatten().collect();
        if !self.has_worked && found.iter().all(|of| is_note(of.0)) {
            // Later rules explain failures that these did not. Nothing is said of what was not seen.
            let why = self.find_unused().or_else(|| self.find_stop_at_first());
            found.extend(why.filter(|_| !self.is_incomplete));
        }
        found
    }

    fn find_literal(&self) -> Option<StartFinding> {
        let of = self.unlearned().find(|of| of.family == Family::Ipv4 && !self.is_incomplete)?;
        Some(("ipv4-literal", format!("connects to {} port {}", of.address, of.port)))
    }

    fn find_missing_query(&self) -> Option<StartFinding> {
        let is_found = self.has_ipv6() && self.asked("A") && !self.asked("AAAA");
        (is_found && !self.is_incomplete)
            .then(|| ("asks-a-only", format!("asks for A of {}, not for AAAA", self.name)))
    }

    fn find_rejected_literal(&self) -> Option<StartFinding> {
        let literal = self.literal?;
        let is_tried = self.wire.attempts.iter().any(|of| of.address == literal);
        if is_tried || self.has_worked || self.is_incomplete {
            return None;
        }
        let asked = self.wire.queries.first();
        let said = match (asked, self.end) {
            (Some(query), _) => {
                format!("asks DNS for {}, does not connect to {literal}", query.name)
            }
            (None, Some(end)) => format!("sends nothing to {literal}; {}", end.words()),
            (None, None) => format!("sends nothing to {literal}"),
        };
        Some(("rejects-ipv6-literal", said))
    }

    fn find_bad_host(&self) -> Option<StartFinding> {
        let bad = |of: &WireAttempt| {
            let host = of.host.clone()?;
            let is_bare = !host.starts_with('[') && host.matches(':').count() >= 2;
            is_bare.then_some(host)
        };
        let host = self.wire.attempts.iter().find_map(bad)?;
        Some(("host-without-brackets", format!("sends 'Host: {host}'")))
    }

    /// The order of families is judged where both work at once.
    fn find_order(&self) -> Option<StartFinding> {
        let is_plain = self.scenario.twist == ScenarioTwist::Plain;
        let knows_both = Family::BOTH.iter().all(|of| !self.learned(*of).is_empty());
        let is_ipv4 = self.wire.attempts.first().is_some_and(|of| of.family == Family::Ipv4);
        let is_literal = self.unlearned().next().is_some();
        (is_plain && knows_both && is_ipv4 && !is_literal).then(|| {
            let first = self.wire.attempts[0].address;
            let known = self.learned(Family::Ipv6)[0];
            ("prefers-ipv4", format!("connects to {first} first, knows {known}"))
        })
    }

    /// The time from the first attempt at the address that does not answer until a connection over IPv4.
    fn find_late(&self) -> Option<StartFinding> {
        if !matches!(self.scenario.twist, ScenarioTwist::SilentIpv6 | ScenarioTwist::RefusedIpv6) {
            return None;
        }
        let attempts = || self.wire.attempts.iter();
        let begun = attempts().find(|of| of.family == Family::Ipv6)?.begun_ms;
        let over_ipv4 = attempts().filter(|of| of.family == Family::Ipv4);
        let connected = over_ipv4.filter_map(|of| of.established_ms).min_by(f64::total_cmp)?;
        let late = connected - begun;
        (late > LATE_MS).then(|| {
            let said = format!("connects over IPv4 {:.1} s after its first attempt", late / 1e3);
            ("slow-fallback", said)
        })
    }

    fn find_unused(&self) -> Option<StartFinding> {
        let known = *self.learned(Family::Ipv6).first()?;
        let is_needed =
            self.scenario.has_way(Family::Ipv6) || self.name != crate::scenario_lab::SITE;
        let has_other = self.wire.attempts.iter().any(|of| of.content_ms.is_some());
        (is_needed && !has_other && !self.wire.has_tried(Family::Ipv6)).then(|| {
            ("aaaa-unused", format!("knows {known}, does not connect to it{}", self.end_words()))
        })
    }

    fn find_stop_at_first(&self) -> Option<StartFinding> {
        let mut tried: Vec<IpAddr> = self.wire.attempts.iter().map(|of| of.address).collect();
        tried.dedup();
        let known = Family::BOTH.map(|of| self.learned(of).len()).iter().sum::<usize>();
        let [only] = tried[..] else { return None };
        let is_dead = self.wire.attempts.iter().all(|of| of.established_ms.is_none());
        if known < 2 || !is_dead {
            return None;
        }
        let outcome = self.wire.attempts.first().map_or("", WireAttempt::outcome);
        let is_cut_off = self.end.is_some_and(ProgramEnd::is_cut_off);
        let code = if is_cut_off { "no-fallback" } else { "first-address-only" };
        Some((
            code,
            format!("tries {only} alone of {known} addresses: {outcome}{}", self.end_words()),
        ))
    }

    fn end_words(&self) -> String {
        self.end.map(|end| format!("; {}", end.words())).unwrap_or_default()
    }

    /// Returns the general finding of a start that no rule explains.
    pub fn unexplained(&self) -> StartFinding {
        let end = self.end.map(ProgramEnd::words).unwrap_or_default();
        let connected = self.wire.attempts.iter().find(|of| of.established_ms.is_some());
        match (self.wire.content_ms(), connected) {
            (Some(_), _) => ("fails-with-content", end),
            (None, Some(of)) => ("fails-connected", format!("connects to {}; {end}", of.address)),
            (None, None) => match self.wire.attempts.first() {
                Some(of) => {
                    ("fails-unconnected", format!("{}: {}; {end}", of.address, of.outcome()))
                }
                None => ("fails-unconnected", end),
            },
        }
    }
}

/// Returns true if a finding of this code does not explain a failure.
fn is_note(code: &str) -> bool {
    matches!(code, "slow-fallback" | "prefers-ipv4")
}

#[cfg(test)]
mod tests;

//! What the starts of a server show: on what it listens, and what it answers by each way.

use sixmark_units::family::{Family, PerFamily};

use crate::app_scenario::{AppScenario, NodeAccess};
use crate::app_start::{
    AppStart, AskedHost, ContentLiteral, ListeningSocket, ProbeAnswer, ProgramEnd, ServerProbe,
};
use crate::client_findings::StartFinding;

/// The responses that say that a client is not allowed (RFC 9110, 15.5.2 and 15.5.4).
const FORBIDDEN: [u16; 2] = [401, 403];
/// The least status that a failed backend makes (RFC 9110, 15.6).
const SERVER_ERROR: u16 = 500;

/// The grades of a server's best answers in all scenarios: an answer that is worse is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestAnswers {
    /// To requests by its name, over either family.
    by_name: u16,
    /// To requests by its name, over each family at the server.
    by_family: PerFamily<u16>,
    /// To requests by its address of each family.
    by_address: PerFamily<u16>,
}

impl BestAnswers {
    /// Returns the best of these probes.
    pub fn of<'a>(probes: impl Iterator<Item = &'a ServerProbe> + Clone) -> BestAnswers {
        let best = |asked: AskedHost, family: Family| {
            let meant = probes.clone();
            let meant = meant.filter(|of| of.asked == asked && of.way.family_at_server() == family);
            // Nothing is as good as no connection.
            meant.map(|of| of.answer.grade()).min().unwrap_or(u16::MAX).min(u16::MAX - 1)
        };
        let by = |asked| PerFamily::from_fn(|family| best(asked, family));
        let by_family = by(AskedHost::Name);
        let by_name = by_family.ipv6.min(by_family.ipv4);
        BestAnswers { by_name, by_family, by_address: by(AskedHost::Address) }
    }

    /// Returns true if a probe by the server's name got what the server answers at best.
    pub fn has_answered(&self, probe: &ServerProbe) -> bool {
        probe.asked == AskedHost::Name && probe.answer.grade() <= self.by_name
    }

    /// Returns true if it answers requests by its IPv4 address better than any by its IPv6 address. A server that
    /// knows its own name alone rejects both; of one that was not asked by IPv4 nothing is known.
    fn rejects_ipv6_address(&self) -> bool {
        self.by_address.ipv4 < self.by_address.ipv6
    }
}

/// A start of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerStart<'a> {
    /// The scenario.
    pub scenario: &'static AppScenario,
    /// What was seen.
    pub start: &'a AppStart,
    /// The best answers in all scenarios.
    pub best: BestAnswers,
    /// The best answers in scenarios in which the server's host has the same families.
    pub best_here: BestAnswers,
    /// True for a proxy with a backend.
    pub has_backend: bool,
}

impl ServerStart<'_> {
    /// Returns true if a probe by the server's name got what the server answers at best.
    pub fn is_answered(&self, probe: &ServerProbe) -> bool {
        self.best.has_answered(probe)
    }

    /// Returns the probes by the server's name, one for each way.
    pub fn by_name(&self) -> impl Iterator<Item = &ServerProbe> {
        self.start.probes.iter().filter(|of| of.asked == AskedHost::Name)
    }

    /// Returns what the start shows by itself.
    pub fn findings(&self) -> Vec<StartFinding> {
        let is_refused = |of: &ServerProbe| {
            of.way.family_at_server() == Family::Ipv4 && of.answer == ProbeAnswer::Refused
        };
        let refuses_ipv4 = self.by_name().any(is_refused);
        let bound = find_binding(self.scenario, &self.start.sockets, refuses_ipv4);
        let other = if bound.is_none() { self.find_difference() } else { None };
        let rules = [bound, self.find_rejected_host(), self.find_content_literal(), other];
        rules.into_iter().flatten().collect()
    }

    fn find_difference(&self) -> Option<StartFinding> {
        let bad = self.by_name().find(|of| !self.is_answered(of))?;
        let good = self.by_name().find(|of| self.is_answered(of));
        let family = bad.way.family_at_server();
        // A server may allow IPv4 in a host that has nothing else: its socket is of IPv4 there, and no address mapped.
        let is_allowed =
            |of: &BestAnswers, family: Family| of.by_family[family] <= self.best.by_name;
        let of_family = if family == Family::Ipv4 { &self.best_here } else { &self.best };
        let is_by_family = is_allowed(&self.best, family.other()) && !is_allowed(of_family, family);
        let said = format!("over {}: {}", bad.way.words(), bad.answer.words());
        let said = good.map_or(said.clone(), |good| {
            format!("{said}; over {}: {}", good.way.words(), good.answer.words())
        });
        match bad.answer {
            ProbeAnswer::Status(status) if FORBIDDEN.contains(&status) && is_by_family => {
                let code = match family {
                    Family::Ipv6 => "forbids-ipv6",
                    Family::Ipv4 => "forbids-ipv4",
                };
                let has_ipv4 = self.start.sockets.iter().any(|of| of.family == Family::Ipv4);
                let mapped = !has_ipv4 && family == Family::Ipv4;
                let why =
                    if mapped { "; its socket is of IPv6: peers are ::ffff:a.b.c.d" } else { "" };
                Some((code, format!("{said}{why}")))
            }
            _ if good.is_some() => Some(("differs-by-family", said)),
            _ => None,
        }
    }

    fn find_rejected_host(&self) -> Option<StartFinding> {
        let is_ipv6 = |of: &&ServerProbe| of.way.family_at_server() == Family::Ipv6;
        let of_ipv6 = || self.start.probes.iter().filter(is_ipv6);
        let bad = of_ipv6().find(|of| of.asked == AskedHost::Address)?;
        let is_fine = of_ipv6().any(|of| of.asked == AskedHost::Name && self.is_answered(of));
        (is_fine && self.best.rejects_ipv6_address()).then(|| {
            ("rejects-ipv6-host", format!("{} instead of what its name gets", bad.answer.words()))
        })
    }

    fn find_content_literal(&self) -> Option<StartFinding> {
        let all = self.by_name().flat_map(|of| &of.literals);
        let first: &ContentLiteral = all.min_by_key(|of| of.kind)?;
        let place = if first.is_in_header { "the header" } else { "the content" };
        Some(("literal-in-content", format!("{} in {place} of the answer", first.text)))
    }

    /// Returns true if each way was answered as well as the server can.
    pub fn has_worked(&self) -> bool {
        self.by_name().next().is_some() && self.by_name().all(|of| self.is_answered(of))
    }

    /// Returns true if no way was answered.
    pub fn has_failed(&self) -> bool {
        self.by_name().all(|of| !self.is_answered(of))
    }

    /// Returns the finding of a start that fails and that no rule explains. `works_with_both` returns whether the
    /// server was seen to answer over a family where its host has both.
    pub fn unexplained(&self, works_with_both: &dyn Fn(Family) -> bool) -> StartFinding {
        let end = self.start.server.as_ref().map(ProgramEnd::words);
        let end = end.unwrap_or_else(|| "still ran when its time was over".to_owned());
        if self.start.has_listened() {
            let bad = self.by_name().find(|of| !self.is_answered(of));
            let said = bad.map_or(String::new(), |of| {
                format!("over {}: {}", of.way.words(), of.answer.words())
            });
            let is_error = |of: &ServerProbe| match of.answer {
                ProbeAnswer::Status(status) => status >= SERVER_ERROR,
                ref other => *other == ProbeAnswer::NoAnswer,
            };
            let is_of_backend = self.has_backend && bad.is_some_and(is_error);
            return (if is_of_backend { "backend-unreached" } else { "differs-by-family" }, said);
        }
        match self.scenario.server {
            NodeAccess::Ipv6Strict | NodeAccess::Nat64 if works_with_both(Family::Ipv6) => {
                ("needs-ipv4-stack", end)
            }
            NodeAccess::Ipv4Only if works_with_both(Family::Ipv4) => ("needs-ipv6-stack", end),
            _ => ("never-listens", end),
        }
    }
}

/// Returns what is wrong with the sockets on which a server listens in a scenario. A socket of IPv6 may take IPv4
/// too, which `refuses_ipv4` denies.
pub fn find_binding(
    scenario: &AppScenario,
    sockets: &[ListeningSocket],
    refuses_ipv4: bool,
) -> Option<StartFinding> {
    let is_reached =
        |family: Family| sockets.iter().any(|of| of.family == family && !of.address.is_loopback());
    let has_address = |family: Family| scenario.server.has_address(family);
    let all: Vec<String> = sockets.iter().map(|of| of.address.to_string()).collect();
    let bound = all.join(", ");
    let [ipv6, ipv4] = Family::BOTH.map(is_reached);
    if sockets.is_empty() {
        None
    } else if !ipv6 && !ipv4 {
        Some(("binds-loopback", format!("listens on {bound}")))
    } else if !ipv6 && has_address(Family::Ipv6) {
        Some(("binds-ipv4", format!("listens on {bound}")))
    } else if !ipv4 && has_address(Family::Ipv4) && refuses_ipv4 {
        Some(("binds-ipv6", format!("listens on {bound} and refuses connections of IPv4")))
    } else {
        None
    }
}

#[cfg(test)]
mod tests;

//! What the starts of a server show: on what it listens, and what it answers by each way.

use sixmark_units::family::Family;

use crate::app_scenario::{AppScenario, NodeAccess};
use crate::app_start::{
    AppStart, AskedHost, ContentLiteral, ListeningSocket, ProbeAnswer, ProgramEnd, ServerProbe,
};
use crate::client_findings::StartFinding;

/// The responses that say that a client is not allowed (RFC 9110, 15.5.2 and 15.5.4).
const FORBIDDEN: [u16; 2] = [401, 403];
/// The least status that a failed backend makes (RFC 9110, 15.6).
const SERVER_ERROR: u16 = 500;

/// A start of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerStart<'a> {
    /// The scenario.
    pub scenario: &'static AppScenario,
    /// What was seen.
    pub start: &'a AppStart,
    /// The grade of the best answer in any scenario: one that is worse is a failure.
    pub best: u16,
}

impl ServerStart<'_> {
    /// Returns true if a probe got what the server answers at best.
    pub fn is_answered(&self, probe: &ServerProbe) -> bool {
        probe.answer.grade() <= self.best
    }

    /// Returns the probes by the server's name, one for each way.
    pub fn by_name(&self) -> impl Iterator<Item = &ServerProbe> {
        self.start.probes.iter().filter(|of| of.asked == AskedHost::Name)
    }

    fn has_address(&self, family: Family) -> bool {
        self.scenario.server.has_address(family)
    }

    fn sockets(&self, family: Family) -> impl Iterator<Item = &ListeningSocket> {
        self.start.sockets.iter().filter(move |of| of.family == family)
    }

    /// Returns what the start shows by itself.
    pub fn findings(&self) -> Vec<StartFinding> {
        let rules = [
            self.find_loopback(),
            self.find_ipv4_bound(),
            self.find_ipv6_bound(),
            self.find_rejected_host(),
            self.find_content_literal(),
        ];
        let mut found: Vec<StartFinding> = rules.into_iter().flatten().collect();
        let is_bound = |of: &StartFinding| of.0.starts_with("binds-");
        if !found.iter().any(is_bound) {
            found.extend(self.find_difference());
        }
        found
    }

    fn find_loopback(&self) -> Option<StartFinding> {
        let sockets = &self.start.sockets;
        let is_all = !sockets.is_empty() && sockets.iter().all(|of| of.address.is_loopback());
        is_all.then(|| ("binds-loopback", format!("listens on {}", self.bound())))
    }

    fn find_ipv4_bound(&self) -> Option<StartFinding> {
        let is_found = self.has_address(Family::Ipv6)
            && self.sockets(Family::Ipv6).next().is_none()
            && self.sockets(Family::Ipv4).any(|of| !of.address.is_loopback());
        is_found.then(|| ("binds-ipv4", format!("listens on {}", self.bound())))
    }

    fn find_ipv6_bound(&self) -> Option<StartFinding> {
        let is_refused = |of: &ServerProbe| {
            of.way.family_at_server() == Family::Ipv4 && of.answer == ProbeAnswer::Refused
        };
        let is_found = self.has_address(Family::Ipv4)
            && self.sockets(Family::Ipv4).next().is_none()
            && self.sockets(Family::Ipv6).any(|of| !of.address.is_loopback())
            && self.by_name().any(is_refused);
        is_found.then(|| {
            ("binds-ipv6", format!("listens on {} and refuses connections of IPv4", self.bound()))
        })
    }

    /// Returns the addresses on which it listens.
    fn bound(&self) -> String {
        let all: Vec<String> = self.start.sockets.iter().map(|of| of.address.to_string()).collect();
        all.join(", ")
    }

    fn find_difference(&self) -> Option<StartFinding> {
        let bad = self.by_name().find(|of| !self.is_answered(of))?;
        let good = self.by_name().find(|of| self.is_answered(of));
        let family = bad.way.family_at_server();
        let is_other = good.is_none_or(|of| of.way.family_at_server() != family);
        let said = format!("over {}: {}", bad.way.words(), bad.answer.words());
        let said = good.map_or(said.clone(), |good| {
            format!("{said}; over {}: {}", good.way.words(), good.answer.words())
        });
        match bad.answer {
            ProbeAnswer::Status(status) if FORBIDDEN.contains(&status) && is_other => {
                let code = match family {
                    Family::Ipv6 => "forbids-ipv6",
                    Family::Ipv4 => "forbids-ipv4",
                };
                let mapped = self.sockets(Family::Ipv4).next().is_none() && family == Family::Ipv4;
                let why =
                    if mapped { "; its socket is of IPv6: peers are ::ffff:a.b.c.d" } else { "" };
                Some((code, format!("{said}{why}")))
            }
            _ if good.is_some() => Some(("differs-by-family", said)),
            _ => None,
        }
    }

    fn find_rejected_host(&self) -> Option<StartFinding> {
        let is_literal = |of: &&ServerProbe| {
            of.asked == AskedHost::Address && of.way.family_at_server() == Family::Ipv6
        };
        let bad = self.start.probes.iter().find(|of| is_literal(of) && !self.is_answered(of))?;
        let of_same_way = |of: &&ServerProbe| of.way == bad.way;
        let is_fine = self.by_name().find(of_same_way).is_some_and(|of| self.is_answered(of));
        // A server that knows its own name alone rejects addresses of either family.
        let rejects_ipv4 = self.start.probes.iter().any(|of| {
            of.asked == AskedHost::Address
                && of.way.family_at_server() == Family::Ipv4
                && !self.is_answered(of)
        });
        (is_fine && !rejects_ipv4).then(|| {
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

    /// Returns the finding of a start that fails and that no rule explains. `works_without` says of a family
    /// whether the server works where that family is missing.
    pub fn unexplained(&self, works_with_both: bool) -> StartFinding {
        let end = self.start.server.as_ref().map(ProgramEnd::words);
        let end = end.unwrap_or_else(|| "still ran when its time was over".to_owned());
        if self.start.has_listened() {
            let bad = self.by_name().find(|of| !self.is_answered(of));
            let said = bad.map_or(String::new(), |of| {
                format!("over {}: {}", of.way.words(), of.answer.words())
            });
            let is_error = |of: &ServerProbe| matches!(of.answer, ProbeAnswer::Status(status) if status >= SERVER_ERROR);
            let code =
                if bad.is_some_and(is_error) { "backend-unreached" } else { "differs-by-family" };
            return (code, said);
        }
        match self.scenario.server {
            NodeAccess::Ipv6Strict | NodeAccess::Nat64 if works_with_both => {
                ("needs-ipv4-stack", end)
            }
            NodeAccess::Ipv4Only if works_with_both => ("needs-ipv6-stack", end),
            _ => ("never-listens", end),
        }
    }
}

#[cfg(test)]
mod tests;

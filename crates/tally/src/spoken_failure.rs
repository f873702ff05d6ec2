//! Failures in a person's words, for sentences. Tables and documents have the names of outcomes.

use std::time::Duration;

use sixmark_units::quantity::duration_us;

use crate::outcome::{Failure, FailurePhase, LocalCause, Outcome};

/// The kernel's error number for a network without a route (Linux).
const ENETUNREACH: i32 = 101;
/// The kernel's error number for a host without a route (Linux).
const EHOSTUNREACH: i32 = 113;

impl Failure {
    /// Returns the failure in words that follow a colon: `connection refused`, `no answer within 3
    /// s`. `timeout` is that of the load, if it is known.
    pub fn spoken(&self, timeout: Option<Duration>) -> String {
        // A number of the kernel says that it gave up before the timeout.
        let limit = timeout.filter(|_| self.errno.is_none());
        let in_time =
            limit.map_or("in time".to_owned(), |limit| format!("within {}", short_time(limit)));
        match self.outcome {
            Outcome::Timeout => format!("{} {in_time}", self.missing()),
            Outcome::Unanswered => format!("{} by the end of the load", self.missing()),
            Outcome::Local => self.cause.map_or("this machine failed", spoken_cause).to_owned(),
            _ => self.spoken_without_time().to_owned(),
        }
    }

    /// Returns what did not come.
    fn missing(&self) -> &'static str {
        match self.phase {
            FailurePhase::Connect => "no connection",
            FailurePhase::Tls => "no TLS handshake",
            FailurePhase::Send => "the request was not taken",
            FailurePhase::Wait => "no answer",
            FailurePhase::Transfer => "no complete answer",
        }
    }

    fn spoken_without_time(&self) -> &'static str {
        let phase = self.phase;
        match self.outcome {
            Outcome::Refused => "connection refused",
            Outcome::Unreachable if self.errno == Some(ENETUNREACH) => "network unreachable",
            Outcome::Unreachable if self.errno == Some(EHOSTUNREACH) => "host unreachable",
            Outcome::Unreachable => "network or host unreachable",
            Outcome::Reset if phase == FailurePhase::Transfer => "reset within the answer",
            Outcome::Reset if phase == FailurePhase::Tls => "connection reset in the TLS handshake",
            Outcome::Reset if phase == FailurePhase::Wait => "connection reset without an answer",
            Outcome::Reset => "connection reset",
            Outcome::Truncated if phase == FailurePhase::Transfer => "the answer ended too early",
            Outcome::Truncated => "connection closed without an answer",
            Outcome::Protocol => "the answer is not valid HTTP",
            Outcome::Tls if phase == FailurePhase::Tls => "the TLS handshake failed",
            Outcome::Tls => "invalid TLS record",
            Outcome::Content => "the content failed a check",
            Outcome::NoPort => "this machine has no local port left",
            Outcome::Abandoned => "cut off by the end of the load",
            // These are not failures, or have words of their own.
            Outcome::Normal | Outcome::Timeout | Outcome::Unanswered | Outcome::Local => "failed",
        }
    }
}

fn spoken_cause(cause: LocalCause) -> &'static str {
    match cause {
        LocalCause::Stalled => "sixmark was stopped or had no processor",
        other => other.text(),
    }
}

/// Formats a time that a user chose, without digits that say nothing: `3 s`, `500 ms`.
fn short_time(time: Duration) -> String {
    match (time.as_millis(), time.subsec_millis()) {
        (1_000.., 0) => format!("{} s", time.as_secs()),
        (ms @ 1..1_000, _) if time.subsec_micros().is_multiple_of(1_000) => format!("{ms} ms"),
        _ => duration_us(time.as_secs_f64() * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_failures_in_words() {
        let timeout = Some(Duration::from_secs(3));
        let said = |outcome, phase| Failure::new(outcome, phase).spoken(timeout);
        assert_eq!(said(Outcome::Refused, FailurePhase::Connect), "connection refused");
        assert_eq!(said(Outcome::Timeout, FailurePhase::Wait), "no answer within 3 s");
        let kernels =
            Failure { errno: Some(110), ..Failure::new(Outcome::Timeout, FailurePhase::Connect) };
        assert_eq!(kernels.spoken(timeout), "no connection in time");
        let unheard = Failure::new(Outcome::Timeout, FailurePhase::Tls).spoken(None);
        assert_eq!(unheard, "no TLS handshake in time");
        let network = Failure {
            errno: Some(ENETUNREACH),
            ..Failure::new(Outcome::Unreachable, FailurePhase::Connect)
        };
        assert_eq!(network.spoken(timeout), "network unreachable");
    }

    #[test]
    fn describes_every_outcome_without_its_code_name() {
        let phases = [
            FailurePhase::Connect,
            FailurePhase::Tls,
            FailurePhase::Send,
            FailurePhase::Wait,
            FailurePhase::Transfer,
        ];
        let failures = Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::Normal);
        for failure in failures.flat_map(|of| phases.map(|phase| Failure::new(of, phase))) {
            let said = failure.spoken(None);
            let is_code = failure.outcome != Outcome::Tls && said.contains(failure.outcome.name());
            assert!(said != "failed" && !is_code, "{failure:?}: {said}");
        }
    }

    #[test]
    fn formats_durations_briefly() {
        let said = [3_000, 500, 1_500].map(|ms| short_time(Duration::from_millis(ms)));
        assert_eq!(said, ["3 s", "500 ms", "1.50 s"]);
    }
}

//! The phases of an exchange whose durations are measured, and their statistics: the single list
//! that gates, conditions, comparisons, studies and reports use.

use crate::family_result::FamilyResult;
use sixmark_document::timing::Summary;

/// A part of an exchange, or of a connection's life, whose durations are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimedPhase {
    /// From the SYN to the SYN-ACK.
    Connect,
    /// From established to the end of the TLS or QUIC handshake.
    Tls,
    /// From the request's last byte handed to the kernel to the first byte of the first interim
    /// response.
    Interim,
    /// From the request's last byte handed to the kernel to the final response's first.
    Wait,
    /// From the exchange's start to the response's first byte.
    Ttfb,
    /// From the response's first byte to its last.
    Transfer,
    /// From when the exchange was due to its start, in an open loop.
    Slip,
    /// From the exchange's start to the response's last byte, in an open loop.
    Service,
    /// From when the exchange was due (in a closed loop, its start) to the response's last byte.
    Response,
    /// From connected to closed.
    Lifetime,
}

impl TimedPhase {
    /// All phases, in the order of an exchange; a connection's lifetime comes last.
    pub const ALL: [TimedPhase; 10] = [
        TimedPhase::Connect,
        TimedPhase::Tls,
        TimedPhase::Interim,
        TimedPhase::Wait,
        TimedPhase::Ttfb,
        TimedPhase::Transfer,
        TimedPhase::Slip,
        TimedPhase::Service,
        TimedPhase::Response,
        TimedPhase::Lifetime,
    ];

    /// Returns the name used in documents, gates and conditions.
    pub fn name(self) -> &'static str {
        match self {
            TimedPhase::Connect => "connect",
            TimedPhase::Tls => "tls",
            TimedPhase::Interim => "interim",
            TimedPhase::Wait => "wait",
            TimedPhase::Ttfb => "ttfb",
            TimedPhase::Transfer => "transfer",
            TimedPhase::Slip => "slip",
            TimedPhase::Service => "service",
            TimedPhase::Response => "response",
            TimedPhase::Lifetime => "lifetime",
        }
    }

    /// Returns the phase named `name`.
    pub fn named(name: &str) -> Option<TimedPhase> {
        TimedPhase::ALL.into_iter().find(|phase| phase.name() == name)
    }

    /// Returns the name within a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            TimedPhase::Tls => "TLS handshake",
            TimedPhase::Lifetime => "connection lifetime",
            TimedPhase::Ttfb => "time to first byte",
            TimedPhase::Interim => "time to interim response",
            other => other.name(),
        }
    }

    /// Returns the definition of the phase as a sentence.
    pub fn definition(self) -> &'static str {
        match self {
            TimedPhase::Connect => {
                "From the SYN to the SYN-ACK by the kernel’s clock; from the connect call to \
                 established where the kernel has no time."
            }
            TimedPhase::Tls => "From connected to the end of the TLS or QUIC handshake.",
            TimedPhase::Interim => {
                "From the request’s last byte handed to the kernel to the first byte of the first \
                 interim (1xx) response."
            }
            TimedPhase::Wait => {
                "From the request’s last byte handed to the kernel to the first byte of the \
                 response, not of an interim (1xx) one."
            }
            TimedPhase::Ttfb => {
                "From an exchange’s start, including connecting if it began with that, to the \
                 response’s first byte, not that of an interim (1xx) one."
            }
            TimedPhase::Transfer => "From the response’s first byte to its last.",
            TimedPhase::Slip => "From when an exchange was due to its start.",
            TimedPhase::Service => "From an exchange’s start to the response’s last byte.",
            TimedPhase::Response => {
                "From when an exchange was due, in a closed loop its start, to the response’s last byte."
            }
            TimedPhase::Lifetime => "From connected to closed.",
        }
    }

    /// Returns the definition of the phase in a watch, in which packets at the place of capture are
    /// timed. Phases that no watch has are defined as in a run.
    pub fn watched_definition(self) -> &'static str {
        match self {
            TimedPhase::Connect => "From the first SYN to the client’s first ACK of the SYN-ACK.",
            TimedPhase::Interim => {
                "From the last packet of a request to the first packet of the first interim (1xx) \
                 response."
            }
            TimedPhase::Wait => {
                "From the last packet of a request to the first packet of the response, not of an \
                 interim (1xx) one."
            }
            TimedPhase::Transfer => {
                "From the first packet of a response to the packet that completes it."
            }
            TimedPhase::Response => {
                "From the first packet of a request to the packet that completes the response."
            }
            TimedPhase::Lifetime => "From established to the connection’s last packet.",
            TimedPhase::Tls | TimedPhase::Ttfb | TimedPhase::Slip | TimedPhase::Service => {
                self.definition()
            }
        }
    }

    /// Returns the durations in a result, or `None` if the result has no such phase.
    pub fn durations(self, of: &FamilyResult) -> Option<&Summary> {
        match self {
            TimedPhase::Connect => Some(&of.connect_us),
            TimedPhase::Tls => of.tls.as_ref().map(|tls| &tls.tls_us),
            TimedPhase::Interim => of.interim_us.as_ref(),
            TimedPhase::Wait => Some(&of.wait_us),
            TimedPhase::Ttfb => of.ttfb_us.as_ref(),
            TimedPhase::Transfer => Some(&of.transfer_us),
            TimedPhase::Slip => of.slip_us.as_ref(),
            TimedPhase::Service => of.service_us.as_ref(),
            TimedPhase::Response => Some(&of.response_us),
            TimedPhase::Lifetime => Some(&of.lifetime_us),
        }
    }

    /// Returns the durations in a result for modification, like [`TimedPhase::durations`].
    pub fn durations_mut(self, of: &mut FamilyResult) -> Option<&mut Summary> {
        match self {
            TimedPhase::Connect => Some(&mut of.connect_us),
            TimedPhase::Tls => of.tls.as_mut().map(|tls| &mut tls.tls_us),
            TimedPhase::Interim => of.interim_us.as_mut(),
            TimedPhase::Wait => Some(&mut of.wait_us),
            TimedPhase::Ttfb => of.ttfb_us.as_mut(),
            TimedPhase::Transfer => Some(&mut of.transfer_us),
            TimedPhase::Slip => of.slip_us.as_mut(),
            TimedPhase::Service => of.service_us.as_mut(),
            TimedPhase::Response => Some(&mut of.response_us),
            TimedPhase::Lifetime => Some(&mut of.lifetime_us),
        }
    }

    /// Returns why a result has no such phase, for a message.
    pub fn why_absent(self) -> &'static str {
        match self {
            TimedPhase::Tls => "there was no TLS",
            TimedPhase::Interim => "there was no interim response",
            TimedPhase::Ttfb => "the document is older than this figure",
            _ => "a closed loop has none",
        }
    }

    /// Returns why a result has no durations of the phase, for a message.
    pub fn why_empty(self) -> &'static str {
        match self {
            TimedPhase::Connect => "no TCP connection was opened",
            TimedPhase::Tls => "no TLS handshake was finished",
            TimedPhase::Slip => "nothing was sent",
            TimedPhase::Lifetime => "no connection was closed",
            TimedPhase::Interim => "there was no interim response",
            TimedPhase::Wait
            | TimedPhase::Ttfb
            | TimedPhase::Transfer
            | TimedPhase::Service
            | TimedPhase::Response => "there was no complete response",
        }
    }

    /// Returns true if the phase belongs to a connection, which can be observed even if its
    /// exchanges are encrypted.
    pub fn is_of_connection(self) -> bool {
        matches!(self, TimedPhase::Connect | TimedPhase::Tls | TimedPhase::Lifetime)
    }
}

/// A statistic of durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimePoint {
    /// The shortest duration.
    Min,
    /// The arithmetic mean.
    Mean,
    /// The standard deviation.
    Stddev,
    /// The median.
    P50,
    /// The duration that 90 % do not exceed.
    P90,
    /// The duration that 95 % do not exceed.
    P95,
    /// The duration that 99 % do not exceed.
    P99,
    /// The duration that 99.9 % do not exceed.
    P999,
    /// The longest duration.
    Max,
}

impl TimePoint {
    /// All statistics, in the order in which they are shown.
    pub const ALL: [TimePoint; 9] = [
        TimePoint::Min,
        TimePoint::Mean,
        TimePoint::Stddev,
        TimePoint::P50,
        TimePoint::P90,
        TimePoint::P95,
        TimePoint::P99,
        TimePoint::P999,
        TimePoint::Max,
    ];

    /// Returns the name used in documents, gates and conditions.
    pub fn name(self) -> &'static str {
        match self {
            TimePoint::Min => "min",
            TimePoint::Mean => "mean",
            TimePoint::Stddev => "stddev",
            TimePoint::P50 => "p50",
            TimePoint::P90 => "p90",
            TimePoint::P95 => "p95",
            TimePoint::P99 => "p99",
            TimePoint::P999 => "p999",
            TimePoint::Max => "max",
        }
    }

    /// Returns the title for the head of a row.
    pub fn title(self) -> &'static str {
        match self {
            TimePoint::Min => "shortest",
            TimePoint::Mean => "mean",
            TimePoint::Stddev => "standard deviation",
            TimePoint::P50 => "median",
            TimePoint::P90 => "p90",
            TimePoint::P95 => "p95",
            TimePoint::P99 => "p99",
            TimePoint::P999 => "p99.9",
            TimePoint::Max => "longest",
        }
    }

    /// Returns the statistic with a noun, within a sentence: "median response", "p99 response".
    pub fn phrase(self, noun: &str) -> String {
        let title = self.title();
        match self {
            TimePoint::Stddev => format!("{title} of {noun}"),
            _ => format!("{title} {noun}"),
        }
    }

    /// Returns the statistic named `name`.
    pub fn named(name: &str) -> Option<TimePoint> {
        TimePoint::ALL.into_iter().find(|point| point.name() == name)
    }

    /// Returns the value in microseconds, or `None` if nothing was measured.
    pub fn value_us(self, of: &Summary) -> Option<f64> {
        match self {
            TimePoint::Min => of.min,
            TimePoint::Mean => of.mean,
            TimePoint::Stddev => of.stddev,
            TimePoint::P50 => of.p50,
            TimePoint::P90 => of.p90,
            TimePoint::P95 => of.p95,
            TimePoint::P99 => of.p99,
            TimePoint::P999 => of.p999,
            TimePoint::Max => of.max,
        }
    }
}

/// A quantile of durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantile {
    /// The median.
    P50,
    /// The duration that 90 % do not exceed.
    P90,
    /// The duration that 99 % do not exceed.
    P99,
    /// The duration that 99.9 % do not exceed.
    P999,
}

impl Quantile {
    /// All quantiles, in ascending order.
    pub const ALL: [Quantile; 4] = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999];

    /// Returns the name used in documents, gates and conditions.
    pub fn name(self) -> &'static str {
        TimePoint::from(self).name()
    }

    /// Returns the quantile named `name`.
    pub fn named(name: &str) -> Option<Quantile> {
        Quantile::ALL.into_iter().find(|quantile| quantile.name() == name)
    }

    /// Returns the share (0 to 1) of durations that do not exceed the quantile.
    pub fn share(self) -> f64 {
        match self {
            Quantile::P50 => 0.5,
            Quantile::P90 => 0.9,
            Quantile::P99 => 0.99,
            Quantile::P999 => 0.999,
        }
    }
}

impl From<Quantile> for TimePoint {
    fn from(quantile: Quantile) -> TimePoint {
        match quantile {
            Quantile::P50 => TimePoint::P50,
            Quantile::P90 => TimePoint::P90,
            Quantile::P99 => TimePoint::P99,
            Quantile::P999 => TimePoint::P999,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_what_they_name() {
        for phase in TimedPhase::ALL {
            assert_eq!(TimedPhase::named(phase.name()), Some(phase));
        }
        for point in TimePoint::ALL {
            assert_eq!(TimePoint::named(point.name()), Some(point));
        }
        for quantile in Quantile::ALL {
            assert_eq!(Quantile::named(quantile.name()), Some(quantile));
            let digits = quantile.name().strip_prefix('p').unwrap();
            assert_eq!(quantile.share(), format!("0.{digits}").parse::<f64>().unwrap());
        }
        assert_eq!(TimedPhase::named("Connect"), None);
        assert_eq!(TimePoint::named(""), None);
    }
}

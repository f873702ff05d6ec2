//! The phases of an exchange whose durations are measured, and the figures that are made of these: the
//! one list that gates, conditions, comparisons, studies and reports read.

use crate::family_result::FamilyResult;
use sixmark_document::timing::Summary;

/// A part of an exchange, or of a connection's life, whose durations are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimedPhase {
    /// From the connect call to established.
    Connect,
    /// From established to the end of the TLS or QUIC handshake.
    Tls,
    /// From the request's last byte handed to the kernel to the response's first.
    Wait,
    /// From the exchange's start to the response's first byte.
    Ttfb,
    /// From the response's first byte to its last.
    Transfer,
    /// From when the exchange was due to its start, in an open loop.
    Slip,
    /// From the exchange's start to the response's last byte, in an open loop.
    Service,
    /// From when the exchange was due, in a closed loop its start, to the response's last byte.
    Response,
    /// From connected to closed.
    Lifetime,
}

impl TimedPhase {
    /// All of them, in the order of an exchange; a connection's lifetime last.
    pub const ALL: [TimedPhase; 9] = [
        TimedPhase::Connect,
        TimedPhase::Tls,
        TimedPhase::Wait,
        TimedPhase::Ttfb,
        TimedPhase::Transfer,
        TimedPhase::Slip,
        TimedPhase::Service,
        TimedPhase::Response,
        TimedPhase::Lifetime,
    ];

    /// The name in documents, gates and conditions.
    pub fn name(self) -> &'static str {
        match self {
            TimedPhase::Connect => "connect",
            TimedPhase::Tls => "tls",
            TimedPhase::Wait => "wait",
            TimedPhase::Ttfb => "ttfb",
            TimedPhase::Transfer => "transfer",
            TimedPhase::Slip => "slip",
            TimedPhase::Service => "service",
            TimedPhase::Response => "response",
            TimedPhase::Lifetime => "lifetime",
        }
    }

    /// The phase of that name.
    pub fn named(name: &str) -> Option<TimedPhase> {
        TimedPhase::ALL.into_iter().find(|phase| phase.name() == name)
    }

    /// The name within a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            TimedPhase::Tls => "TLS handshake",
            TimedPhase::Lifetime => "connection lifetime",
            TimedPhase::Ttfb => "time to first byte",
            other => other.name(),
        }
    }

    /// From when to when, in a sentence.
    pub fn definition(self) -> &'static str {
        match self {
            TimedPhase::Connect => {
                "From the connect call to established; by the kernel’s clock from the SYN to the SYN-ACK."
            }
            TimedPhase::Tls => "From connected to the end of the TLS or QUIC handshake.",
            TimedPhase::Wait => {
                "From the request’s last byte handed to the kernel to the response’s first byte."
            }
            TimedPhase::Ttfb => {
                "From an exchange’s start, including connecting if it began with that, to the \
                 response’s first byte."
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

    /// Its durations in a result; none where the kind of load has no such phase.
    pub fn durations(self, of: &FamilyResult) -> Option<&Summary> {
        match self {
            TimedPhase::Connect => Some(&of.connect_us),
            TimedPhase::Tls => of.tls.as_ref().map(|tls| &tls.tls_us),
            TimedPhase::Wait => Some(&of.wait_us),
            TimedPhase::Ttfb => of.ttfb_us.as_ref(),
            TimedPhase::Transfer => Some(&of.transfer_us),
            TimedPhase::Slip => of.slip_us.as_ref(),
            TimedPhase::Service => of.service_us.as_ref(),
            TimedPhase::Response => Some(&of.response_us),
            TimedPhase::Lifetime => Some(&of.lifetime_us),
        }
    }

    /// The same, to be changed.
    pub fn durations_mut(self, of: &mut FamilyResult) -> Option<&mut Summary> {
        match self {
            TimedPhase::Connect => Some(&mut of.connect_us),
            TimedPhase::Tls => of.tls.as_mut().map(|tls| &mut tls.tls_us),
            TimedPhase::Wait => Some(&mut of.wait_us),
            TimedPhase::Ttfb => of.ttfb_us.as_mut(),
            TimedPhase::Transfer => Some(&mut of.transfer_us),
            TimedPhase::Slip => of.slip_us.as_mut(),
            TimedPhase::Service => of.service_us.as_mut(),
            TimedPhase::Response => Some(&mut of.response_us),
            TimedPhase::Lifetime => Some(&mut of.lifetime_us),
        }
    }

    /// Why a kind of load has no such phase.
    pub fn why_absent(self) -> &'static str {
        match self {
            TimedPhase::Tls => "there was no TLS",
            TimedPhase::Ttfb => "the document is older than this figure",
            _ => "a closed loop has none",
        }
    }

    /// Why there are no durations of it.
    pub fn why_empty(self) -> &'static str {
        match self {
            TimedPhase::Connect => "no TCP connection was opened",
            TimedPhase::Tls => "no TLS handshake was finished",
            TimedPhase::Slip => "nothing was sent",
            TimedPhase::Lifetime => "no connection was closed",
            TimedPhase::Wait
            | TimedPhase::Ttfb
            | TimedPhase::Transfer
            | TimedPhase::Service
            | TimedPhase::Response => "there was no complete response",
        }
    }

    /// True where it is of a connection, which can be seen though its exchanges are encrypted.
    pub fn is_of_connection(self) -> bool {
        matches!(self, TimedPhase::Connect | TimedPhase::Tls | TimedPhase::Lifetime)
    }
}

/// A figure of many durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimePoint {
    /// The shortest.
    Min,
    /// The arithmetic mean.
    Mean,
    /// The standard deviation.
    Stddev,
    /// The median.
    P50,
    /// 90 % are not longer.
    P90,
    /// 95 % are not longer.
    P95,
    /// 99 % are not longer.
    P99,
    /// 99.9 % are not longer.
    P999,
    /// The longest.
    Max,
}

impl TimePoint {
    /// All of them, from the shortest to the longest.
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

    /// The name in documents, gates and conditions.
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

    /// What it is called at the head of a row.
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

    /// The same with a noun, within a sentence: "median response", "p99 response".
    pub fn phrase(self, noun: &str) -> String {
        let title = self.title();
        match self {
            TimePoint::Stddev => format!("{title} of {noun}"),
            _ => format!("{title} {noun}"),
        }
    }

    /// The point of that name.
    pub fn named(name: &str) -> Option<TimePoint> {
        TimePoint::ALL.into_iter().find(|point| point.name() == name)
    }

    /// Its value in microseconds; none where nothing was measured.
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

/// A quantile of many durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantile {
    /// The median.
    P50,
    /// 90 % are not longer.
    P90,
    /// 99 % are not longer.
    P99,
    /// 99.9 % are not longer.
    P999,
}

impl Quantile {
    /// All of them, the median first.
    pub const ALL: [Quantile; 4] = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::P999];

    /// The name in documents, gates and conditions.
    pub fn name(self) -> &'static str {
        TimePoint::from(self).name()
    }

    /// The quantile of that name.
    pub fn named(name: &str) -> Option<Quantile> {
        Quantile::ALL.into_iter().find(|quantile| quantile.name() == name)
    }

    /// The share (0 to 1) of durations that are not longer.
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

//! The phases of an exchange whose durations are measured, and their statistics: the single list
//! that tallies, results, gates, conditions, comparisons, studies and reports use.
//!
//! A phase is one row of `declare_phases!` below. Beside its row it has a field of `FamilyResult`,
//! where a document has its durations, and the place that measures it.

use std::ops::{AddAssign, Index, IndexMut};

use serde::{Deserialize, Serialize};

use crate::phase_clock::{ClockRule, PhaseClock, clock_of_older_documents};
use crate::tally_part::TallyPart;
use sixmark_document::timing::Summary;
use sixmark_document::untrusted::is_default;

/// Whether a result has durations of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PhasePresence {
    /// Every result has them.
    Always,
    /// Every result has them, except documents that are older than the phase.
    SinceVersion,
    /// Only if something was measured.
    IfMeasured,
    /// Only in an open loop.
    OpenLoop,
    /// Only with TLS, in the section about it.
    WithTls,
}

/// The row of a phase.
struct PhaseRow {
    /// The name used in documents, gates and conditions.
    name: &'static str,
    /// The name within a sentence.
    noun: &'static str,
    /// The definition, as a sentence.
    definition: &'static str,
    /// The definition in a watch, which times packets at the place of capture; `None` if no watch
    /// has the phase.
    watched: Option<&'static str>,
    /// Why there are no durations, for a message.
    empty: &'static str,
    presence: PhasePresence,
    clock: ClockRule,
    /// True if the phase belongs to a connection.
    of_connection: bool,
    /// True if comparisons judge it.
    compared: bool,
    /// True if a search can bound it.
    bounded: bool,
    /// True if a terminal shows it.
    on_terminal: bool,
    /// The place of its charts: those of most interest first.
    rank: u8,
}

/// Declares the phases: the enum, the table, a value for each phase, and the clocks in documents.
macro_rules! declare_phases {
    ($(
        $variant:ident $name:ident {
            noun: $noun:literal,
            definition: $definition:literal,
            watched: $watched:expr,
            empty: $empty:literal,
            presence: $presence:ident,
            clock: $clock:ident,
            of_connection: $of_connection:literal,
            compared: $compared:literal,
            bounded: $bounded:literal,
            on_terminal: $on_terminal:literal,
            rank: $rank:literal,
            $(#[$in_documents:meta])*
        }
    )+) => {
        /// A part of an exchange, or of a connection's life, whose durations are measured. The
        /// variants are in the order of an exchange; a connection's lifetime comes last.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TimedPhase {
            $(#[doc = $definition] $variant,)+
        }

        impl TimedPhase {
            /// All phases, in the order of an exchange; a connection's lifetime comes last.
            pub const ALL: [TimedPhase; [$(TimedPhase::$variant),+].len()] =
                [$(TimedPhase::$variant),+];

            fn row(self) -> &'static PhaseRow {
                match self {
                    $(TimedPhase::$variant => {
                        const ROW: &PhaseRow = &PhaseRow {
                                name: stringify!($name),
                                noun: $noun,
                                definition: $definition,
                                watched: $watched,
                                empty: $empty,
                                presence: PhasePresence::$presence,
                                clock: ClockRule::$clock,
                                of_connection: $of_connection,
                                compared: $compared,
                                bounded: $bounded,
                                on_terminal: $on_terminal,
                                rank: $rank,
                            };
                        ROW
                    })+
                }
            }
        }

        /// A value for each phase.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, bound(
            serialize = "T: Serialize + Default + PartialEq",
            deserialize = "T: Deserialize<'de> + Default",
        ))]
        pub struct PerPhase<T> {
            $(
                #[doc = $definition]
                #[serde(skip_serializing_if = "is_default")]
                pub $name: T,
            )+
        }

        impl<T> PerPhase<T> {
            /// Makes the value of each phase.
            pub fn from_fn(mut of: impl FnMut(TimedPhase) -> T) -> PerPhase<T> {
                PerPhase { $($name: of(TimedPhase::$variant),)+ }
            }
        }

        impl<T> Index<TimedPhase> for PerPhase<T> {
            type Output = T;

            fn index(&self, phase: TimedPhase) -> &T {
                match phase {
                    $(TimedPhase::$variant => &self.$name,)+
                }
            }
        }

        impl<T> IndexMut<TimedPhase> for PerPhase<T> {
            fn index_mut(&mut self, phase: TimedPhase) -> &mut T {
                match phase {
                    $(TimedPhase::$variant => &mut self.$name,)+
                }
            }
        }

        /// The clock of each phase, provided that no timestamp is missing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct PhaseClocks {
            $(
                #[doc = $definition]
                $(#[$in_documents])*
                pub $name: PhaseClock,
            )+
        }

        impl PhaseClocks {
            /// Makes the clock of each phase.
            pub(crate) fn from_fn(of: impl Fn(TimedPhase) -> PhaseClock) -> PhaseClocks {
                PhaseClocks { $($name: of(TimedPhase::$variant),)+ }
            }

            /// Returns the clock of a phase.
            pub fn of_phase(&self, phase: TimedPhase) -> PhaseClock {
                match phase {
                    $(TimedPhase::$variant => self.$name,)+
                }
            }
        }
    };
}

declare_phases! {
    Connect connect {
        noun: "connect",
        definition: "From the SYN to the SYN-ACK by the kernel’s clock; from the connect call to \
             established where the kernel has no time.",
        watched: Some("From the first SYN to the client’s first ACK of the SYN-ACK."),
        empty: "no TCP connection was opened",
        presence: Always,
        clock: Kernel,
        of_connection: true,
        compared: true,
        bounded: true,
        on_terminal: true,
        rank: 4,
    }
    Tls tls {
        noun: "TLS handshake",
        definition: "From connected to the end of the TLS or QUIC handshake.",
        watched: None,
        empty: "no TLS handshake was finished",
        presence: WithTls,
        clock: User,
        of_connection: true,
        compared: true,
        bounded: true,
        on_terminal: true,
        rank: 5,
    }
    Interim interim {
        noun: "time to interim response",
        definition: "From the request’s last byte handed to the kernel to the first byte of the first \
             interim (1xx) response.",
        watched: Some(
            "From the last packet of a request to the first packet of the first interim (1xx) \
                 response.",
        ),
        empty: "there was no interim response",
        presence: IfMeasured,
        clock: Whole,
        of_connection: false,
        compared: false,
        bounded: false,
        on_terminal: true,
        rank: 3,
        #[serde(default = "clock_of_older_documents")]
    }
    Wait wait {
        noun: "wait",
        definition: "From the request’s last byte handed to the kernel to the first byte of the response, \
             not of an interim (1xx) one.",
        watched: Some(
            "From the last packet of a request to the first packet of the response, not of an \
                 interim (1xx) one.",
        ),
        empty: "there was no complete response",
        presence: Always,
        clock: Whole,
        of_connection: false,
        compared: true,
        bounded: true,
        on_terminal: true,
        rank: 2,
    }
    Ttfb ttfb {
        noun: "time to first byte",
        definition: "From an exchange’s start, including connecting if it began with that, to the \
             response’s first byte, not that of an interim (1xx) one.",
        watched: None,
        empty: "there was no complete response",
        presence: SinceVersion,
        clock: Part,
        of_connection: false,
        compared: false,
        bounded: true,
        on_terminal: false,
        rank: 1,
        #[serde(default = "clock_of_older_documents")]
    }
    Transfer transfer {
        noun: "transfer",
        definition: "From the response’s first byte to its last.",
        watched: Some("From the first packet of a response to the packet that completes it."),
        empty: "there was no complete response",
        presence: Always,
        clock: Whole,
        of_connection: false,
        compared: true,
        bounded: true,
        on_terminal: true,
        rank: 6,
    }
    Slip slip {
        noun: "slip",
        definition: "From when an exchange was due to its start.",
        watched: None,
        empty: "nothing was sent",
        presence: OpenLoop,
        clock: Part,
        of_connection: false,
        compared: false,
        bounded: false,
        on_terminal: true,
        rank: 8,
    }
    Service service {
        noun: "service",
        definition: "From an exchange’s start to the response’s last byte.",
        watched: None,
        empty: "there was no complete response",
        presence: OpenLoop,
        clock: Part,
        of_connection: false,
        compared: false,
        bounded: true,
        on_terminal: true,
        rank: 7,
    }
    Response response {
        noun: "response",
        definition: "From when an exchange was due, in a closed loop its start, to the response’s last \
             byte.",
        watched: Some(
            "From the first packet of a request to the packet that completes the response.",
        ),
        empty: "there was no complete response",
        presence: Always,
        clock: Part,
        of_connection: false,
        compared: true,
        bounded: true,
        on_terminal: true,
        rank: 0,
    }
    Lifetime lifetime {
        noun: "connection lifetime",
        definition: "From connected to closed.",
        watched: Some("From established to the connection’s last packet."),
        empty: "no connection was closed",
        presence: Always,
        clock: User,
        of_connection: true,
        compared: false,
        bounded: false,
        on_terminal: true,
        rank: 9,
    }
}

impl TimedPhase {
    /// Returns the name used in documents, gates and conditions.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the phase named `name`.
    pub fn named(name: &str) -> Option<TimedPhase> {
        TimedPhase::ALL.into_iter().find(|phase| phase.name() == name)
    }

    /// Returns the name within a sentence.
    pub fn noun(self) -> &'static str {
        self.row().noun
    }

    /// Returns the definition of the phase as a sentence.
    pub fn definition(self) -> &'static str {
        self.row().definition
    }

    /// Returns the definition of the phase in a watch, in which packets at the place of capture are
    /// timed. Phases that no watch has are defined as in a run.
    pub fn watched_definition(self) -> &'static str {
        self.row().watched.unwrap_or(self.definition())
    }

    /// Returns true if the result of a run has durations of the phase, outside of the section about
    /// TLS: in an open loop if `open`, where some were `measured`.
    pub(crate) fn is_in_result(self, open: bool, measured: bool) -> bool {
        match self.row().presence {
            PhasePresence::Always | PhasePresence::SinceVersion => true,
            PhasePresence::IfMeasured => measured,
            PhasePresence::OpenLoop => open,
            PhasePresence::WithTls => false,
        }
    }

    /// Returns why a result has no such phase, for a message.
    pub fn why_absent(self) -> &'static str {
        match self.row().presence {
            PhasePresence::WithTls => "there was no TLS",
            PhasePresence::IfMeasured => self.why_empty(),
            PhasePresence::SinceVersion => "the document is older than this figure",
            PhasePresence::Always | PhasePresence::OpenLoop => "a closed loop has none",
        }
    }

    /// Returns why a result has no durations of the phase, for a message.
    pub fn why_empty(self) -> &'static str {
        self.row().empty
    }

    /// Returns the rule by which a run times the phase.
    pub(crate) fn clock_rule(self) -> ClockRule {
        self.row().clock
    }

    /// Returns true if the phase belongs to a connection, which can be observed even if its
    /// exchanges are encrypted.
    pub fn is_of_connection(self) -> bool {
        self.row().of_connection
    }

    /// Returns true if a search can bound the phase.
    pub fn is_bounded(self) -> bool {
        self.row().bounded
    }

    /// Returns true if a terminal shows the phase. All are on the page and in documents.
    pub fn is_on_terminal(self) -> bool {
        self.row().on_terminal
    }

    /// Returns the phases whose durations are compared, in the order in which they are shown.
    pub fn compared() -> impl Iterator<Item = TimedPhase> + Clone {
        TimedPhase::ALL.into_iter().filter(|phase| phase.row().compared)
    }

    /// Returns the phases that a search can bound, in the order in which they are shown.
    pub fn bounded() -> impl Iterator<Item = TimedPhase> + Clone {
        TimedPhase::ALL.into_iter().filter(|phase| phase.row().bounded)
    }

    /// Returns all phases in the order of their charts: those of most interest first.
    pub fn by_interest() -> [TimedPhase; TimedPhase::ALL.len()] {
        let mut all = TimedPhase::ALL;
        all.sort_by_key(|phase| phase.row().rank);
        all
    }
}

impl<T> PerPhase<T> {
    /// Returns each value with its phase, in the order of an exchange.
    pub fn iter(&self) -> impl Iterator<Item = (TimedPhase, &T)> {
        TimedPhase::ALL.into_iter().map(|phase| (phase, &self[phase]))
    }
}

impl<T: for<'a> AddAssign<&'a T>> AddAssign<&PerPhase<T>> for PerPhase<T> {
    fn add_assign(&mut self, other: &PerPhase<T>) {
        TimedPhase::ALL.into_iter().for_each(|phase| self[phase] += &other[phase]);
    }
}

impl<T: TallyPart> TallyPart for PerPhase<T> {
    fn merge(&mut self, other: &PerPhase<T>) {
        TimedPhase::ALL.into_iter().for_each(|phase| self[phase].merge(&other[phase]));
    }

    fn since(&self, earlier: &PerPhase<T>) -> PerPhase<T> {
        PerPhase::from_fn(|phase| self[phase].since(&earlier[phase]))
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
    fn finds_phases_points_and_quantiles_by_name() {
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

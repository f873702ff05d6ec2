//! What figures are counted in, and the units that they are shown in.

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Microseconds.
    Time,
    /// Seconds.
    Seconds,
    /// Bytes a second.
    BytesPerS,
    /// A number a second.
    Frequency,
    /// A whole number of things.
    Count,
    /// 0 to 1.
    Share,
}

/// A unit that figures are shown in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricUnit {
    /// As it is written.
    pub name: &'static str,
    /// What it is a unit of.
    pub kind: MetricKind,
    /// How much of the kind's own unit it is.
    pub scale: f64,
}

/// The least and the most that a figure can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Bounds {
    /// Of logarithms and differences.
    pub const NONE: Bounds = Bounds { least: f64::NEG_INFINITY, most: f64::INFINITY };
}

const fn unit(name: &'static str, kind: MetricKind, scale: f64) -> MetricUnit {
    MetricUnit { name, kind, scale }
}

/// Every unit, the first of a kind being the one that its figures are kept in.
const UNITS: [MetricUnit; 13] = [
    unit("us", MetricKind::Time, 1.0),
    unit("ms", MetricKind::Time, 1e3),
    unit("s", MetricKind::Time, 1e6),
    unit("s", MetricKind::Seconds, 1.0),
    unit("B/s", MetricKind::BytesPerS, 1.0),
    unit("kB/s", MetricKind::BytesPerS, 1e3),
    unit("MB/s", MetricKind::BytesPerS, 1e6),
    unit("MiB/s", MetricKind::BytesPerS, 1_048_576.0),
    unit("Mbit/s", MetricKind::BytesPerS, 125e3),
    unit("1/s", MetricKind::Frequency, 1.0),
    unit("", MetricKind::Count, 1.0),
    unit("", MetricKind::Share, 1.0),
    unit("%", MetricKind::Share, 0.01),
];

impl MetricKind {
    /// The units of this kind, first the one that figures are kept in.
    pub fn units(self) -> impl Iterator<Item = MetricUnit> + Clone {
        UNITS.into_iter().filter(move |unit| unit.kind == self)
    }

    /// The unit that figures are kept in.
    pub fn base_unit(self) -> MetricUnit {
        self.units().next().unwrap_or(UNITS[0])
    }
}

//! The kinds of figures, and the units in which they are shown.

/// What a figure is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Microseconds.
    Time,
    /// Seconds.
    Seconds,
    /// Bytes per second.
    BytesPerS,
    /// A number per second.
    Frequency,
    /// A number of things.
    Count,
    /// A share, 0 to 1.
    Share,
    /// A mean number of things, which may be a fraction.
    Mean,
}

/// A unit in which figures are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricUnit {
    /// The unit as written.
    pub name: &'static str,
    /// The kind of figures that it applies to.
    pub kind: MetricKind,
    /// Its size in the base unit of the kind.
    pub scale: f64,
}

/// The least and the greatest possible figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

impl Bounds {
    /// No bounds, for logarithms and differences.
    pub const NONE: Bounds = Bounds { least: f64::NEG_INFINITY, most: f64::INFINITY };
}

const fn unit(name: &'static str, kind: MetricKind, scale: f64) -> MetricUnit {
    MetricUnit { name, kind, scale }
}

/// Every unit. The first of each kind is the one in which its figures are stored.
const UNITS: [MetricUnit; 14] = [
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
    unit("", MetricKind::Mean, 1.0),
    unit("", MetricKind::Share, 1.0),
    unit("%", MetricKind::Share, 0.01),
];

impl MetricKind {
    /// Returns the units of this kind, first the one in which figures are stored.
    pub fn units(self) -> impl Iterator<Item = MetricUnit> + Clone {
        UNITS.into_iter().filter(move |unit| unit.kind == self)
    }

    /// Returns the unit in which figures are stored.
    pub fn base_unit(self) -> MetricUnit {
        self.units().next().unwrap_or(UNITS[0])
    }
}

/// Writes a mean number of things with three significant digits.
pub fn write_mean(count: f64) -> String {
    let digits = match count {
        below_1 if below_1 < 1.0 => 3,
        below_10 if below_10 < 10.0 => 2,
        _ => 1,
    };
    format!("{count:.digits$}")
}

//! Charts: what they show, and the table behind each.

use serde::Serialize;

use super::table::Table;

/// A chart. What is serialized is what draws it.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// What it shows.
    #[serde(skip)]
    pub title: String,
    /// The same in words, with the figures that matter, for who can't see it.
    #[serde(skip)]
    pub about: String,
    /// Its figures; of a curve, points of it.
    #[serde(skip)]
    pub table: Table,
    /// What runs to the right.
    pub x: Axis,
    /// What runs up.
    pub y: Axis,
    /// What the places along `x` are called, where they have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Where along `x` there is a point of any series.
    pub xs: Vec<f64>,
    /// What is drawn.
    pub series: Vec<Series>,
    /// What lies behind it.
    pub bands: Vec<Band>,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// What it is of.
    pub label: String,
    /// How its numbers are written.
    pub unit: Unit,
    /// What stands behind plain ones.
    pub suffix: String,
    /// How they are spaced.
    pub scale: Scale,
    /// The lowest.
    pub from: f64,
    /// The highest.
    pub to: f64,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Microseconds, in the unit that suits them.
    Us,
    /// Seconds.
    S,
    /// Something a second.
    PerS,
    /// Bytes a second.
    BytesPerS,
    /// Bytes.
    Bytes,
    /// Bits a second.
    BitsPerS,
    /// A share of 1, in percent.
    Share,
    /// A change as a share, in percent with its sign.
    Change,
    /// 1 / (1 - share): 10 is 90 %, 100 is 99 %.
    Tail,
    /// Whole numbers.
    Count,
    /// As they are, before the axis's suffix.
    Plain,
    /// By the chart's labels.
    Label,
}

/// How numbers are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Log,
}

/// Something drawn, one point at each of the chart's `xs`.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// What it is of.
    pub name: String,
    /// The side that it is of, which has a colour and a marker: 0 is IPv6, 1 IPv4.
    pub side: usize,
    /// How it is drawn.
    pub mark: Mark,
    /// Up from `xs`; none where there is no point.
    pub ys: Vec<Option<f64>>,
    /// The lower ends of their intervals, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lows: Vec<Option<f64>>,
    /// The upper ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub highs: Vec<Option<f64>>,
    /// What stands in the place of a point, where something was sent and nothing measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Option<&'static str>>,
}

impl Series {
    /// One without intervals.
    pub fn new(name: String, side: usize, mark: Mark, ys: Vec<Option<f64>>) -> Series {
        let (lows, highs, missing) = (Vec::new(), Vec::new(), Vec::new());
        Series { name, side, mark, ys, lows, highs, missing }
    }
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// A line.
    Line,
    /// A fainter line, of something beside it.
    Faint,
    /// A line with markers.
    Points,
    /// Fainter ones.
    FaintPoints,
    /// Markers alone.
    Dots,
    /// Markers alone, which are not filled.
    Hollow,
    /// Steps from one point to the next, of a histogram.
    Steps,
    /// Fainter ones alone.
    FaintDots,
}

/// A range that is shown behind what is drawn.
#[derive(Clone, Debug, Serialize)]
pub struct Band {
    /// What it is.
    pub name: String,
    /// How it looks.
    pub role: Role,
    /// Its lower end, along `y` or, if [`Role::is_along_x`], along `x`.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// A line within it.
    pub at: Option<f64>,
}

/// What a band is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What counts as equivalent.
    Margin,
    /// An estimate's interval.
    Interval,
    /// What two equal sides differ by.
    Floor,
    /// What is not compared.
    Warmup,
    /// A last point of less time than the others.
    Partial,
    /// What a figure was to stay below.
    Bound,
    /// Between the rate that IPv6 held and the one that it did not.
    Bracket6,
    /// The same of IPv4.
    Bracket4,
}

impl Role {
    /// Its name in classes of the page, as the script has it.
    pub fn word(self) -> &'static str {
        match self {
            Role::Margin => "margin",
            Role::Interval => "interval",
            Role::Floor => "floor",
            Role::Warmup => "warmup",
            Role::Partial => "partial",
            Role::Bound => "bound",
            Role::Bracket6 => "bracket6",
            Role::Bracket4 => "bracket4",
        }
    }

    /// Whether it is a range of `x`, from the bottom to the top.
    pub fn is_along_x(self) -> bool {
        matches!(self, Role::Warmup | Role::Partial | Role::Bracket6 | Role::Bracket4)
    }
}

impl Axis {
    /// An evenly spaced one.
    pub fn linear(label: &str, unit: Unit, from: f64, to: f64) -> Axis {
        let (label, suffix) = (label.into(), String::new());
        Axis { label, unit, suffix, scale: Scale::Linear, from, to }
    }

    /// An axis that begins at 0.
    pub fn from_zero(label: &str, unit: Unit, values: impl Iterator<Item = f64>) -> Axis {
        let to = values.fold(0.0, f64::max);
        let to = if to > 0.0 { to * 1.06 } else { 1.0 };
        Axis::linear(label, unit, 0.0, to)
    }

    /// An axis of durations that begins at 0, or, where they are of different orders, a logarithmic
    /// one. What is shorter than `least` is drawn there.
    pub fn durations(label: &str, least: f64, values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::MAX, f64::min).max(least);
        let high = values.clone().fold(low, f64::max);
        if high / low < WIDE {
            return Axis::from_zero(label, Unit::Us, values);
        }
        let (from, to) = (low / 1.1, high * 1.1);
        Axis { scale: Scale::Log, ..Axis::linear(label, Unit::Us, from, to) }
    }

    /// An axis of rates that has room on both sides, logarithmic where they are of different orders.
    pub fn rates(label: &str, values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::MAX, f64::min);
        let high = values.fold(0.0, f64::max);
        if low > 0.0 && high / low >= WIDE {
            let (from, to) = (low / 1.15, high * 1.15);
            return Axis { scale: Scale::Log, ..Axis::linear(label, Unit::PerS, from, to) };
        }
        let room = ((high - low) * 0.06).max(high * 0.02).max(0.5);
        Axis::linear(label, Unit::PerS, (low - room).max(0.0), high + room)
    }
}

/// Where the longest is so many times the shortest, a linear axis would hide most of a curve.
const WIDE: f64 = 12.0;

/// Six digits are more than a screen can show.
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10_f64.powi(5 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value }
}

/// The values of all lines.
pub fn values(series: &[Series]) -> impl Iterator<Item = f64> {
    series.iter().flat_map(|series| series.ys.iter().flatten().copied())
}

/// The range of each line.
pub fn describe_series(series: &[Series], unit: &str, write: impl Fn(f64) -> String) -> String {
    let of = |series: &Series| {
        let all = || series.ys.iter().flatten().copied();
        let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        (low <= high).then(|| format!("{}: {} to {}{unit}.", series.name, write(low), write(high)))
    };
    series.iter().filter_map(of).collect::<Vec<_>>().join(" ")
}

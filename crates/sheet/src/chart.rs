//! Charts: their content, and the table of the data of each.

use serde::Serialize;

use super::table::Table;

/// A chart. Its serialized form is the input of the script that draws it.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// The title.
    #[serde(skip)]
    pub title: String,
    /// A description in words with the main figures, for readers who cannot see the chart.
    #[serde(skip)]
    pub about: String,
    /// A table of the data; for a curve, of selected points.
    #[serde(skip)]
    pub table: Table,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The names of the positions in `xs`, if they have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The positions along the horizontal axis at which any series has a point.
    pub xs: Vec<f64>,
    /// The data series.
    pub series: Vec<Series>,
    /// The ranges that are shown behind the series.
    pub bands: Vec<Band>,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// The label of the axis.
    pub label: String,
    /// The format of its numbers.
    pub unit: Unit,
    /// The text that follows the numbers of the unit [`Unit::Plain`].
    pub suffix: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The lowest value shown.
    pub from: f64,
    /// The highest value shown.
    pub to: f64,
}

/// The format of an axis's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Microseconds, shown in us, ms or s.
    Us,
    /// Seconds.
    S,
    /// Events per second.
    PerS,
    /// Bytes per second.
    BytesPerS,
    /// Bytes.
    Bytes,
    /// Bits per second.
    BitsPerS,
    /// A share (0 to 1), shown in percent.
    Share,
    /// A relative change, shown in percent with its sign.
    Change,
    /// A quantile `q` as 1 / (1 - `q`), shown in percent: 10 is 90 %, 100 is 99 %.
    Tail,
    /// Whole numbers.
    Count,
    /// Numbers without conversion, followed by the axis's suffix.
    Plain,
    /// The names in the chart's `labels`.
    Label,
}

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// A linear scale.
    Linear,
    /// A logarithmic scale.
    Log,
}

/// A data series, with one value for each of the chart's `xs`.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The name of the series.
    pub name: String,
    /// The index of the colour and the marker: 0 for IPv6, 1 for IPv4.
    pub side: usize,
    /// How the series is drawn.
    pub mark: Mark,
    /// The values, `None` where there is no point.
    pub ys: Vec<Option<f64>>,
    /// The lower ends of the values' intervals; empty if there are no intervals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lows: Vec<Option<f64>>,
    /// The upper ends of the intervals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub highs: Vec<Option<f64>>,
    /// For each position, the word shown instead of a point, where something was sent but nothing
    /// measured. Empty if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Option<&'static str>>,
}

impl Series {
    /// Creates a series without intervals.
    pub fn new(name: String, side: usize, mark: Mark, ys: Vec<Option<f64>>) -> Series {
        let (lows, highs, missing) = (Vec::new(), Vec::new(), Vec::new());
        Series { name, side, mark, ys, lows, highs, missing }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// A line.
    Line,
    /// A faint line, for secondary data.
    Faint,
    /// A line with markers.
    Points,
    /// A faint line with markers.
    FaintPoints,
    /// Markers without a line.
    Dots,
    /// Hollow markers without a line.
    Hollow,
    /// Steps from each point to the next, for histograms.
    Steps,
    /// A faint line with hollow markers, for what others published.
    HollowPoints,
}

/// A range that is shown behind the series.
#[derive(Clone, Debug, Serialize)]
pub struct Band {
    /// The name of the range.
    pub name: String,
    /// The kind of range, which determines its appearance.
    pub role: Role,
    /// The lower end: along `x` if [`Role::is_along_x`], otherwise along `y`.
    pub from: f64,
    /// The upper end.
    pub to: f64,
    /// The position of a line within the range.
    pub at: Option<f64>,
}

/// The kind of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The margin within which the sides count as equivalent.
    Margin,
    /// The interval of an estimate.
    Interval,
    /// The noise floor: the difference between two equal sides.
    Floor,
    /// The warmup, which is not compared.
    Warmup,
    /// The last point, if it covers less time than the others.
    Partial,
    /// The bound that a figure was required not to exceed.
    Bound,
    /// The range between the rate that IPv6 sustained and the one that it did not.
    Bracket6,
    /// The same range for IPv4.
    Bracket4,
}

impl Role {
    /// Returns the name used in the page's style classes and its script.
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

    /// Returns true if the band is a range of `x`, drawn over the whole height.
    pub fn is_along_x(self) -> bool {
        matches!(self, Role::Warmup | Role::Partial | Role::Bracket6 | Role::Bracket4)
    }
}

impl Axis {
    /// Creates an axis with a linear scale.
    pub fn linear(label: &str, unit: Unit, from: f64, to: f64) -> Axis {
        let (label, suffix) = (label.into(), String::new());
        Axis { label, unit, suffix, scale: Scale::Linear, from, to }
    }

    /// Creates an axis that begins at 0 and has room for all values.
    pub fn from_zero(label: &str, unit: Unit, values: impl Iterator<Item = f64>) -> Axis {
        let to = values.fold(0.0, f64::max);
        let to = if to > 0.0 { to * 1.06 } else { 1.0 };
        Axis::linear(label, unit, 0.0, to)
    }

    /// Creates an axis of durations in microseconds. It begins at 0 or, if the durations differ by
    /// a large factor, is logarithmic. Shorter durations than `least` are then drawn at its lower
    /// end.
    pub fn durations(label: &str, least: f64, values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::MAX, f64::min).max(least);
        let high = values.clone().fold(low, f64::max);
        if !is_wide(low, high) {
            return Axis::from_zero(label, Unit::Us, values);
        }
        let (from, to) = (low / 1.1, high * 1.1);
        Axis { scale: Scale::Log, ..Axis::linear(label, Unit::Us, from, to) }
    }

    /// Creates an axis of rates with room on both sides. It is logarithmic if the rates differ by a
    /// large factor.
    pub fn rates(label: &str, values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::MAX, f64::min);
        let high = values.fold(0.0, f64::max);
        if is_wide(low, high) {
            let (from, to) = (low / 1.15, high * 1.15);
            return Axis { scale: Scale::Log, ..Axis::linear(label, Unit::PerS, from, to) };
        }
        let room = ((high - low) * 0.06).max(high * 0.02).max(0.5);
        Axis::linear(label, Unit::PerS, (low - room).max(0.0), high + room)
    }
}

/// The ratio of the largest to the smallest value from which on an axis is logarithmic, because a
/// linear axis would hide most of a curve.
const WIDE: f64 = 12.0;

/// Returns true if values above 0 from `low` to `high` differ by so large a factor that their axis
/// should be logarithmic.
pub fn is_wide(low: f64, high: f64) -> bool {
    low > 0.0 && high / low >= WIDE
}

/// Rounds to six significant digits, which are more than a screen can show. Returns 0 if `value` is
/// not finite.
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10_f64.powi(5 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value }
}

/// Returns the values of all series.
pub fn values(series: &[Series]) -> impl Iterator<Item = f64> {
    series.iter().flat_map(|series| series.ys.iter().flatten().copied())
}

/// Describes the range of each series in words, with `unit` after the numbers.
pub fn describe_series(series: &[Series], unit: &str, write: impl Fn(f64) -> String) -> String {
    let of = |series: &Series| {
        let all = || series.ys.iter().flatten().copied();
        let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        (low <= high).then(|| format!("{}: {} to {}{unit}.", series.name, write(low), write(high)))
    };
    series.iter().filter_map(of).collect::<Vec<_>>().join(" ")
}

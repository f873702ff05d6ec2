//! The sides of a report: IPv6 and IPv4, or the two sides of a comparison.

use sixmark_http::HttpVersion;
use sixmark_result::measurement::Measurement;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::timed_phase::TimedPhase;
use sixmark_units::family::Family;
pub use sixmark_units::family::spoken as shown;

use sixmark_sheet::table::{Column, Row, SheetCell};

/// One side.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// The position, which determines the colour: 0 for IPv6, and for the side that a comparison
    /// judges.
    pub place: usize,
    /// The name.
    pub name: String,
    /// The figures.
    pub figures: &'a FamilyResult,
    /// The version of HTTP, which determines the meaning of error codes.
    pub version: HttpVersion,
    /// Whether the side's exchanges could not be observed, so that counts of them mean nothing.
    pub hidden: bool,
}

/// One side, or both. Tables of them show no differences, since figures also differ by chance; the
/// blocks of a comparison show those.
#[derive(Clone, Debug)]
pub struct Sides<'a> {
    /// The sides.
    pub all: Vec<Side<'a>>,
    /// The figures of both sides together, if the ratio of a run fixes each side's share of the
    /// rates, so that rates are not figures of the families; else `None`.
    pub both: Option<&'a FamilyResult>,
    /// Whether the figures are those of a watch, whose times have definitions of their own.
    pub watched: bool,
}

impl<'a> Sides<'a> {
    /// Returns the families of a run or a watch.
    pub fn of_families(measurement: &'a dyn Measurement) -> Sides<'a> {
        let version = measurement.version();
        let side = |(family, figures): (Family, &'a FamilyResult)| Side {
            place: usize::from(family == Family::Ipv4),
            name: family.to_string(),
            figures,
            version,
            hidden: measurement.hides_exchanges(family),
        };
        let all = measurement.families().iter().map(side).collect();
        Sides { all, both: both_of(measurement), watched: measurement.run().is_none() }
    }

    /// Returns one side alone.
    pub fn one(side: &Side<'a>) -> Sides<'a> {
        Sides { all: vec![side.clone()], both: None, watched: false }
    }

    /// Returns the definition of a phase in figures of this kind.
    pub fn definition(&self, phase: TimedPhase) -> &'static str {
        if self.watched { phase.watched_definition() } else { phase.definition() }
    }

    /// Returns a column named `first` for the names of rows, and a column for each side.
    pub fn columns(&self, first: &str) -> Vec<Column> {
        let names = self.all.iter().map(|side| Column::number(&side.name));
        std::iter::once(Column::words(first)).chain(names).collect()
    }

    /// Returns a row with a figure of each side.
    pub fn row(
        &self,
        label: &str,
        figure: impl Fn(&FamilyResult) -> Option<f64>,
        write: impl Fn(f64) -> String,
    ) -> Row {
        let cell = |value: Option<f64>| {
            value.map_or_else(SheetCell::none, |value| SheetCell::Number(write(value), value))
        };
        Row::new(label, self.all.iter().map(|side| cell(figure(side.figures))).collect())
    }

    /// Returns a row with a count of exchanges of each side: `not seen` for a side whose exchanges
    /// could not be observed.
    pub fn exchanges_row(
        &self,
        label: &str,
        figure: impl Fn(&FamilyResult) -> Option<f64>,
        write: impl Fn(f64) -> String,
    ) -> Row {
        let mut row = self.row(label, figure, write);
        for (side, cell) in self.all.iter().zip(&mut row.cells) {
            if side.hidden {
                *cell = "not seen".into();
            }
        }
        row
    }

    /// Returns true if the exchanges of no side could be observed.
    pub fn hides_all(&self) -> bool {
        !self.all.is_empty() && self.all.iter().all(|side| side.hidden)
    }

    /// Returns a row with a text for each side.
    pub fn words(&self, label: &str, of: impl Fn(&Side<'a>) -> String) -> Row {
        Row::new(label, self.all.iter().map(|side| of(side).into()).collect())
    }

    /// Returns true if the figure is above 0 for any side.
    pub fn any(&self, figure: impl Fn(&FamilyResult) -> Option<f64>) -> bool {
        self.all.iter().any(|side| figure(side.figures).is_some_and(|value| value > 0.0))
    }
}

/// Returns the figures of both families together, if all requests of both got a complete response,
/// except those that the end of the run cut off. Then the ratio fixes each family's share of the
/// rates. Returns `None` for a search, which loads each family alone, and for a watch, which has no
/// ratio.
fn both_of(measurement: &dyn Measurement) -> Option<&FamilyResult> {
    let run = measurement.run().filter(|run| run.find_max.is_none())?;
    let families = || run.families.iter().map(|(_, of)| of);
    let answered =
        families().all(|of| of.requests.completed > 0 && of.requests.completed == of.ended());
    (families().count() == 2 && answered).then_some(&run.total)
}

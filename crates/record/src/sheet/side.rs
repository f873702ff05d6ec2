//! What is beside what: IPv6 and IPv4, or the two sides of a comparison.

use crate::family_result::FamilyResult;
use crate::measurement::Measurement;
use crate::outcome::Outcome;
use sixmark_http::HttpVersion;
use sixmark_units::family::Family;
pub use sixmark_units::family::spoken as shown;

use sixmark_sheet::table::{Column, Row, SheetCell};

/// One side.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// Its place, which is its colour: IPv6 and what is judged are 0.
    pub place: usize,
    /// What it is called.
    pub name: String,
    /// Its figures.
    pub figures: &'a FamilyResult,
    /// The version of HTTP, whose numbers failures have.
    pub version: HttpVersion,
    /// Whether its exchanges could not be seen: counts of them say nothing.
    pub hidden: bool,
}

/// One side, or both. How they differ is for the blocks of a comparison to say: figures beside one
/// another differ by chance too.
#[derive(Clone, Debug)]
pub struct Sides<'a> {
    /// The side, or both.
    pub all: Vec<Side<'a>>,
    /// Both sides together, where the ratio of a run fixes each one's share of the rates: they are no
    /// figures of the families then.
    pub both: Option<&'a FamilyResult>,
}

impl<'a> Sides<'a> {
    /// The families of a run or a watch.
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
        Sides { all, both: both_of(measurement) }
    }

    /// One side alone.
    pub fn one(side: &Side<'a>) -> Sides<'a> {
        Sides { all: vec![side.clone()], both: None }
    }

    /// A column for each, after one for names.
    pub fn columns(&self, first: &str) -> Vec<Column> {
        let names = self.all.iter().map(|side| Column::number(&side.name));
        std::iter::once(Column::words(first)).chain(names).collect()
    }

    /// One figure of each side.
    pub fn row(
        &self,
        label: &str,
        figure: impl Fn(&FamilyResult) -> Option<f64>,
        write: impl Fn(f64) -> String,
    ) -> Row {
        self.row_of(label, |side| figure(side.figures), write)
    }

    /// The same of a count of exchanges: no side has one whose exchanges could not be seen.
    pub fn exchanges_row(
        &self,
        label: &str,
        figure: impl Fn(&FamilyResult) -> Option<f64>,
        write: impl Fn(f64) -> String,
    ) -> Row {
        self.row_of(label, |side| figure(side.figures).filter(|_| !side.hidden), write)
    }

    /// True where no side has an exchange that could be seen.
    pub fn hides_all(&self) -> bool {
        !self.all.is_empty() && self.all.iter().all(|side| side.hidden)
    }

    fn row_of(
        &self,
        label: &str,
        figure: impl Fn(&Side<'_>) -> Option<f64>,
        write: impl Fn(f64) -> String,
    ) -> Row {
        let cell = |value: Option<f64>| {
            value.map_or_else(SheetCell::none, |value| SheetCell::Number(write(value), value))
        };
        Row::new(label, self.all.iter().map(|side| cell(figure(side))).collect())
    }

    /// Words of each side.
    pub fn words(&self, label: &str, of: impl Fn(&Side<'a>) -> String) -> Row {
        Row::new(label, self.all.iter().map(|side| of(side).into()).collect())
    }

    /// True where any side has something of it.
    pub fn any(&self, figure: impl Fn(&FamilyResult) -> Option<f64>) -> bool {
        self.all.iter().any(|side| figure(side.figures).is_some_and(|value| value > 0.0))
    }
}

/// The figures of both families together, where each was sent its share of all requests and gave a complete
/// response to all of them. A search loads each alone, and a watch has no ratio.
fn both_of(measurement: &dyn Measurement) -> Option<&FamilyResult> {
    let run = measurement.run().filter(|run| run.find_max.is_none())?;
    let families = || run.families.iter().map(|(_, of)| of);
    let answered = families().all(|of| {
        let abandoned = of.outcomes.get(Outcome::Abandoned.name()).copied().unwrap_or(0);
        of.requests.completed > 0 && of.requests.completed + abandoned == of.requests.sent
    });
    (families().count() == 2 && answered).then_some(&run.total)
}

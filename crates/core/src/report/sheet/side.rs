//! What is beside what: IPv6 and IPv4, or the two sides of a comparison.

use crate::comparison::result::ComparisonResult;
use crate::family::Family;
use crate::plan::http::Version;
use crate::result::{FamilyResult, RunResult};

use super::table::{Cell, Column, Row};
use super::write;

/// One side.
#[derive(Clone, Debug)]
pub(super) struct Side<'a> {
    /// Its place, which is its colour: IPv6 and what is judged are 0.
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) figures: &'a FamilyResult,
    pub(super) version: Version,
}

/// One side, or both, and what may be said of their difference.
#[derive(Clone, Debug)]
pub(super) struct Sides<'a> {
    pub(super) all: Vec<Side<'a>>,
    /// Whether times may be compared.
    pub(super) times: bool,
    /// Whether rates may: where both sides share the time, the ratio fixes them.
    pub(super) rates: bool,
}

impl<'a> Sides<'a> {
    /// The families of a run.
    pub(super) fn of_run(result: &'a RunResult) -> Sides<'a> {
        let version = result.version();
        let side = |(family, figures): (Family, &'a FamilyResult)| Side {
            place: usize::from(family == Family::Ipv4),
            name: family.to_string(),
            figures,
            version,
        };
        let all = result.families.iter().map(side).collect();
        Sides { all, times: result.find_max.is_none(), rates: false }
    }

    /// The sides of a comparison.
    pub(super) fn of_comparison(result: &'a ComparisonResult) -> Sides<'a> {
        let both = [&result.sides.a, &result.sides.b].into_iter().enumerate();
        let side = |(place, side): (usize, &'a crate::comparison::result::Side)| Side {
            place,
            name: shown(&side.name),
            figures: &side.figures,
            version: side.plan.http.version,
        };
        Sides { all: both.map(side).collect(), times: true, rates: true }
    }

    /// A column for each, after one for names.
    pub(super) fn columns(&self, first: &str) -> Vec<Column> {
        let names = self.all.iter().map(|side| Column::number(&side.name));
        std::iter::once(Column::words(first)).chain(names).collect()
    }

    /// The same with one for how they differ, where that may be said.
    pub(super) fn compared_columns(&self, first: &str) -> Vec<Column> {
        let mut columns = self.columns(first);
        columns.extend(self.difference().map(Column::number));
        columns
    }

    /// `IPv6 to IPv4`, where there are both and they may be compared.
    pub(super) fn difference(&self) -> Option<String> {
        match self.all.as_slice() {
            [a, b] if self.times => Some(format!("{} to {}", a.name, b.name)),
            _ => None,
        }
    }

    /// One figure of each side, and how they differ where `compared`.
    pub(super) fn row(
        &self,
        label: &str,
        figure: impl Fn(&FamilyResult) -> Option<f64>,
        write: impl Fn(f64) -> String,
        compared: bool,
    ) -> Row {
        let values: Vec<_> = self.all.iter().map(|side| figure(side.figures)).collect();
        let cell = |value: &Option<f64>| {
            value.map_or_else(Cell::none, |value| Cell::Number(write(value), value))
        };
        let mut cells: Vec<Cell> = values.iter().map(cell).collect();
        if self.difference().is_some() {
            let change = match values.as_slice() {
                [a, b] if compared => write::between(*a, *b),
                _ => None,
            };
            cells.push(change.map_or_else(Cell::none, |by| Cell::Number(write::change(by), by)));
        }
        Row::new(label, cells)
    }

    /// Words of each side.
    pub(super) fn words(&self, label: &str, of: impl Fn(&Side<'a>) -> String) -> Row {
        let mut cells: Vec<Cell> = self.all.iter().map(|side| of(side).into()).collect();
        cells.extend(self.difference().map(|_| Cell::none()));
        Row::new(label, cells)
    }

    /// True where any side has something of it.
    pub(super) fn any(&self, figure: impl Fn(&FamilyResult) -> Option<f64>) -> bool {
        self.all.iter().any(|side| figure(side.figures).is_some_and(|value| value > 0.0))
    }
}

/// A side's name as people write it.
pub(super) fn shown(name: &str) -> String {
    match name {
        "ipv6" => "IPv6".into(),
        "ipv4" => "IPv4".into(),
        other => other.into(),
    }
}

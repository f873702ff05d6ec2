//! The published figures, in a TOML file of their own in the study's folder.

use crate::spec::column::{LevelFilter, PERCENT, column_name, column_of};
use crate::study_result::{At, PrintedFigure, PublishedRow, PublishedTable, TableColumn};
use sixmark_document::fields::{FileField, FileFields, FileMistake, FileText, Scalar};
use sixmark_tally::metric::{Metric, MetricKind};
use sixmark_units::family::Family;

/// Published figures, and the analyses that are computed from them.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedFigures {
    /// The title of the published study.
    pub title: String,
    /// Who published it, and when.
    pub source: String,
    /// The conditions of its measurements.
    pub conditions: String,
    /// Remarks about it.
    pub remarks: Vec<String>,
    /// Its tables.
    pub tables: Vec<PublishedTable>,
    /// The analyses to compute from its tables.
    pub analyses: Vec<AnalysisSpec>,
}

/// An analysis that is computed from a published table.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalysisSpec {
    /// Its title.
    pub title: String,
    /// The name of the table.
    pub table: String,
    /// What is computed.
    pub of: AnalysisSubject,
    /// A text that is added to the computed conclusion; may be empty.
    pub conclusion: String,
}

/// What an analysis computes.
#[derive(Clone, Debug, PartialEq)]
pub enum AnalysisSubject {
    /// The geometric mean of IPv6's figure over IPv4's, paired by the factors that are not in `by`.
    Ratio {
        /// The measure.
        measure: Metric,
        /// Factors; each combination of their levels is judged separately.
        by: Vec<String>,
    },
    /// Differences of shares.
    Shares(SharesSpec),
}

/// Shares of one measure in another.
#[derive(Clone, Debug, PartialEq)]
pub struct SharesSpec {
    /// The measure that counts the part.
    pub part: Metric,
    /// The measure that counts the whole.
    pub whole: Metric,
    /// The pairs of shares that are compared.
    pub pairs: Vec<(ShareOf, ShareOf)>,
}

/// The place of a share's figures in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareOf {
    /// The family.
    pub family: Family,
    /// Levels of the table's factors.
    pub at: LevelFilter,
}

const FAMILIES: [(&str, Family); 2] = [("ipv6", Family::Ipv6), ("ipv4", Family::Ipv4)];

/// Parses published figures.
///
/// # Errors
/// Returns all mistakes, each with its line in `file`.
pub(super) fn parse_published(
    text: &str,
    file: &str,
) -> Result<PublishedFigures, Vec<FileMistake>> {
    let book = FileText::new(text, Some(file));
    let table = book.parse().map_err(|wrong| vec![wrong])?;
    let figures = read_whole(FileFields::new(&book, "", 0, table.get_ref()));
    match (figures, book.into_wrongs()) {
        (Some(figures), wrongs) if wrongs.is_empty() => Ok(figures),
        (_, wrongs) => Err(wrongs),
    }
}

fn read_whole(mut fields: FileFields<'_>) -> Option<PublishedFigures> {
    let [title, source] = ["title", "source"].map(|name| fields.need(name)?.text());
    let conditions = fields.text("conditions").unwrap_or_default();
    let remarks = fields.texts("remarks");
    let tables: Vec<_> = fields.tables("tables").into_iter().filter_map(read_table).collect();
    let analyses = fields.tables("analyses");
    let analyses = analyses.into_iter().filter_map(|one| analysis(one, &tables)).collect();
    fields.end();
    let (title, source) = (title?, source?);
    Some(PublishedFigures { title, source, conditions, remarks, tables, analyses })
}

fn read_table(mut fields: FileFields<'_>) -> Option<PublishedTable> {
    let name = fields.need("name").and_then(|field| field.parsed(column_name));
    let title = fields.text("title").unwrap_or_default();
    let factors = fields.texts("factors");
    let improvements = fields.take("improvements").and_then(|field| field.flag()).unwrap_or(false);
    let columns = fields.need("columns").map_or(Vec::new(), |field| field.items());
    let columns: Vec<TableColumn> =
        columns.iter().filter_map(|field| column(field, improvements)).collect();
    let rows = fields.need("rows").map_or(Vec::new(), |field| field.items());
    let mut rows: Vec<_> =
        rows.iter().filter_map(|field| read_row(field, factors.len(), columns.len())).collect();
    if let Some(mut remarks) = fields.table("remarks") {
        remarks.rest().iter().for_each(|field| remark(field, &mut rows));
    }
    fields.end();
    Some(PublishedTable { name: name?, title, factors, columns, improvements, rows })
}

/// Parses a column: measure, unit, label, family, and levels of factors that rows don't have.
/// Improvements are in percent, whatever the measure's unit.
fn column(field: &FileField<'_>, improvements: bool) -> Option<TableColumn> {
    let mut fields = field.fields()?;
    let spec = column_of(&mut fields);
    let family = fields.take("family").and_then(|field| field.one_of(&FAMILIES));
    let mut at = fields.table("at").map_or(Vec::new(), levels);
    fields.end();
    let spec = spec?;
    if spec.of.is_some() {
        field.wrong("a published column has printed figures, not shares: omit of");
    }
    if improvements && spec.unit != spec.measure.base_unit() {
        field.wrong("improvements are in percent: omit unit");
    }
    let unit = if improvements { PERCENT.name } else { spec.unit.name };
    at.extend(family.map(at_family));
    Some(TableColumn {
        label: spec.label,
        measure: spec.measure,
        of: None,
        unit: unit.to_owned(),
        family,
        at,
    })
}

/// Returns the level of the factor `family` that stands for a family.
pub fn at_family(family: Family) -> At {
    At { factor: super::FAMILY.to_owned(), level: family_name(family).to_owned() }
}

/// Returns `ipv6` or `ipv4`.
pub fn family_name(family: Family) -> &'static str {
    match family {
        Family::Ipv6 => "ipv6",
        Family::Ipv4 => "ipv4",
    }
}

fn levels(mut fields: FileFields<'_>) -> LevelFilter {
    let at = |field: &FileField<'_>| {
        let level = text_of(field)?;
        Some(At { factor: field.name.clone(), level })
    };
    fields.rest().iter().filter_map(at).collect()
}

fn text_of(field: &FileField<'_>) -> Option<String> {
    Some(match field.scalar()? {
        Scalar::Flag(flag) => flag.to_string(),
        Scalar::Text(text) => text,
    })
}

/// Parses a row: levels, then figures.
fn read_row(field: &FileField<'_>, factors: usize, columns: usize) -> Option<PublishedRow> {
    let items = field.items();
    if items.len() != factors + columns {
        field.wrong(&format!(
            "a row has {} entries where factors and columns make {}",
            items.len(),
            factors + columns
        ));
        return None;
    }
    let (levels, values) = items.split_at(factors);
    let levels = levels.iter().map(text_of).collect::<Option<_>>()?;
    let values = values.iter().map(read_figure).collect::<Option<_>>()?;
    Some(PublishedRow { levels, values, remark: None })
}

/// Parses a figure or a range that is printed, `"-"` where nothing is, or `{ derived = … }` for what
/// only follows from what is printed.
fn read_figure(field: &FileField<'_>) -> Option<Option<PrintedFigure>> {
    if is_dash(field) {
        return Some(None);
    }
    if !field.is_table() {
        return printed(field).map(Some);
    }
    let mut fields = field.fields()?;
    let of = fields.need("derived").and_then(|field| printed(&field));
    fields.end();
    Some(Some(PrintedFigure { derived: true, ..of? }))
}

fn is_dash(field: &FileField<'_>) -> bool {
    let is_scalar = !field.is_list() && !field.is_table();
    is_scalar && matches!(field.scalar(), Some(Scalar::Text(text)) if text == "-")
}

/// Parses a figure, or the two ends of a range, with all digits that are written.
fn printed(field: &FileField<'_>) -> Option<PrintedFigure> {
    if !field.is_list() {
        let (value, printed) = number_as_written(field)?;
        let (low, high) = (None, None);
        return Some(PrintedFigure { printed, value: Some(value), low, high, derived: false });
    }
    let ends: Vec<(f64, String)> = field.items().iter().filter_map(number_as_written).collect();
    match &ends[..] {
        [(low, from), (high, to)] if low <= high => {
            let (printed, low, high) = (format!("{from} to {to}"), Some(*low), Some(*high));
            Some(PrintedFigure { printed, value: None, low, high, derived: false })
        }
        _ => {
            field.wrong("a range has two ends, the lower one first: [84, 103]");
            None
        }
    }
}

fn number_as_written(field: &FileField<'_>) -> Option<(f64, String)> {
    Some((field.number()?, text_of(field)?))
}

/// Parses a remark about a row. Its key is the levels of the row, joined by `, `, or the first of
/// them.
fn remark(field: &FileField<'_>, rows: &mut [PublishedRow]) {
    let Some(text) = field.text() else { return };
    let is_of = |row: &&mut PublishedRow| {
        row.levels.first() == Some(&field.name) || row.levels.join(", ") == field.name
    };
    match rows.iter_mut().find(is_of) {
        Some(row) => row.remark = Some(text),
        None => field.wrong("no row begins with this level, and none has these levels"),
    }
}

fn analysis(mut fields: FileFields<'_>, tables: &[PublishedTable]) -> Option<AnalysisSpec> {
    let title = fields.need("title").and_then(|field| field.text());
    let table = fields.need("table").and_then(|field| {
        let name = field.text()?;
        let known = tables.iter().find(|table| table.name == name);
        if known.is_none() {
            let names: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
            field.wrong(&format!("no table is called '{name}': {}", names.join(", ")));
        }
        known
    });
    let conclusion = fields.text("conclusion").unwrap_or_default();
    let kinds = [("ratio", true), ("shares", false)];
    let kind = fields.need("kind").and_then(|field| field.one_of(&kinds));
    let of = match kind {
        Some(true) => read_ratio(&mut fields),
        Some(false) => read_shares(&mut fields).map(AnalysisSubject::Shares),
        None => None,
    };
    fields.end();
    Some(AnalysisSpec { title: title?, table: table?.name.clone(), of: of?, conclusion })
}

fn read_ratio(fields: &mut FileFields<'_>) -> Option<AnalysisSubject> {
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse));
    let by = fields.texts("by");
    Some(AnalysisSubject::Ratio { measure: measure?, by })
}

fn read_shares(fields: &mut FileFields<'_>) -> Option<SharesSpec> {
    let mut count = |name| {
        let field = fields.need(name)?;
        field.parsed(|text| match text.parse::<Metric>()? {
            measure if measure.kind() == MetricKind::Count => Ok(measure),
            measure => Err(format!("{measure} is not a count")),
        })
    };
    let [part, whole] = ["part", "whole"].map(&mut count);
    let pairs = fields.tables("pairs");
    let pairs = pairs.into_iter().filter_map(|mut fields| {
        let [a, b] = ["a", "b"].map(|name| fields.need(name)?.fields().and_then(share_of));
        fields.end();
        a.zip(b)
    });
    Some(SharesSpec { pairs: pairs.collect(), part: part?, whole: whole? })
}

fn share_of(mut fields: FileFields<'_>) -> Option<ShareOf> {
    let family = fields.need("family").and_then(|field| field.one_of(&FAMILIES));
    let at = levels(fields);
    Some(ShareOf { family: family?, at })
}

impl PublishedOf {
    /// Returns the measure of this study that figures of a published measure stand for.
    pub fn measure_here(&self, published: Metric) -> Metric {
        match self.measure {
            Some((here, there)) if there == published => here,
            _ => published,
        }
    }
}

/// A table of the published figures, or the part of it at some levels.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedOf {
    /// The table's name.
    pub table: String,
    /// Levels of those of its factors that the study lacks.
    pub at: LevelFilter,
    /// Levels of the study's own factors, where alone it is shown.
    pub only: LevelFilter,
    /// A measure of this study, and the published one that stands for it: the published mean beside
    /// a median.
    pub measure: Option<(Metric, Metric)>,
}

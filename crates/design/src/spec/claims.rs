//! Claims that a study tests.
//!
//! ```toml
//! [[claims]]
//! id = "congestion"
//! text = "More congestion, more delay"
//! source = "section 4"
//! kind = "higher"
//! measure = "delay.mean"
//! a = { level = ["C4B", "C5B", "C6B"] }
//! b = { level = ["C1B", "C2B", "C3B"] }
//!
//! [[claims]]
//! id = "stalls"
//! text = "Large responses stall"
//! kind = "none"
//! measure = "NORMAL"
//! a = { file = "large" }
//! ```

mod derived;
mod kinds;
mod names;
mod precondition;
mod roles;
mod sentence;
mod tests_of_kinds;

use crate::spec::column::column_name;
use crate::spec::instruments::Instrument;
use crate::spec::known_names::KnownNames;
use crate::spec::published::PublishedOf;
use crate::study_result::{ClaimKind, ConnectionFigures, MARGIN_PERCENT};
use names::ClaimNames;
use sixmark_document::fields::{FileField, FileFields};
use sixmark_tally::metric::Metric;

pub use derived::DerivedFrom;
pub(super) use derived::find_wrong_derivations;
pub use names::published_levels;
pub use precondition::Precondition;
pub use roles::is_pattern;
pub use sentence::ClaimSentences;
pub use tests_of_kinds::{
    ClaimBounds, ClaimTest, Contrast, ExactTest, IndependentTest, OrderTest, OrderedLevels,
    Relation, ShareTest, SidesTest, TrendShape, TrendTest,
};

/// A claim to be tested.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimSpec {
    /// Its name, unique in the study.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// Where it stands in the published study; `None` for a claim of the study's own.
    pub source: Option<String>,
    /// Whether it is a main finding of the published study.
    pub main: bool,
    /// The figures that the published study prints for it, in words.
    pub printed: Option<String>,
    /// What is claimed.
    pub kind: ClaimKind,
    /// The measure that it is about.
    pub measure: Metric,
    /// What is tested.
    pub test: ClaimTest,
    /// The group of cells that it is tested on; `None` for all cells.
    pub group: Option<String>,
    /// The cells to which it is restricted.
    pub only: SideLevels,
    /// Whether the packets of the cells answer it, beside which the client's answer stands.
    pub by_packets: bool,
    /// The published figures that are tested in the same way.
    pub published: Option<PublishedOf>,
    /// Why it can't be tested on measured figures, in a clause.
    pub not_here: Option<String>,
    /// The claim that it is in other units. It is not tested, and has the answer of that one.
    pub derived_from: Option<DerivedFrom>,
    /// What must have occurred in the measured figures for it to be tested.
    pub precondition: Option<Precondition>,
    /// The sentences for the headline of the report.
    pub sentences: ClaimSentences,
}

/// Factors, each with the levels that are selected.
pub type SideLevels = Vec<(String, Vec<String>)>;

/// Parses the claims of a file.
pub(super) fn claims(tables: Vec<FileFields<'_>>, names: &KnownNames<'_>) -> Vec<ClaimSpec> {
    let mut all: Vec<ClaimSpec> = Vec::new();
    for fields in tables {
        all.extend(read_claim(fields, names, &all));
    }
    all
}

fn read_claim(
    mut fields: FileFields<'_>,
    names: &KnownNames<'_>,
    others: &[ClaimSpec],
) -> Option<ClaimSpec> {
    let field = fields.need("id");
    let id = field.as_ref().and_then(|field| field.parsed(column_name));
    if let Some(field) = field.filter(|_| others.iter().any(|other| Some(&other.id) == id.as_ref()))
    {
        field.wrong("another claim has this id");
    }
    let text = fields.need("text").and_then(|field| field.text());
    let source = read_source(&mut fields, names);
    let main = read_main(&mut fields, source.is_some());
    let derived_from = derived::read_derived(&mut fields);
    let [printed, not_here] = ["printed", "not_here"].map(|name| fields.text(name));
    let kind = fields.need("kind").and_then(|field| field.one_of(&KINDS));
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Metric>));
    let by_packets = read_instrument(&mut fields, names, measure);
    let published = read_published(&mut fields, names);
    let group = names.group(fields.take("group"));
    let names = ClaimNames::new(names, not_here.is_some(), published.as_ref());
    let only = fields.take("where").map_or(Vec::new(), |field| names.read_side(&field));
    let precondition = fields
        .take("precondition")
        .and_then(|field| precondition::read_precondition(&field, &names));
    let (kind, measure) = (kind?, measure?);
    let test = kinds::read_test(&mut fields, &names, kind, measure);
    let sentences = [fields.take("confirmed"), fields.take("refuted")];
    fields.end();
    let test = test?;
    let [confirmed, refuted] =
        sentences.map(|field| sentence::read_sentence(&field?, sentence::figure_names(&test)));
    let sentences = ClaimSentences { confirmed, refuted };
    let (id, text) = (id?, text?.trim_end_matches('.').to_owned());
    Some(ClaimSpec {
        id,
        text,
        source,
        main,
        printed,
        kind,
        measure,
        test,
        group,
        only,
        by_packets,
        published,
        not_here,
        derived_from,
        precondition,
        sentences,
    })
}

/// Parses where a claim stands in the published study.
fn read_source(fields: &mut FileFields<'_>, names: &KnownNames<'_>) -> Option<String> {
    let field = fields.take("source")?;
    if names.published.is_none() {
        field.wrong("the study has no published figures (published = \"published.toml\")");
    }
    field.text()
}

/// Parses whether a claim is a main finding of the published study.
fn read_main(fields: &mut FileFields<'_>, is_of_paper: bool) -> bool {
    let Some(field) = fields.take("main") else { return false };
    let main = field.flag().unwrap_or(false);
    if main && !is_of_paper {
        field.wrong("only a claim of the published study, which has a source, is a main finding");
    }
    main
}

/// Parses the instrument that answers a claim; returns whether it is the packets.
fn read_instrument(
    fields: &mut FileFields<'_>,
    names: &KnownNames<'_>,
    measure: Option<Metric>,
) -> bool {
    let Some(field) = fields.take("by") else { return false };
    let by_packets = field.one_of(&[("client", false), ("packets", true)]).unwrap_or(false);
    if by_packets && !names.instruments.contains(&Instrument::Packets) {
        field.wrong("the study does not capture packets: add instruments = [\"packets\"]");
    }
    let is_shown = |measure: &Metric| ConnectionFigures::default().has(*measure);
    if let Some(measure) = measure.filter(|measure| by_packets && !is_shown(measure)) {
        field.wrong(&format!(
            "packets do not show {measure}; allowed are connect.mean and lifetime.mean"
        ));
    }
    by_packets
}

/// Parses the published table whose figures are tested.
fn read_published(fields: &mut FileFields<'_>, names: &KnownNames<'_>) -> Option<PublishedOf> {
    let field = fields.take("published")?;
    let mut all = names.published(Some(field.clone()));
    if all.len() > 1 {
        field.wrong("a claim is tested on one published table");
    }
    all.pop()
}

/// Parses the difference that does not matter, in percent; default: [`MARGIN_PERCENT`].
pub(super) fn margin(fields: &mut FileFields<'_>) -> f64 {
    let margin = fields.take("margin").and_then(|field| field.number()).unwrap_or(MARGIN_PERCENT);
    if !(margin > 0.0 && margin < 100.0) {
        fields.wrong("margin is a percentage above 0 and below 100");
    }
    margin
}

/// The kinds by their names in a file.
const KINDS: [(&str, ClaimKind); 17] = [
    ("higher", ClaimKind::Higher),
    ("lower", ClaimKind::Lower),
    ("equal", ClaimKind::Equal),
    ("ratio", ClaimKind::Ratio),
    ("difference", ClaimKind::Difference),
    ("share", ClaimKind::Share),
    ("rises", ClaimKind::Rises),
    ("falls", ClaimKind::Falls),
    ("u-shaped", ClaimKind::UShaped),
    ("highest", ClaimKind::Highest),
    ("lowest", ClaimKind::Lowest),
    ("largest-difference", ClaimKind::LargestDifference),
    ("smallest-difference", ClaimKind::SmallestDifference),
    ("independent", ClaimKind::Independent),
    ("all", ClaimKind::AllOf),
    ("none", ClaimKind::NoneOf),
    ("exact", ClaimKind::Exact),
];

/// Returns the items of a list, or the one value that stands for a list of one.
fn items_or_one<'a>(field: &FileField<'a>) -> Vec<FileField<'a>> {
    if field.is_list() { field.items() } else { vec![field.clone()] }
}

//! What must have occurred for a claim to be tested.
//!
//! ```toml
//! precondition = { text = "the bare server retransmits", measure = "retransmitted", a = { server = "bare" }, at_least = 1 }
//! ```

use super::SideLevels;
use super::names::ClaimNames;
use sixmark_document::fields::FileField;
use sixmark_tally::metric::Metric;

/// What must have occurred in the measured figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Precondition {
    /// What must have occurred, in a clause.
    pub text: String,
    /// The measure that shows it.
    pub measure: Metric,
    /// The cells, of those to which the claim is restricted.
    pub a: SideLevels,
    /// The least sum of a count over the cells, or the least mean of another measure.
    pub at_least: Option<f64>,
    /// The greatest one.
    pub at_most: Option<f64>,
}

/// Parses a precondition.
pub(super) fn read_precondition(
    field: &FileField<'_>,
    names: &ClaimNames<'_>,
) -> Option<Precondition> {
    let mut fields = field.fields()?;
    let text = fields.need("text").and_then(|field| field.text());
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Metric>));
    let a = fields.need("a").map(|field| names.read_side(&field));
    let [at_least, at_most] =
        ["at_least", "at_most"].map(|name| fields.take(name).map(|field| field.number()));
    match (at_least, at_most) {
        (None, None) => field.wrong("give at_least, at_most, or both"),
        (Some(Some(least)), Some(Some(most))) if least > most => {
            field.wrong("at_least must not be above at_most");
        }
        _ => {}
    }
    fields.end();
    let text = text?.trim().trim_end_matches('.').to_owned();
    if text.is_empty() {
        field.wrong("the text of a precondition is not empty");
    }
    let [at_least, at_most] = [at_least, at_most].map(Option::flatten);
    Some(Precondition { text, measure: measure?, a: a?, at_least, at_most })
}

//! Claims and their answers, in a study's document.

use serde::{Deserialize, Serialize};

use sixmark_tally::metric::Metric;

/// A claim of the published study, or of this one, and its answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimResult {
    /// The name, unique in the study: letters, digits, `-` and `_`.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// Where it stands in the published study; null for a claim of this study's own.
    pub source: Option<String>,
    /// Whether it is a main finding of the published study. These have half of the level at which
    /// its claims are tested.
    #[serde(default)]
    pub main: bool,
    /// The id of the claim that it is in other units, and whose answers it has without a test of its
    /// own; null if it is tested itself.
    #[serde(default)]
    pub derived_from: Option<String>,
    /// What must have occurred in the measured figures for it to be tested; null if nothing must.
    #[serde(default)]
    pub precondition: Option<ClaimPrecondition>,
    /// What is claimed.
    pub kind: ClaimKind,
    /// The measure that the claim is about.
    pub measure: Metric,
    /// How the claim is tested, with the method's source.
    pub method: String,
    /// The figures that the published study prints for it; null if none are known.
    pub printed: Option<String>,
    /// The answer of the published figures; null if no published table has figures about it.
    pub published: Option<ClaimEvidence>,
    /// The instrument whose figures answer the claim. Documents of earlier versions lack it: the
    /// client's.
    #[serde(default)]
    pub by: ClaimInstrument,
    /// The answer of the measured figures.
    pub measured: ClaimEvidence,
    /// What the client's own figures would answer, if packets answer the claim; null otherwise.
    #[serde(default)]
    pub by_client: Option<ClaimEvidence>,
    /// The study's own sentence for this answer, with its figures and without a full stop; null if
    /// the study has none.
    pub said: Option<String>,
}

/// What must have occurred for a claim to be tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimPrecondition {
    /// What must have occurred, in a clause.
    pub text: String,
    /// The measure that shows it.
    pub measure: Metric,
    /// The least value at which it occurred; null if there is none.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub at_least: Option<f64>,
    /// The greatest value; null if there is none.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub at_most: Option<f64>,
    /// The sum of a count over its cells, or the mean of another measure in its base unit; null if it
    /// was not measured.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub value: Option<f64>,
}

/// An instrument whose figures answer a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ClaimInstrument {
    /// The client that makes the load.
    #[default]
    Client,
    /// The monitor of packets at the server's end.
    Packets,
}

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClaimKind {
    /// A is higher than B.
    Higher,
    /// A is lower than B.
    Lower,
    /// A and B differ by no more than the margin.
    Equal,
    /// The ratio of A to B is within bounds.
    Ratio,
    /// The difference of A and B is within bounds.
    Difference,
    /// The share of one count in another is within bounds.
    Share,
    /// The figure rises along an ordered factor.
    Rises,
    /// The figure falls along an ordered factor.
    Falls,
    /// The figure falls down to a level of an ordered factor, and rises from there.
    UShaped,
    /// The figure is highest at these levels.
    Highest,
    /// The figure is lowest at these levels.
    Lowest,
    /// The difference of A and B is largest at these levels.
    LargestDifference,
    /// The difference of A and B is smallest at these levels.
    SmallestDifference,
    /// No two levels of a factor differ by more than the margin.
    Independent,
    /// Every exchange of A is counted by the measure.
    #[serde(rename = "all")]
    AllOf,
    /// No exchange of A is counted by the measure.
    #[serde(rename = "none")]
    NoneOf,
    /// The count is an exact share of both families' at each level of a factor.
    Exact,
}

/// An answer to a claim, and the figures that it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimEvidence {
    /// The answer.
    pub answer: ClaimAnswer,
    /// Why the claim is not decided, tested or compared, or what the answer rests on, such as the
    /// levels at which it holds, in a clause without a full stop; null if the answer says it.
    pub why: Option<String>,
    /// The figures in words; empty if there are none.
    pub figures: String,
    /// The number of blocks: repetitions with all figures that the claim needs, or, for published
    /// figures, pairs or rows of them.
    pub blocks: u32,
    /// The estimate that the claim is about; null if there is none.
    pub estimate: Option<ClaimEstimate>,
    /// The counted exchanges of a claim about counts; null for other claims, and if nothing was
    /// sent.
    pub count: Option<ExchangeCount>,
    /// The least p-value of the answers that the test can give, such that the probability of a
    /// wrong one is at most that; null if no test was made.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p: Option<f64>,
    /// The p-value after Holm's correction over the claims that were tested: those of the published
    /// study by their weights (half for its main findings together, a quarter for other orders, a
    /// quarter for the rest), and apart from them the study's own, which weigh the same. In a study that
    /// goes on until its claims are decided, it is divided by the part of the level that the look has: a
    /// half, a quarter, and so on. An answer needs one of at most 0.05. Null if no test was made.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Part>"))]
    pub p_adjusted: Option<f64>,
    /// About how many more repetitions would decide an undecided claim if the figures went on as
    /// they are; null for other answers, for published figures, and if more than 128 times as many
    /// would be needed.
    pub more_blocks: Option<u32>,
    /// How long the cells that the claim needs take in these repetitions, in seconds; null without a
    /// forecast.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub more_s: Option<f64>,
    /// Whether the figures as they are, without a test, agree with the claim; null if they are
    /// missing.
    pub agrees: Option<bool>,
}

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimEstimate {
    /// What is estimated.
    pub of: ClaimScale,
    /// The value.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub value: f64,
    /// The lower end of its interval of 95 %; null if there are too few blocks.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub low: Option<f64>,
    /// The upper end; null if there are too few blocks.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub high: Option<f64>,
}

/// What an estimate is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClaimScale {
    /// A's figure divided by B's; for a trend, the figure at the last level divided by that at the
    /// first, along the fitted line; for an independence, the highest level's figure divided by the
    /// lowest's.
    Ratio,
    /// A's figure minus B's, in the measure's base unit.
    Difference,
    /// A share, 0 to 1.
    Share,
}

/// A count of exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeCount {
    /// The number of exchanges that the measure counts.
    pub counted: u64,
    /// The number of exchanges of which they are counted.
    pub sent: u64,
}

/// The answer to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClaimAnswer {
    /// The claim holds: a test shows it, or the count does.
    Holds,
    /// The claimed direction is shown, and that the size is another one than the claimed.
    HoldsInDirection,
    /// The claim is shown at some of its levels, and contradicted at others; `why` names them.
    HoldsInPart,
    /// The opposite of the claimed direction or order is shown.
    Opposite,
    /// It is shown that there is no difference beyond the margin.
    NoDifference,
    /// A test shows that the claim does not hold, or the count does, and there is no opposite:
    /// sides that are claimed to be equal differ, a share is out of its bounds. Documents of earlier
    /// versions have this value for every claim that does not hold.
    DoesNotHold,
    /// It was tested, and the figures do not decide it. Earlier versions wrote `cannot_tell`, also
    /// for claims that were not tested.
    #[serde(alias = "cannot_tell")]
    Undecided,
    /// It was not tested, because the figures that it needs were not measured, or because its
    /// precondition did not occur; `why` says why not.
    NotTested,
    /// The claim is about speed, and its cells gave different responses, or only errors.
    NotComparable,
}

impl ClaimAnswer {
    /// Returns the answer in words.
    pub fn words(self) -> &'static str {
        match self {
            ClaimAnswer::Holds => "holds",
            ClaimAnswer::HoldsInDirection => "holds in direction, not in size",
            ClaimAnswer::HoldsInPart => "holds in part",
            ClaimAnswer::Opposite => "does not hold: the opposite",
            ClaimAnswer::NoDifference => "does not hold: no difference that matters",
            ClaimAnswer::DoesNotHold => "does not hold",
            ClaimAnswer::Undecided => "undecided",
            ClaimAnswer::NotTested => "not tested",
            ClaimAnswer::NotComparable => "not comparable",
        }
    }

    /// Returns true if the claim was shown not to hold.
    pub fn denies(self) -> bool {
        matches!(self, ClaimAnswer::DoesNotHold | ClaimAnswer::Opposite | ClaimAnswer::NoDifference)
    }

    /// Returns true if a test or a count gave an answer.
    pub fn is_decided(self) -> bool {
        !matches!(
            self,
            ClaimAnswer::Undecided | ClaimAnswer::NotTested | ClaimAnswer::NotComparable
        )
    }
}

//! The names that a condition may use.

use super::lexer::{begins_word, in_word, is_operator};
use super::tree::{EstimateEnd, Function, GateSide, SideFigure};
use super::unit::Dimension;
use super::wrong::{GateMistake, instead};
use sixmark_document::verdict::Verdict;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::family::Family;

/// The sides that exist, and whether they are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateNames {
    sides: Vec<(String, GateSide)>,
    /// The side of figures without a side's name, if there is only one side.
    pub alone: Option<GateSide>,
    /// Whether it is compared.
    pub compared: bool,
    /// Figures and conditions that are known by their names alone.
    pub given: Vec<GivenName>,
}

/// A figure or a condition with a name of its own, such as `content(slow-200)`.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenName {
    /// Its name.
    pub name: &'static str,
    /// Whether it is a figure or a condition.
    pub kind: GivenKind,
    /// The names of what it may be of.
    pub of: Vec<String>,
    /// The noun of these.
    pub of_what: &'static str,
    /// Whether it may be of all of them: then nothing follows its name.
    pub may_be_of_all: bool,
}

/// The kind of a [`GivenName`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenKind {
    /// It holds or does not.
    Condition,
    /// A figure of this dimension.
    Value(Dimension),
}

impl GateNames {
    /// Returns the names of `sixmark run` and `watch`: the families in use, and `total`. Families
    /// that share the time are not compared, so there are no verdicts.
    pub fn of_run(families: impl IntoIterator<Item = Family>) -> GateNames {
        let side = |family| match family {
            Family::Ipv6 => ("ipv6".to_owned(), GateSide::Ipv6),
            Family::Ipv4 => ("ipv4".to_owned(), GateSide::Ipv4),
        };
        let mut sides: Vec<(String, GateSide)> = families.into_iter().map(side).collect();
        sides.push(("total".to_owned(), GateSide::Total));
        GateNames { sides, ..GateNames::default() }
    }

    /// Returns the names of a command that has figures with names of their own, and no sides.
    pub fn of_given(given: Vec<GivenName>) -> GateNames {
        GateNames { given, ..GateNames::default() }
    }

    /// Returns the names of `sixmark compare`: `a`, `b` and the given names of the sides. A given
    /// name is usable if it consists of ASCII letters, digits and `_`, and the names differ.
    pub fn of_comparison(a: &str, b: &str) -> GateNames {
        let mut sides = vec![("a".to_owned(), GateSide::A), ("b".to_owned(), GateSide::B)];
        let own = [(a, GateSide::A), (b, GateSide::B)];
        let usable = |name: &str| a != b && !["a", "b"].contains(&name) && is_word(name);
        let own = own.into_iter().filter(|(name, _)| usable(name));
        sides.extend(own.map(|(name, place)| (name.to_owned(), place)));
        GateNames { sides, compared: true, ..GateNames::default() }
    }

    /// Returns the names of a trial of `--find-max`: figures without a side's name, because a trial
    /// has one family.
    pub fn of_trial() -> GateNames {
        GateNames { alone: Some(GateSide::Total), ..GateNames::default() }
    }

    /// Returns a side's name for examples.
    pub fn example(&self) -> &str {
        let has = |name: &&str| self.side(name).is_some();
        let first = self.sides.first().map_or("total", |(name, _)| name);
        ["ipv6", "ipv4"].into_iter().find(has).unwrap_or(first)
    }

    /// Returns the names of all sides.
    pub fn sides(&self) -> Vec<&str> {
        self.sides.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn side(&self, name: &str) -> Option<GateSide> {
        self.sides.iter().find(|(known, _)| known == name).map(|&(_, place)| place)
    }

    /// Parses `SIDE.FIGURE`, or `FIGURE` if there is only one side. The word begins at byte `at` of
    /// `text`.
    pub fn figure(&self, text: &str, at: usize, word: &str) -> Result<SideFigure, GateMistake> {
        if let Some(side) = self.alone {
            return Ok(SideFigure {
                name: String::new(),
                side,
                metric: metric(text, at, ("", word))?,
            });
        }
        let (name, rest) = word.split_once('.').unwrap_or((word, ""));
        let side =
            self.side(name).ok_or_else(|| GateMistake::at(text, at, self.no_side(name, word)))?;
        let figure_at = at + name.len() + usize::from(!rest.is_empty());
        let metric = metric(text, figure_at, (name, rest))?;
        Ok(SideFigure { name: name.to_owned(), side, metric })
    }

    fn no_side(&self, name: &str, word: &str) -> String {
        if TimePoint::named(name).is_some() && name == word {
            return format!("{name} of what? Write {}.response.{name}", self.example());
        }
        if TimedPhase::named(name).is_some() || quantity(name).is_some() {
            return format!("which side? Write {}.{word}", self.example());
        }
        if ["ipv6", "ipv4", "total", "a", "b"].contains(&name) {
            format!("there is no side '{name}' here: {}", self.sides().join(", "))
        } else {
            format!("no side is called '{name}'{}", instead(name, &self.sides()))
        }
    }
}

fn is_word(name: &str) -> bool {
    name.starts_with(begins_word) && name.chars().all(in_word) && !is_operator(name)
}

/// Returns the quantity named `name`, if a family's result contains it.
fn quantity(name: &str) -> Option<Quantity> {
    Quantity::named(name).filter(|quantity| quantity.entry().read.is_some())
}

/// Parses the figure after the side's name, which is empty if there is only one side.
fn metric(text: &str, at: usize, (side, figure): (&str, &str)) -> Result<Metric, GateMistake> {
    let (first, rest) = figure.split_once('.').unwrap_or((figure, ""));
    let behind = at + first.len() + usize::from(!rest.is_empty());
    if let Some(phase) = TimedPhase::named(first) {
        return point(text, behind, (&figure_of(side, first), rest))
            .map(|point| Metric::Time(phase, point));
    }
    if first == "outcome" {
        return outcome(text, behind, (side, rest));
    }
    let Some(quantity) = quantity(first) else {
        return Err(GateMistake::at(text, at, no_figure(side, first)));
    };
    if figure == first {
        Ok(Metric::Quantity(quantity))
    } else {
        Err(GateMistake::at(text, behind, format!("nothing can follow {}", figure_of(side, first))))
    }
}

/// Returns the written form of a figure.
fn figure_of(side: &str, figure: &str) -> String {
    if side.is_empty() { figure.to_owned() } else { format!("{side}.{figure}") }
}

fn no_figure(side: &str, word: &str) -> String {
    if word.is_empty() {
        return format!("expected a figure of {side}, as in {side}.response.p99");
    }
    if TimePoint::named(word).is_some() {
        let figure = format!("response.{word}");
        return format!("{word} of what? Write {}", figure_of(side, &figure));
    }
    let quantities = Quantity::all().map(|quantity| quantity.entry());
    let quantities = quantities.filter(|entry| entry.read.is_some()).map(|entry| entry.name);
    let known: Vec<&str> = TimedPhase::ALL
        .map(TimedPhase::name)
        .into_iter()
        .chain(quantities)
        .chain(["outcome"])
        .collect();
    match side {
        "" => format!("no figure is called '{word}'{}", instead(word, &known)),
        _ => format!("{side} has no figure '{word}'{}", instead(word, &known)),
    }
}

fn point(text: &str, at: usize, (of, word): (&str, &str)) -> Result<TimePoint, GateMistake> {
    TimePoint::named(word).ok_or_else(|| {
        GateMistake::at(
            text,
            at,
            match word {
                "" => format!("expected a figure of {of}, as in {of}.p99"),
                _ => format!(
                    "{of} has no figure '{word}'{}",
                    instead(word, &TimePoint::ALL.map(TimePoint::name))
                ),
            },
        )
    })
}

fn outcome(text: &str, at: usize, (side, word): (&str, &str)) -> Result<Metric, GateMistake> {
    let found = Outcome::ALL.into_iter().find(|outcome| outcome.name() == word);
    found.map(Metric::Outcome).ok_or_else(|| {
        GateMistake::at(
            text,
            at,
            match word {
                "" => format!("expected an outcome, as in {}", figure_of(side, "outcome.RESET")),
                _ => format!(
                    "no outcome is called '{word}'{}",
                    instead(word, &Outcome::ALL.map(Outcome::name))
                ),
            },
        )
    })
}

/// The functions of a metric other than its verdict.
pub const FUNCTIONS: [Function; 8] = [
    Function::Ratio(EstimateEnd::Value),
    Function::Ratio(EstimateEnd::Low),
    Function::Ratio(EstimateEnd::High),
    Function::Difference(EstimateEnd::Value),
    Function::Difference(EstimateEnd::Low),
    Function::Difference(EstimateEnd::High),
    Function::P,
    Function::PHolm,
];

/// The verdicts that a metric can have.
pub const VERDICTS: [Verdict; 5] = [
    Verdict::Better,
    Verdict::Worse,
    Verdict::Equivalent,
    Verdict::Inconclusive,
    Verdict::NotComparable,
];

//! Parsing of words: figures, verdicts, functions and their metrics.

use super::{ParsedNode, ParsedPart, Parser};
use crate::expression::lexer::TokenKind;
use crate::expression::names::{FUNCTIONS, VERDICTS};
use crate::expression::tree::{Function, GateValue, Opinion, dimension_of};
use crate::expression::write::verdict_word;
use crate::expression::wrong::{GateMistake, instead};
use sixmark_tally::metric::compared::{compared_metrics, parse_compared_metric};
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::timed_phase::TimePoint;

impl<'a> Parser<'a> {
    pub(crate) fn word(&mut self, at: usize, word: &str) -> Result<ParsedPart, GateMistake> {
        self.next += 1;
        if !self.names.given.is_empty() {
            return self.given(at, word);
        }
        if self.is("(") {
            let node = self.function(at, word)?;
            return Ok(ParsedPart { at, node });
        }
        if let Some(verdict) = VERDICTS.into_iter().find(|&verdict| verdict_word(verdict) == word) {
            return Ok(ParsedPart { at, node: ParsedNode::Opinion(Opinion::Word(verdict)) });
        }
        let known = self.names.alone.is_some() || self.names.sides().contains(&word);
        let alone = !word.contains('.') && !known;
        // A quantile alone has a message of its own.
        let is_figure = parse_compared_metric(word).is_ok() || TimePoint::named(word).is_some();
        if alone && !is_figure {
            return Err(self.wrong(at, self.no_word(word)));
        }
        let figure = self.names.figure(self.text, at, word)?;
        let of = dimension_of(figure.metric);
        Ok(ParsedPart { at, node: ParsedNode::Value(GateValue::Figure(figure), of) })
    }

    fn no_word(&self, word: &str) -> String {
        if word == "verdict" || FUNCTIONS.iter().any(|function| function.name() == word) {
            return format!("{word} takes a metric, as in {word}(response.p50)");
        }
        let known: Vec<&str> =
            self.names.sides().into_iter().chain(VERDICTS.map(verdict_word)).collect();
        format!("'{word}' is neither a side nor a verdict{}", instead(word, &known))
    }

    fn function(&mut self, at: usize, name: &str) -> Result<ParsedNode, GateMistake> {
        let function = FUNCTIONS.into_iter().find(|function| function.name() == name);
        if function.is_none() && name != "verdict" {
            let known: Vec<&str> =
                ["verdict"].into_iter().chain(FUNCTIONS.map(Function::name)).collect();
            let what = format!("no function is called '{name}'{}", instead(name, &known));
            return Err(self.wrong(at, what));
        }
        if !self.names.compared {
            let what = format!("{name}() needs a comparison: use it with sixmark compare");
            return Err(self.wrong(at, what));
        }
        let open = self.at();
        self.next += 1;
        let metric = self.metric(function)?;
        self.close(open)?;
        Ok(match function {
            Some(function) => {
                ParsedNode::Value(GateValue::Compared(function, metric), function.dimension(metric))
            }
            None => ParsedNode::Opinion(Opinion::Of(metric)),
        })
    }

    fn metric(&mut self, function: Option<Function>) -> Result<Metric, GateMistake> {
        let TokenKind::Word(word) = self.kind() else {
            return Err(self.unexpected("expected a metric, as in response.p50"));
        };
        let metric = match parse_compared_metric(word) {
            Ok(metric) => metric,
            Err(_) => return Err(self.here(&no_metric(word, &self.names.sides()))),
        };
        if metric == Metric::Quantity(Quantity::Failures)
            && matches!(function, Some(Function::Ratio(_)))
        {
            return Err(self.here("failures have no ratio: use difference(failures)"));
        }
        self.next += 1;
        Ok(metric)
    }
}

/// Explains why a word is not a metric. Metrics belong to both sides, so they have no side's name.
fn no_metric(word: &str, sides: &[&str]) -> String {
    if let Some((side, rest)) = word.split_once('.')
        && sides.contains(&side)
        && parse_compared_metric(rest).is_ok()
    {
        return format!("a metric covers both sides: write {rest}");
    }
    let known: Vec<String> = compared_metrics().map(|metric| metric.to_string()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match instead(word, &known) {
        near if near.ends_with('?') => format!("no metric is called '{word}'{near}"),
        _ => parse_compared_metric(word).err().unwrap_or_default(),
    }
}

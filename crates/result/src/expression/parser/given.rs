//! Parsing of figures and conditions with names of their own, such as `survives(dead-ipv6)`.

use super::{ParsedNode, ParsedPart, Parser};
use crate::expression::lexer::TokenKind;
use crate::expression::names::{GivenKind, GivenName};
use crate::expression::tree::{GateValue, GivenFigure, Truth};
use crate::expression::unit::Dimension;
use crate::expression::wrong::{GateMistake, instead};

impl<'a> Parser<'a> {
    /// Parses a name, and what it is of. The word begins at byte `at`, and the token after it is the next.
    pub(crate) fn given(&mut self, at: usize, word: &str) -> Result<ParsedPart, GateMistake> {
        let names = self.names;
        let Some(given) = names.given.iter().find(|of| of.name == word) else {
            let known: Vec<&str> = names.given.iter().map(|of| of.name).collect();
            return Err(
                self.wrong(at, format!("no figure is called '{word}'{}", instead(word, &known)))
            );
        };
        let of = self.given_of(at, given)?;
        let node = match given.kind {
            GivenKind::Condition => {
                let dimension = Dimension::Bare;
                ParsedNode::Truth(Truth::Given(GivenFigure { name: given.name, of, dimension }))
            }
            GivenKind::Value(dimension) => {
                let figure = GivenFigure { name: given.name, of, dimension };
                ParsedNode::Value(GateValue::Given(figure), dimension)
            }
        };
        Ok(ParsedPart { at, node })
    }

    /// Parses what a figure is of, in brackets. Such a name may have a `-`, and need not consist of whole
    /// tokens, so it is taken from the text.
    fn given_of(&mut self, at: usize, given: &GivenName) -> Result<Option<String>, GateMistake> {
        let (name, what) = (given.name, given.of_what);
        let example = given.of.first().map_or("", String::as_str);
        if !self.is("(") {
            return if given.may_be_of_all {
                Ok(None)
            } else {
                Err(self.wrong(at, format!("{name} takes a {what}, as in {name}({example})")))
            };
        }
        let open = self.at();
        self.next += 1;
        let from = self.at();
        while !self.is(")") {
            if self.kind() == TokenKind::End {
                return self.close(open).map(|()| None);
            }
            self.next += 1;
        }
        let word = self.text.get(from..self.at()).unwrap_or("").trim();
        self.next += 1;
        if given.of.iter().any(|of| of == word) {
            return Ok(Some(word.to_owned()));
        }
        let known: Vec<&str> = given.of.iter().map(String::as_str).collect();
        Err(self.wrong(from, format!("no {what} is called '{word}' here{}", instead(word, &known))))
    }
}

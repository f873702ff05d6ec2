//! The parser of conditions: from text to a checked tree.

mod fits;
mod given;
mod operands;

use super::lexer::{Token, TokenKind, tokens};
use super::names::GateNames;
use super::tree::{Added, GateValue, Opinion, Relation, Scaled, Truth};
use super::unit::Dimension;
use super::wrong::GateMistake;
use super::{MOST_BYTES, MOST_NESTED};

/// Parses a whole condition.
pub fn parse_condition(text: &str, names: &GateNames) -> Result<Truth, GateMistake> {
    if text.len() > MOST_BYTES {
        return Err(GateMistake::at("", 0, format!("a gate has at most {MOST_BYTES} bytes")));
    }
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, nested: 0, names };
    let whole = parser.any()?;
    let whole = parser.truth(whole)?;
    match parser.kind() {
        TokenKind::End => Ok(whole),
        _ => Err(parser.unexpected("expected && or || or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    next: usize,
    nested: usize,
    names: &'a GateNames,
}

/// A parsed part and the byte offset at which it begins.
struct ParsedPart {
    at: usize,
    node: ParsedNode,
}

enum ParsedNode {
    Truth(Truth),
    Value(GateValue, Dimension),
    Opinion(Opinion),
}

const RELATIONS: [(&str, Relation); 6] = [
    ("<", Relation::Below),
    ("<=", Relation::AtMost),
    (">", Relation::Above),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
];

const ADDED: [(&str, Added); 2] = [("+", Added::Plus), ("-", Added::Less)];

const SCALED: [(&str, Scaled); 2] = [("*", Scaled::Times), ("/", Scaled::Over)];

/// The grammar, from the lowest to the highest precedence.
impl<'a> Parser<'a> {
    fn any(&mut self) -> Result<ParsedPart, GateMistake> {
        let first = self.all()?;
        self.rest_of("||", first, Self::all, Truth::Any)
    }

    fn all(&mut self) -> Result<ParsedPart, GateMistake> {
        let first = self.not()?;
        self.rest_of("&&", first, Self::not, Truth::All)
    }

    /// Parses the terms that follow the first, joined by `sign`. Returns the first one itself if
    /// there are no others.
    fn rest_of(
        &mut self,
        sign: &str,
        first: ParsedPart,
        read: fn(&mut Self) -> Result<ParsedPart, GateMistake>,
        join: fn(Vec<Truth>) -> Truth,
    ) -> Result<ParsedPart, GateMistake> {
        if !self.is(sign) {
            return Ok(first);
        }
        let at = first.at;
        let mut terms = vec![self.truth(first)?];
        while self.eat(sign) {
            let term = read(self)?;
            terms.push(self.truth(term)?);
        }
        Ok(ParsedPart { at, node: ParsedNode::Truth(join(terms)) })
    }

    fn not(&mut self) -> Result<ParsedPart, GateMistake> {
        let at = self.at();
        if !self.eat("!") {
            return self.relation();
        }
        let term = self.deeper(at, Self::not)?;
        let term = self.truth(term)?;
        Ok(ParsedPart { at, node: ParsedNode::Truth(Truth::Not(Box::new(term))) })
    }

    fn relation(&mut self) -> Result<ParsedPart, GateMistake> {
        let left = self.sum()?;
        let (at, between) = (left.at, self.at());
        let Some(relation) = self.one_of(&RELATIONS) else { return Ok(left) };
        let right = self.sum()?;
        if RELATIONS.iter().any(|(sign, _)| self.is(sign)) {
            return Err(self.here("compare two at a time, as in 1ms < x && x < 2ms"));
        }
        let truth = self.compared(left, relation, right, between)?;
        Ok(ParsedPart { at, node: ParsedNode::Truth(truth) })
    }

    fn sum(&mut self) -> Result<ParsedPart, GateMistake> {
        let first = self.product()?;
        if !ADDED.iter().any(|(sign, _)| self.is(sign)) {
            return Ok(first);
        }
        let at = first.at;
        let (value, mut of) = self.value(first)?;
        let mut terms = Vec::new();
        let mut between = self.at();
        while let Some(how) = self.one_of(&ADDED) {
            let term = self.product()?;
            let (term, its) = self.value(term)?;
            of = of.joint(its).ok_or_else(|| self.unlike(between, (of, its), how))?;
            terms.push((how, term));
            between = self.at();
        }
        Ok(ParsedPart { at, node: ParsedNode::Value(GateValue::Sum(Box::new(value), terms), of) })
    }

    fn product(&mut self) -> Result<ParsedPart, GateMistake> {
        let first = self.minus()?;
        if !SCALED.iter().any(|(sign, _)| self.is(sign)) {
            return Ok(first);
        }
        let at = first.at;
        let (value, mut of) = self.value(first)?;
        let mut factors = Vec::new();
        let mut between = self.at();
        while let Some(how) = self.one_of(&SCALED) {
            let factor = self.minus()?;
            let (factor, its) = self.value(factor)?;
            of = how.of(of, its).ok_or_else(|| self.meaningless(between, (of, its), how))?;
            factors.push((how, factor));
            between = self.at();
        }
        Ok(ParsedPart {
            at,
            node: ParsedNode::Value(GateValue::Product(Box::new(value), factors), of),
        })
    }

    fn minus(&mut self) -> Result<ParsedPart, GateMistake> {
        let at = self.at();
        if !self.eat("-") {
            return self.single();
        }
        let value = self.deeper(at, Self::minus)?;
        let (value, of) = self.value(value)?;
        Ok(ParsedPart { at, node: ParsedNode::Value(GateValue::Minus(Box::new(value)), of) })
    }

    fn single(&mut self) -> Result<ParsedPart, GateMistake> {
        let at = self.at();
        if self.eat("(") {
            let inner = self.deeper(at, Self::any)?;
            self.close(at)?;
            return Ok(ParsedPart { at, node: inner.node });
        }
        let node = match self.kind() {
            TokenKind::Number(literal) => {
                ParsedNode::Value(GateValue::Literal(literal), literal.dimension())
            }
            TokenKind::Word(word) => return self.word(at, word),
            _ => return Err(self.unexpected(&self.expected())),
        };
        self.next += 1;
        Ok(ParsedPart { at, node })
    }

    /// Parses something nested one level deeper.
    fn deeper(
        &mut self,
        at: usize,
        read: fn(&mut Self) -> Result<ParsedPart, GateMistake>,
    ) -> Result<ParsedPart, GateMistake> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(self.wrong(at, format!("nested more than {MOST_NESTED} deep")));
        }
        let part = read(self)?;
        self.nested -= 1;
        Ok(part)
    }
}

/// Access to tokens.
impl<'a> Parser<'a> {
    fn token(&self) -> Token<'a> {
        // The end token is never consumed, so there is always a token.
        self.tokens.get(self.next).copied().unwrap_or(Token { at: 0, kind: TokenKind::End })
    }

    fn kind(&self) -> TokenKind<'a> {
        self.token().kind
    }

    fn at(&self) -> usize {
        self.token().at
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.kind(), TokenKind::Sign(found) if found == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.next += usize::from(found);
        found
    }

    fn one_of<T: Copy>(&mut self, all: &[(&str, T)]) -> Option<T> {
        all.iter().find(|(sign, _)| self.eat(sign)).map(|&(_, found)| found)
    }

    fn close(&mut self, open: usize) -> Result<(), GateMistake> {
        if self.eat(")") {
            return Ok(());
        }
        let column = self.wrong(open, "").column;
        Err(self.unexpected(&format!("expected ) for the ( in column {column}")))
    }

    fn expected(&self) -> String {
        match self.names.given.first() {
            Some(given) => {
                let of = given.of.first().map_or("", String::as_str);
                format!("expected a figure, as in {}({of})", given.name)
            }
            None => format!("expected a figure, as in {}.response.p99", self.names.example()),
        }
    }

    fn wrong(&self, at: usize, what: impl Into<String>) -> GateMistake {
        GateMistake::at(self.text, at, what)
    }

    fn here(&self, what: &str) -> GateMistake {
        self.wrong(self.at(), what)
    }

    /// Returns a mistake that states what was expected and what was found.
    fn unexpected(&self, expected: &str) -> GateMistake {
        let found = match self.kind() {
            TokenKind::End => "the end".to_owned(),
            TokenKind::Sign(sign) => format!("'{sign}'"),
            TokenKind::Word(word) => format!("'{word}'"),
            TokenKind::Number(literal) => format!("'{literal}'"),
        };
        self.here(&format!("{expected}, and found {found}"))
    }
}

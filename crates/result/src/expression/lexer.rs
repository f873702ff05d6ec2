//! The tokens of a condition's text.

use super::tree::Literal;
use super::unit::{self, UNITS};
use super::wrong::{GateMistake, instead};

/// A token and the byte offset at which it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    pub at: usize,
    pub kind: TokenKind<'a>,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind<'a> {
    /// A number with its unit.
    Number(Literal),
    /// `ipv6.response.p99`, `verdict`, `worse`: words with dots between them.
    Word(&'a str),
    /// An operator or a bracket, in its canonical spelling.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// The written and the canonical spelling of each operator. An operator comes before any that is
/// its prefix.
const SIGNS: [(&str, &str); 15] = [
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("&&", "&&"),
    ("||", "||"),
    ("<", "<"),
    (">", ">"),
    ("!", "!"),
    ("(", "("),
    (")", ")"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
];

/// Operators that are words.
const WORDS: [(&str, &str); 3] = [("and", "&&"), ("or", "||"), ("not", "!")];

/// Returns true if the word is an operator, and therefore not a name.
pub(crate) fn is_operator(word: &str) -> bool {
    WORDS.iter().any(|(name, _)| *name == word)
}

/// Returns all tokens of a text, the last one being the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, GateMistake> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let last = token.kind == TokenKind::End;
        tokens.push(token);
        if last {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Token<'a>, GateMistake> {
        self.skip_blanks();
        let at = self.at;
        let kind = match self.rest().chars().next() {
            None => TokenKind::End,
            Some(c) if c.is_ascii_digit() || c == '.' => TokenKind::Number(self.number()?),
            Some(c) if begins_word(c) => self.word(),
            Some(c) => self.sign(c)?,
        };
        Ok(Token { at, kind })
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn wrong(&self, what: impl Into<String>) -> GateMistake {
        GateMistake::at(self.text, self.at, what)
    }

    fn skip_blanks(&mut self) {
        self.at += leading(self.rest(), |c| c.is_ascii_whitespace()).len();
    }

    fn take(&mut self, of: impl Fn(char) -> bool) -> &'a str {
        let taken = leading(self.rest(), of);
        self.at += taken.len();
        taken
    }

    fn word(&mut self) -> TokenKind<'a> {
        let word = self.take(|c| in_word(c) || c == '.');
        let operator = WORDS.iter().find(|(name, _)| *name == word);
        operator.map_or(TokenKind::Word(word), |&(_, sign)| TokenKind::Sign(sign))
    }

    fn sign(&mut self, first: char) -> Result<TokenKind<'a>, GateMistake> {
        let rest = self.rest();
        if let Some((written, sign)) = SIGNS.iter().find(|(written, _)| rest.starts_with(written)) {
            self.at += written.len();
            return Ok(TokenKind::Sign(sign));
        }
        Err(self.wrong(match first {
            '=' => "equal is written ==".to_owned(),
            '&' => "and is written &&".to_owned(),
            '|' => "or is written ||".to_owned(),
            '%' => "% follows a number, as in 5%".to_owned(),
            other => format!("'{}' has no meaning here", other.escape_debug()),
        }))
    }

    fn number(&mut self) -> Result<Literal, GateMistake> {
        let begin = self.at;
        let digits = self.take(|c| c.is_ascii_digit() || c == '.');
        let whole = |part: &str| !part.is_empty() && !part.contains('.');
        let well_formed = digits.split_once('.').is_none_or(|(a, b)| whole(a) && whole(b));
        let number = digits.parse().ok().filter(|number: &f64| well_formed && number.is_finite());
        let wrong = || GateMistake::at(self.text, begin, "expected a number, as in 10 or 0.5");
        let number = number.ok_or_else(wrong)?;
        let literal = Literal { number, unit: self.unit()? };
        if literal.value().is_finite() {
            Ok(literal)
        } else {
            Err(GateMistake::at(self.text, begin, "the number is too large"))
        }
    }

    /// Reads the unit after a number, with or without a blank in between, or nothing.
    fn unit(&mut self) -> Result<Option<&'static unit::GateUnit>, GateMistake> {
        let after_number = self.at;
        self.skip_blanks();
        let word = self.name();
        if is_operator(word) {
            return Ok(None);
        }
        let begin = self.at;
        self.at += word.len() + usize::from(word.is_empty() && self.rest().starts_with('%'));
        if self.per_second() && (word.is_empty() || self.is_unit(begin, "/s")) {
            self.at += "/s".len();
        }
        let name = self.text.get(begin..self.at).unwrap_or("");
        if name.is_empty() {
            self.at = after_number;
            return Ok(None);
        }
        let none = || format!("no unit is called '{name}'{}", instead(name, &names_of_units()));
        let none = || GateMistake::at(self.text, begin, none());
        unit::find_unit(name).map(Some).ok_or_else(none)
    }

    /// Returns the name at the current position; empty if there is none.
    fn name(&self) -> &'a str {
        if self.rest().starts_with(begins_word) { leading(self.rest(), in_word) } else { "" }
    }

    /// Returns whether the text from `begin` on, followed by `more`, is a unit.
    fn is_unit(&self, begin: usize, more: &str) -> bool {
        let read = self.text.get(begin..self.at).unwrap_or("");
        unit::find_unit(&format!("{read}{more}")).is_some()
    }

    /// Returns whether `/s` follows, rather than a division by a name that begins with `s`.
    fn per_second(&self) -> bool {
        let behind = self.rest().strip_prefix("/s").map(|behind| behind.chars().next());
        behind.is_some_and(|next| next.is_none_or(|c| !in_word(c) && c != '.'))
    }
}

fn names_of_units() -> Vec<&'static str> {
    UNITS.iter().map(|unit| unit.name).collect()
}

fn leading(text: &str, of: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !of(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or("")
}

/// Returns whether a name may begin with `c`.
pub(crate) fn begins_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Returns whether a name may continue with `c`.
pub(crate) fn in_word(c: char) -> bool {
    begins_word(c) || c.is_ascii_digit()
}

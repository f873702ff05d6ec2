//! What agents and runs are called. Names become parts of NATS subjects and of file names, so their
//! characters are limited.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name, in characters.
const LONGEST: usize = 64;

/// The name of an agent within its fleet: letters, digits, `-` and `_`, at most 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// The name of one load: all its records carry it. The same characters as in an [`AgentName`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LoadName(String);

impl AgentName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a name made from any text, for instance from a host's name: other characters become
    /// `-`, and what is too long is cut off.
    pub fn made_from(text: &str) -> AgentName {
        let made: String =
            text.chars().take(LONGEST).map(|c| if fits(c) { c } else { '-' }).collect();
        AgentName(if made.is_empty() { "agent".to_owned() } else { made })
    }
}

impl LoadName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

fn checked(text: String) -> Result<String, String> {
    match (1..=LONGEST).contains(&text.len()) && text.chars().all(fits) {
        true => Ok(text),
        false => Err(format!(
            "'{}' is not a name: use letters, digits, - and _, at most {LONGEST}",
            text.escape_debug()
        )),
    }
}

macro_rules! name_as_text {
    ($name:ident) => {
        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                checked(text.to_owned()).map($name)
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<$name, String> {
                checked(text).map($name)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name_as_text!(AgentName);
name_as_text!(LoadName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_names_that_are_safe_in_subjects_and_file_names() {
        for right in ["a", "host-7", "9f_A", &"x".repeat(LONGEST)] {
            assert_eq!(right.parse::<AgentName>().unwrap().as_str(), right);
        }
        for wrong in ["", ".", "a.b", "a/b", "a b", "*", ">", "ä", &"x".repeat(LONGEST + 1)] {
            assert!(wrong.parse::<AgentName>().is_err(), "{wrong}");
            assert!(wrong.parse::<LoadName>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn makes_a_valid_agent_name_from_any_text() {
        for (text, name) in [("web.example", "web-example"), ("", "agent"), ("u@[::1]", "u----1-")]
        {
            assert_eq!(AgentName::made_from(text).as_str(), name);
        }
        assert!(AgentName::made_from(&"ü".repeat(100)).as_str().parse::<AgentName>().is_ok());
    }
}

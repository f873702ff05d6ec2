//! Names that are counted: texts of this program and of its TLS library.
//!
//! Within a process they are static, so that counting them copies nothing. Those that a peer counted
//! have to be made static. The memory is never freed, so it must be bounded: a peer could otherwise
//! fill it with ever new names. A peer runs the same program, so that all peers together have few.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use sixmark_units::counts::Counts;

/// The most different names that a process learns from peers.
const MOST: usize = 256;
/// The longest name, in bytes.
const LONGEST: usize = 200;

/// The names learned so far.
static LEARNED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Reads counts by name.
///
/// # Errors
/// A name is too long, or there would be too many.
pub(crate) fn read_counts<'de, D>(from: D) -> Result<Counts<&'static str>, D::Error>
where
    D: Deserializer<'de>,
{
    let pairs = Vec::<(String, u64)>::deserialize(from)?;
    let known = pairs.into_iter().map(|(name, count)| Ok((learn(&LEARNED, &name)?, count)));
    let known = known.collect::<Result<_, String>>().and_then(Counts::from_pairs);
    known.map_err(D::Error::custom)
}

/// Returns the static form of a name.
fn learn(learned: &Mutex<BTreeSet<&'static str>>, name: &str) -> Result<&'static str, String> {
    let mut learned = learned.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = learned.get(name) {
        return Ok(known);
    }
    if name.len() > LONGEST {
        return Err(format!("a name has {} bytes, not {LONGEST} at most", name.len()));
    }
    if learned.len() >= MOST {
        return Err(format!("more than {MOST} different names are counted"));
    }
    let name: &'static str = Box::leak(Box::from(name));
    learned.insert(name);
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interns_each_name_once_and_limits_their_length_and_number() {
        let learned = Mutex::default();
        let one = learn(&learned, "one").unwrap();
        assert!(std::ptr::eq(one, learn(&learned, &["o", "ne"].concat()).unwrap()));
        assert!(learn(&learned, &"x".repeat(LONGEST + 1)).unwrap_err().contains("201 bytes"));
        (1..MOST).for_each(|number| {
            learn(&learned, &number.to_string()).unwrap();
        });
        assert!(learn(&learned, "too many").unwrap_err().contains("more than 256"));
        assert_eq!(learn(&learned, "one"), Ok(one));
    }
}

//! Data that another process sends, which is not trusted: forms and limits of its parts.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Returns true if `value` is the default, so that it need not be written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a list of at most `MOST` entries.
pub fn short<'de, const MOST: usize, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    let list = Vec::deserialize(from)?;
    if list.len() <= MOST {
        Ok(list)
    } else {
        Err(D::Error::custom(format!("a list has {} entries, not {MOST} at most", list.len())))
    }
}

/// Reads a number below `MOST`.
pub fn below<'de, const MOST: usize, D>(from: D) -> Result<usize, D::Error>
where
    D: Deserializer<'de>,
{
    let number = usize::deserialize(from)?;
    limited::<MOST, D::Error>(number)
}

/// Reads a number below `MOST`, or none.
pub fn below_or_none<'de, const MOST: usize, D>(from: D) -> Result<Option<usize>, D::Error>
where
    D: Deserializer<'de>,
{
    let number = Option::<usize>::deserialize(from)?;
    number.map(limited::<MOST, D::Error>).transpose()
}

fn limited<const MOST: usize, E: serde::de::Error>(number: usize) -> Result<usize, E> {
    if number < MOST {
        Ok(number)
    } else {
        Err(E::custom(format!("number {number} is not below {MOST}")))
    }
}

/// A count that may decrease, as a signed number. In memory it is unsigned, and differences wrap
/// around: the sum of all differences is then the count again.
pub mod signed {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the count.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(count: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(count.cast_signed())
    }

    /// Reads the count.
    ///
    /// # Errors
    /// It is not a number of 64 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        i64::deserialize(from).map(i64::cast_unsigned)
    }
}

/// A sum of 128 bits as decimal digits: JSON's numbers end at 64 bits.
pub mod digits {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the sum.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(sum: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(sum)
    }

    /// Reads the sum.
    ///
    /// # Errors
    /// It is not a number of 128 bits.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|_| D::Error::custom("a sum is not a whole number of 128 bits"))
    }
}

//! Extraction of a value from JSON by its pointer (RFC 6901), without building a tree of the rest:
//! a few bytes of JSON may decode to a tree of gigabytes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Returns the text of the value in `json` that `pointer` refers to, or `None` if there is none. Of
/// members with the same name the last one counts.
///
/// # Errors
/// `json` is not valid JSON.
pub(super) fn find_value<'a>(json: &'a [u8], pointer: &str) -> serde_json::Result<Option<&'a str>> {
    let tokens: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
        .collect();
    let mut reader = serde_json::Deserializer::from_slice(json);
    let found = Seek(&tokens).deserialize(&mut reader)?;
    reader.end()?;
    Ok(found)
}

/// The rest of the pointer.
#[derive(Clone, Copy)]
struct Seek<'p>(&'p [String]);

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Option<&'de str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            let value: &RawValue = serde::Deserialize::deserialize(from)?;
            Ok(Some(value.get()))
        } else {
            from.deserialize_any(self)
        }
    }
}

/// A scalar contains no further values.
macro_rules! nothing_in {
    ($($visit:ident: $kind:ty),*) => {
        $(fn $visit<E: Error>(self, _: $kind) -> Result<Self::Value, E> {
            Ok(None)
        })*
    };
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Option<&'de str>;

    nothing_in!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some((wanted, rest)) = self.0.split_first() else { return Ok(None) };
        let mut found = None;
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if name == wanted.as_str() {
                found = map.next_value_seed(Seek(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let Some((wanted, rest)) = self.0.split_first() else { return Ok(None) };
        // RFC 6901, 4: digits, without a leading zero.
        let digits = wanted.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = digits && (wanted == "0" || !wanted.starts_with('0'));
        let wanted: Option<usize> = wanted.parse().ok().filter(|_| is_number);
        let (mut found, mut at) = (None, 0);
        loop {
            match Some(at) == wanted {
                true => match list.next_element_seed(Seek(rest))? {
                    Some(value) => found = value,
                    None => return Ok(found),
                },
                false if list.next_element::<IgnoredAny>()?.is_none() => return Ok(found),
                false => {}
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const JSON: &str = r#" {"a": [1, {"b/c": "x", "~": null}, [2.50, true]], "": {"": -7},
        "twice": 1, "twice": [2], "caf\u00e9": "\ud83d\ude00", "0": {"00": 3}} "#;

    #[test]
    fn finds_the_same_values_as_serde_json_pointer() {
        let tree: Value = serde_json::from_str(JSON).unwrap();
        let mut present = 0;
        for pointer in [
            "",
            "/a",
            "/a/0",
            "/a/1/b~1c",
            "/a/1/~0",
            "/a/1/b",
            "/a/2/0",
            "/a/2/1",
            "/a/3",
            "/a/01",
            "/a/-",
            "/a/+1",
            "/",
            "//",
            "///",
            "/twice",
            "/twice/0",
            "/café",
            "/0/00",
            "/0/0",
            "/a/0/0",
            "/nothing",
            "/a/1/b~1c/x",
            "/a/99999999999999999999",
        ] {
            let found = find_value(JSON.as_bytes(), pointer).unwrap();
            let value = found.map(|text| serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(value.as_ref(), tree.pointer(pointer), "{pointer}");
            present += usize::from(value.is_some());
        }
        assert_eq!(present, 13);
        for text in ["", "{", "[1,]", "{\"a\":1} x", "nul", "[1"] {
            assert!(find_value(text.as_bytes(), "/a").is_err(), "{text}");
        }
        for text in ["7", "\"x\"", "null", "true", "1.5", "-3", "[]", "{}"] {
            assert_eq!(find_value(text.as_bytes(), "/a").unwrap(), None, "{text}");
        }
    }
}

//! Encoding of a request's field in the shortest form that enters no table.

use super::fixed::FIELDS;
use super::{integer, text};

/// Appends a field as an index of the static table or as a literal without indexing (RFC 7541, 6.1
/// and 6.2.2).
pub(crate) fn write_field(out: &mut Vec<u8>, name: &str, value: &str) {
    let place = |found: usize| found + 1;
    if let Some(at) = FIELDS.iter().position(|&known| known == (name, value)) {
        return integer::write_integer(out, 0x80, 7, place(at));
    }
    match FIELDS.iter().position(|&(known, _)| known == name) {
        Some(at) => integer::write_integer(out, 0, 4, place(at)),
        None => {
            out.push(0);
            text::write_string(out, 0, 7, name.as_bytes());
        }
    }
    text::write_string(out, 0, 7, value.as_bytes());
}

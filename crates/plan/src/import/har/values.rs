//! Values of an archive, read as the text that they stand for.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Returns the name of a field or parameter, and its value if that is text or absent.
pub(super) fn named(field: &Value) -> Option<(Cow<'_, str>, Option<Cow<'_, str>>)> {
    let field = field.as_object()?;
    let value = match field.get("value") {
        None | Some(Value::Null) => Some("".into()),
        Some(value) => text_of(value),
    };
    Some((text_at(field, "name")?, value))
}

/// Returns a member that is text and not empty.
pub(super) fn text_at<'v>(object: &'v Map<String, Value>, name: &str) -> Option<Cow<'v, str>> {
    text_of(object.get(name)?).filter(|text| !text.is_empty())
}

/// Returns a value as text. Numbers and booleans are what some tools write for their text.
pub(super) fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Number(number) => Some(number.to_string().into()),
        Value::Bool(truth) => Some(truth.to_string().into()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

//! A schema as text: names in a readable order, and short values on one line.

use serde_json::{Map, Value};

/// The longest line of a value that is not broken, in characters.
const WIDTH: usize = 110;

/// The names that come first in a schema, in this order. All others follow by name.
const FIRST: &[&str] = &[
    "$schema",
    "$id",
    "title",
    "description",
    "$ref",
    "type",
    "const",
    "required",
    "additionalProperties",
    "properties",
];

/// The name that comes last.
const LAST: &str = "$defs";

/// Returns a schema's text, with a line feed at its end.
pub fn layout_text(schema: &Value) -> String {
    let mut text = String::new();
    write_value(schema, FIRST, 0, &mut text);
    text.push('\n');
    text
}

/// Writes a value. The names in `first` come before others, in their order.
fn write_value(value: &Value, first: &[&str], indent: usize, to: &mut String) {
    let short = write_on_a_line(value, first);
    match value {
        _ if indent + short.chars().count() <= WIDTH => to.push_str(&short),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            write_words(items, indent + 2, to);
            close(']', indent, to);
        }
        Value::Array(items) => {
            to.push('[');
            for (number, item) in items.iter().enumerate() {
                begin_part(number, indent + 2, to);
                write_value(item, FIRST, indent + 2, to);
            }
            close(']', indent, to);
        }
        Value::Object(fields) => {
            to.push('{');
            for (number, (name, of)) in ordered(fields, first).into_iter().enumerate() {
                begin_part(number, indent + 2, to);
                to.push_str(&format!("{}: ", quoted(name)));
                write_value(of, &first_in(name, fields), indent + 2, to);
            }
            close('}', indent, to);
        }
        _ => to.push_str(&short),
    }
}

/// Returns the names that come first in the part `name` of a schema. Properties are in the order in
/// which they are required, which is that of the document.
fn first_in<'a>(name: &str, schema: &'a Map<String, Value>) -> Vec<&'a str> {
    match (name, schema.get("required").and_then(Value::as_array)) {
        ("properties", Some(required)) => required.iter().filter_map(Value::as_str).collect(),
        _ => FIRST.to_vec(),
    }
}

/// Writes as many words on a line as fit.
fn write_words(words: &[Value], indent: usize, to: &mut String) {
    to.push('[');
    let mut column = WIDTH;
    for (number, word) in words.iter().map(Value::to_string).enumerate() {
        let width = word.chars().count() + 2;
        if column + width > WIDTH {
            begin_part(number, indent, to);
            column = indent;
        } else {
            to.push_str(", ");
        }
        column += width;
        to.push_str(&word);
    }
}

/// Begins a new line with part number `number`.
fn begin_part(number: usize, indent: usize, to: &mut String) {
    to.push_str(if number > 0 { "," } else { "" });
    begin_line(indent, to);
}

fn begin_line(indent: usize, to: &mut String) {
    to.push('\n');
    to.push_str(&" ".repeat(indent));
}

fn close(with: char, indent: usize, to: &mut String) {
    begin_line(indent, to);
    to.push(with);
}

/// Returns a value on one line.
fn write_on_a_line(value: &Value, first: &[&str]) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", joined(items.iter().map(|item| write_on_a_line(item, FIRST))))
        }
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let named = |(name, of): (&str, &Value)| {
                format!("{}: {}", quoted(name), write_on_a_line(of, &first_in(name, fields)))
            };
            format!("{{ {} }}", joined(ordered(fields, first).into_iter().map(named)))
        }
        other => other.to_string(),
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

fn ordered<'a>(fields: &'a Map<String, Value>, first: &[&str]) -> Vec<(&'a str, &'a Value)> {
    let mut all: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let place = |name: &str| first.iter().position(|known| *known == name);
    // The order must not depend on whether the map preserves insertion order.
    all.sort_by_key(|&(name, _)| (name == LAST, place(name).unwrap_or(first.len()), name));
    all
}

//! The files docs/*.schema.json are what the types of the documents give. To write them anew:
//! `SIXMARK_WRITE_SCHEMAS=1 cargo test --workspace --test schemas`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use sixmark_testkit::document_schema;
use sixmark_testkit::document_schema::{DocumentSchema, layout_text};

/// What is to be typed after a type of a document has changed.
const COMMAND: &str = "SIXMARK_WRITE_SCHEMAS=1 cargo test --workspace --test schemas";

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// All objects within a schema, itself included, with their paths.
fn objects<'a>(path: String, value: &'a Value, found: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Object(fields) => {
            found.push((path.clone(), value));
            fields.iter().for_each(|(name, of)| objects(format!("{path}/{name}"), of, found));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(number, of)| objects(format!("{path}/{number}"), of, found));
        }
        _ => {}
    }
}

#[test]
fn schema_files_match_the_document_types() {
    let write = std::env::var_os("SIXMARK_WRITE_SCHEMAS").is_some();
    for document in document_schema::all() {
        let path = docs().join(document.file);
        if write {
            fs::write(&path, document.text()).unwrap();
        }
        let file = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            file == document.text(),
            "docs/{} is not what the types of the document give; write it anew: {COMMAND}",
            document.file
        );
    }
}

#[test]
fn every_schema_file_belongs_to_a_document_type() {
    let files = fs::read_dir(docs()).unwrap().map(|file| file.unwrap().file_name());
    let files = files.map(|name| name.into_string().unwrap());
    let found: BTreeSet<String> = files.filter(|name| name.ends_with(".schema.json")).collect();
    let given = document_schema::all().into_iter().map(|document| document.file.to_owned());
    assert_eq!(found, given.collect());
}

#[test]
fn every_schema_is_valid_complete_and_without_duplicate_types() {
    for DocumentSchema { file, schema } in document_schema::all() {
        assert!(jsonschema::meta::is_valid(&schema), "{file}");
        // It refers to nothing outside itself, and to nothing that is not there.
        jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{file}: {error}"));
        let definitions = schema["$defs"].as_object().unwrap();
        for name in definitions.keys() {
            let is_second = name.ends_with(|last: char| last.is_ascii_digit());
            assert!(!is_second, "{file}: {name} is a second type of that name: rename it");
        }
    }
}

#[test]
fn every_field_has_a_description_without_source_links() {
    for DocumentSchema { file, schema } in document_schema::all() {
        let mut all = Vec::new();
        objects(String::new(), &schema, &mut all);
        for (path, object) in all {
            let text = object.get("description").and_then(Value::as_str).unwrap_or_default();
            let is_link = text.contains("[`") || text.contains("`]");
            assert!(!is_link, "{file}{path} has a link to the source: {text}");
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            // A tag and a length of time say it by themselves; a condition says nothing of its own.
            let is_plain = object.get("const").is_some() || path.contains("Duration");
            let in_condition = ["/if", "/then", "/else"].iter().any(|word| path.contains(word));
            let is_field = parent.ends_with("/properties") && !is_plain && !in_condition;
            let is_known =
                !text.is_empty() || path.ends_with("/equal") || path.ends_with("/routes");
            assert!(!is_field || is_known, "{file}{path} is not described");
        }
    }
}

#[test]
fn schema_layout_keeps_short_values_on_one_line() {
    let long = "x".repeat(110);
    let schema = json!({ "$defs": {}, "a": [1, 2], "description": long, "type": "object" });
    let expected = format!(
        "{{\n  \"description\": \"{long}\",\n  \"type\": \"object\",\n  \"a\": [1, 2],\n  \
         \"$defs\": {{}}\n}}\n"
    );
    assert_eq!(layout_text(&schema), expected);
    assert_eq!(serde_json::from_str::<Value>(&layout_text(&schema)).unwrap(), schema);
}

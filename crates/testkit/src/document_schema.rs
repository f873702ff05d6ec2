//! The JSON Schemas of documents, generated from the types that write them: the files
//! `docs/*.schema.json`.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use sixmark_check::check_result as check;
use sixmark_check::check_result::CheckResult;
use sixmark_compare::comparison_result as compared;
use sixmark_compare::comparison_result::ComparisonResult;
use sixmark_design::study_result as study;
use sixmark_design::study_result::StudyResult;
use sixmark_doctor::doctor_result as doctor;
use sixmark_doctor::doctor_result::DoctorResult;
use sixmark_document::warning_codes::WARNING_CODES;
use sixmark_eyes::eyes_result as eyes;
use sixmark_eyes::eyes_result::EyesResult;
use sixmark_only6::only6_result as only6;
use sixmark_only6::only6_result::Only6Result;
use sixmark_result::result;
use sixmark_result::result::RunResult;
use sixmark_study::inspection::document as inspection;
use sixmark_study::inspection::document::InspectionResult;
use sixmark_traffic::traffic_result as traffic;
use sixmark_traffic::traffic_result::TrafficResult;
use sixmark_vitals::vitals_result as vitals;
use sixmark_vitals::vitals_result::VitalsResult;
use sixmark_watch::watch_result as watch;
use sixmark_watch::watch_result::WatchResult;

mod layout;

pub use layout::layout_text;

/// The schema of one kind of document.
#[derive(Clone, Debug)]
pub struct DocumentSchema {
    /// The name of the file in `docs`.
    pub file: &'static str,
    /// The schema, draft 2020-12, self-contained.
    pub schema: Value,
}

impl DocumentSchema {
    /// Returns the text of the file.
    pub fn text(&self) -> String {
        layout::layout_text(&self.schema)
    }
}

/// Returns all schemas.
pub fn all() -> Vec<DocumentSchema> {
    vec![
        DocumentSchema { file: "result.schema.json", schema: run_schema() },
        DocumentSchema {
            file: "watch.schema.json",
            schema: with_codes(schema_of::<WatchResult>(watch::SCHEMA)),
        },
        DocumentSchema {
            file: "comparison.schema.json",
            schema: with_codes(schema_of::<ComparisonResult>(compared::SCHEMA)),
        },
        DocumentSchema {
            file: "study.schema.json",
            schema: schema_of::<StudyResult>(study::SCHEMA),
        },
        DocumentSchema {
            file: "eyes-study.schema.json",
            schema: schema_of::<InspectionResult>(inspection::SCHEMA),
        },
        DocumentSchema {
            file: "traffic.schema.json",
            schema: schema_of::<TrafficResult>(traffic::SCHEMA),
        },
        DocumentSchema {
            file: "check.schema.json",
            schema: schema_of::<CheckResult>(check::SCHEMA),
        },
        DocumentSchema { file: "eyes.schema.json", schema: schema_of::<EyesResult>(eyes::SCHEMA) },
        DocumentSchema {
            file: "only6.schema.json",
            schema: schema_of::<Only6Result>(only6::SCHEMA),
        },
        DocumentSchema {
            file: "doctor.schema.json",
            schema: schema_of::<DoctorResult>(doctor::SCHEMA),
        },
        DocumentSchema {
            file: "vitals.schema.json",
            schema: schema_of::<VitalsResult>(vitals::SCHEMA),
        },
    ]
}

/// Returns the schema of the documents that `T` writes and whose field `schema` is `name`.
fn schema_of<T: JsonSchema>(name: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(finish));
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    schema["$id"] = json!(format!("urn:{}", name.replace(['.', '/'], ":")));
    schema["title"] = json!(name);
    schema["properties"]["schema"]["const"] = json!(name);
    if let Some(duration) = schema.pointer_mut("/$defs/Duration") {
        duration["description"] = json!("Whole seconds, and nanoseconds to add to them.");
        duration["properties"]["nanos"]["maximum"] = json!(999_999_999);
    }
    schema
}

/// Returns the schema of a run. Documents of earlier versions have two additional fields.
fn run_schema() -> Value {
    let mut schema = schema_of::<RunResult>(result::SCHEMA);
    schema["properties"]["comparison"] = json!({
        "description": "Only in documents of earlier versions, which compared the families over \
            the seconds of the run. Its verdicts are not reliable; docs/statistics.md explains \
            why.",
        "type": ["object", "null"],
    });
    schema["properties"]["watched"] = json!({
        "description": "Only in documents of earlier versions, whose watches had this format too.",
        "type": "null",
    });
    with_codes(schema)
}

/// Adds the codes of warnings that exist so far, as examples.
fn with_codes(mut schema: Value) -> Value {
    schema["$defs"]["Warning"]["properties"]["code"]["examples"] =
        json!(WARNING_CODES.iter().collect::<BTreeSet<_>>());
    schema
}

/// Completes what schemars leaves open in one schema.
fn finish(schema: &mut Schema) {
    let Some(fields) = schema.as_object_mut() else { return };
    // The value that a reader substitutes for an absent field does not matter for validation.
    fields.remove("default");
    bound_number(fields);
    close_object(fields);
    flow_text(fields);
}

/// Removes Rust's number formats, which other tools do not know, but keeps the lower bound that
/// they imply.
fn bound_number(fields: &mut Map<String, Value>) {
    let is_float = fields.remove("format").is_some_and(|format| format == "double");
    if is_float && !fields.contains_key("exclusiveMinimum") {
        fields.entry("minimum").or_insert_with(|| json!(0));
    }
}

/// Forbids unknown fields. A field that is not required is omitted rather than null.
fn close_object(fields: &mut Map<String, Value>) {
    let is_object = match fields.get("type") {
        Some(Value::Array(types)) => types.iter().any(|of| of == "object"),
        Some(of) => of == "object",
        None => false,
    };
    if !is_object || !fields.contains_key("properties") {
        return;
    }
    fields.entry("additionalProperties").or_insert(Value::Bool(false));
    let required = fields.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &String| required.as_array().is_some_and(|all| all.iter().any(|of| of == name));
    let properties = fields.get_mut("properties").and_then(Value::as_object_mut);
    let optional = properties.into_iter().flatten().filter(|(name, _)| !is_required(name));
    optional.for_each(|(_, property)| forbid_null(property));
}

/// Removes null from the values allowed for a property.
fn forbid_null(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|of| of != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(either)) = fields.get_mut("anyOf") {
        either.retain(|of| *of != json!({ "type": "null" }));
        if let [Value::Object(only)] = either.as_slice() {
            let only = only.clone();
            fields.remove("anyOf");
            fields.extend(only);
        }
    }
}

/// Reflows comments of the source: removes line breaks within paragraphs, and links.
fn flow_text(fields: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = fields.get_mut("description") {
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        *text = paragraphs.collect::<Vec<_>>().join("\n\n").replace("[`", "`").replace("`]", "`");
    }
}

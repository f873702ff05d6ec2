//! The published JSON Schemas of documents.

use jsonschema::{Draft, Registry, Validator};
use serde_json::{Value, json};

/// A schema, by its name and its text.
pub struct Form(&'static str, &'static str);

/// The schema of a run.
pub const RESULT: Form =
    Form("urn:sixmark:result:1", include_str!("../../../docs/result.schema.json"));
/// The schema of a watch.
pub const WATCH: Form =
    Form("urn:sixmark:watch:1", include_str!("../../../docs/watch.schema.json"));
/// The schema of a comparison.
pub const COMPARISON: Form =
    Form("urn:sixmark:comparison:1", include_str!("../../../docs/comparison.schema.json"));
/// The schema of a study.
pub const STUDY: Form =
    Form("urn:sixmark:study:1", include_str!("../../../docs/study.schema.json"));

/// The schema of a document of background traffic.
pub const TRAFFIC: Form =
    Form("urn:sixmark:traffic:1", include_str!("../../../docs/traffic.schema.json"));

/// The schema of a machine's counters.
pub const VITALS: Form =
    Form("urn:sixmark:vitals:1", include_str!("../../../docs/vitals.schema.json"));

/// The schema of what a machine allows.
pub const DOCTOR: Form =
    Form("urn:sixmark:doctor:1", include_str!("../../../docs/doctor.schema.json"));

/// The schema of a check.
pub const CHECK: Form =
    Form("urn:sixmark:check:1", include_str!("../../../docs/check.schema.json"));

/// The schema of what a client does.
pub const EYES: Form = Form("urn:sixmark:eyes:1", include_str!("../../../docs/eyes.schema.json"));

/// The schema of whether a program works with IPv6 alone.
pub const ONLY6: Form =
    Form("urn:sixmark:only6:1", include_str!("../../../docs/only6.schema.json"));

impl Form {
    /// Returns the schema as JSON.
    pub fn schema(&self) -> Value {
        serde_json::from_str(self.1).unwrap()
    }

    /// Returns a validator of the schema. All schemas are registered because they refer to one
    /// another.
    pub fn validator(&self) -> Validator {
        let all = [RESULT, WATCH, COMPARISON, STUDY, TRAFFIC, VITALS, DOCTOR, CHECK, EYES, ONLY6];
        let parsed = all.map(|form| (form.0, form.schema()));
        let known = Registry::new();
        let known =
            parsed.iter().fold(known, |known, (name, schema)| known.add(*name, schema).unwrap());
        let registry = known.prepare().unwrap();
        let options = jsonschema::options().with_draft(Draft::Draft202012);
        options.with_registry(&registry).build(&self.schema()).unwrap()
    }

    /// Asserts that a document conforms to the schema.
    pub fn check(&self, document: &Value) {
        let validator = self.validator();
        let errors = validator.iter_errors(document);
        let wrong: Vec<String> =
            errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "not of the published form: {wrong:#?}");
    }

    /// Removes each field of each object of a valid document in turn, and adds one field to each
    /// object. Asserts that every such document is invalid, except for objects for whose path
    /// `free` returns true.
    pub fn knows_every_field(&self, good: &Value, free: impl Fn(&str) -> bool) {
        let validator = self.validator();
        let mut paths = Vec::new();
        objects("", good, &mut paths);
        for path in paths.into_iter().filter(|path| !free(path)) {
            let fields = good.pointer(&path).unwrap().as_object().unwrap();
            for field in fields.keys() {
                let mut bad = good.clone();
                bad.pointer_mut(&path).unwrap().as_object_mut().unwrap().remove(field);
                assert!(!validator.is_valid(&bad), "{path}/{field} may be left out");
            }
            let mut bad = good.clone();
            bad.pointer_mut(&path).unwrap()["surplus"] = json!(1);
            assert!(!validator.is_valid(&bad), "{path} may have more");
        }
    }
}

/// Collects the paths of all objects in a document.
fn objects(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(path.to_owned());
            fields.iter().for_each(|(name, v)| objects(&format!("{path}/{name}"), v, found));
        }
        Value::Array(values) => {
            // The first element represents the others.
            values.first().iter().for_each(|v| objects(&format!("{path}/0"), v, found));
        }
        _ => {}
    }
}

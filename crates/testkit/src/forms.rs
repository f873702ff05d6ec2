//! The published forms of documents.

use jsonschema::{Draft, Registry, Validator};
use serde_json::{Value, json};

/// One of them, by its name and its text.
pub struct Form(&'static str, &'static str);

/// Of a run.
pub const RESULT: Form =
    Form("urn:sixmark:result:1", include_str!("../../../docs/result.schema.json"));
/// Of a watch.
pub const WATCH: Form =
    Form("urn:sixmark:watch:1", include_str!("../../../docs/watch.schema.json"));
/// Of a comparison.
pub const COMPARISON: Form =
    Form("urn:sixmark:comparison:1", include_str!("../../../docs/comparison.schema.json"));
/// Of a study.
pub const STUDY: Form =
    Form("urn:sixmark:study:1", include_str!("../../../docs/study.schema.json"));

/// Of background traffic.
pub const TRAFFIC: Form =
    Form("urn:sixmark:traffic:1", include_str!("../../../docs/traffic.schema.json"));

/// Of a machine's counters.
pub const VITALS: Form =
    Form("urn:sixmark:vitals:1", include_str!("../../../docs/vitals.schema.json"));

impl Form {
    /// As it is written.
    pub fn schema(&self) -> Value {
        serde_json::from_str(self.1).unwrap()
    }

    /// What checks it. The forms refer to one another.
    pub fn validator(&self) -> Validator {
        let parsed =
            [RESULT, WATCH, COMPARISON, STUDY, TRAFFIC, VITALS].map(|form| (form.0, form.schema()));
        let known = Registry::new();
        let known =
            parsed.iter().fold(known, |known, (name, schema)| known.add(*name, schema).unwrap());
        let registry = known.prepare().unwrap();
        let options = jsonschema::options().with_draft(Draft::Draft202012);
        options.with_registry(&registry).build(&self.schema()).unwrap()
    }

    /// Fails unless a document has this form.
    pub fn check(&self, document: &Value) {
        let validator = self.validator();
        let errors = validator.iter_errors(document);
        let wrong: Vec<String> =
            errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "not of the published form: {wrong:#?}");
    }

    /// Takes each field of each object of a good document away, and adds one: neither may pass, but
    /// for objects that `free` knows by their path.
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

/// The paths of all objects in a document.
fn objects(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(path.to_owned());
            fields.iter().for_each(|(name, v)| objects(&format!("{path}/{name}"), v, found));
        }
        Value::Array(values) => {
            // The first stands for its like.
            values.first().iter().for_each(|v| objects(&format!("{path}/0"), v, found));
        }
        _ => {}
    }
}

//! The lab that a study is carried out in.

use sixmark_clients::setting::VARIANT;
use std::collections::BTreeMap;

use sixmark_clients::setting::{Setting, SettingValue};
use sixmark_document::fields::{FileField, FileFields, FileText};
use sixmark_lab::plan as lab;
use sixmark_lab::plan::Lab;

/// The lab that a study is carried out in. Every cell names the host that generates its load.
#[derive(Clone, Debug, PartialEq)]
pub struct InLab {
    /// The lab's file, in the study's folder.
    pub file: String,
    /// The text of the file.
    pub text: String,
    /// The lab, without variants.
    pub lab: Lab,
    /// Whether the lab is rebuilt for every cell, not only if the variants change, so that nothing
    /// that a kernel has learned in one cell (path MTUs, congestion windows) affects the next.
    pub anew: bool,
    /// The place where packets are captured, if they are.
    pub capture: Option<Capture>,
}

/// The place where packets are captured while a cell is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The host or bridge.
    pub at: String,
    /// Its interface.
    pub interface: String,
}

/// Parses the table of a lab, and the lab's file, whose mistakes are added to `book`.
pub(super) fn in_lab(
    book: &FileText<'_>,
    fields: &mut FileFields<'_>,
    open: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Option<InLab> {
    let file = fields.need("file");
    let anew = fields.take("anew").and_then(|field| field.flag()).unwrap_or(false);
    let capture = fields.take("capture");
    let file = file?;
    let name = file.text()?;
    let text =
        open(&name).map_err(|why| file.wrong(&format!("can't read '{name}': {why}"))).ok()?;
    let lab = lab::parse_lab(&text, Some(&name), &BTreeMap::new());
    let lab = lab.map_err(|wrongs| book.extend(wrongs)).ok()?;
    let capture = capture.and_then(|field| read_capture(&field, &lab));
    Some(InLab { file: name, text, lab, anew, capture })
}

fn read_capture(field: &FileField<'_>, lab: &Lab) -> Option<Capture> {
    let mut fields = field.fields()?;
    let (at, interface) = (fields.need("at")?.text()?, fields.need("interface")?.text()?);
    fields.end();
    let is_there = lab
        .links
        .iter()
        .flat_map(|link| &link.ends)
        .any(|end| end.interface == interface && lab.node_name(end.node) == at);
    if !is_there {
        field.wrong(&format!("the lab has no '{at}' with an interface '{interface}'"));
    }
    Some(Capture { at, interface })
}

impl InLab {
    /// Returns the names of the hosts that may generate the load.
    pub(super) fn hosts(&self) -> Vec<&str> {
        self.lab.hosts.iter().map(|host| host.name.as_str()).collect()
    }

    /// Returns what is wrong with a setting that chooses a variant; `None` if it is valid, or
    /// another setting.
    pub(super) fn wrong(&self, setting: &Setting) -> Option<String> {
        let variant = setting.key.strip_prefix(VARIANT)?;
        let allowed = self.lab.variants.allowed.get(variant)?;
        match &setting.value {
            SettingValue::Text(text) if text.is_empty() || allowed.contains(text) => None,
            _ => Some(format!("is none of: {} (and \"\", as the file is)", allowed.join(", "))),
        }
    }

    /// Returns true if the key chooses one of the lab's variants.
    pub(super) fn has_key(&self, key: &str) -> bool {
        key.strip_prefix(VARIANT).is_some_and(|name| self.lab.variants.allowed.contains_key(name))
    }
}

/// Returns the variants of the lab that a cell's settings choose, by the name of the variant.
pub fn chosen(settings: &[&Setting]) -> BTreeMap<String, String> {
    let choice = |setting: &&Setting| match (&setting.value, setting.key.strip_prefix(VARIANT)) {
        (SettingValue::Text(text), Some(name)) if !text.is_empty() => {
            Some((name.to_owned(), text.clone()))
        }
        _ => None,
    };
    settings.iter().filter_map(choice).collect()
}

//! Parsing of factors, levels and settings.

use super::address_list::{ADDRESS_LIST, AddressList};
use super::imports::is_level_name;
use super::instruments::{INSTRUMENTS, NO_INSTRUMENTS};
use super::lab::InLab;
use super::{FAMILIES, FAMILY, Factor, Level};
use sixmark_clients::client::{Client, SAVE};
use sixmark_clients::setting::{Setting, SettingValue};
use sixmark_document::braces::is_name;
use sixmark_document::fields::{FileField, FileFields, Scalar};

/// The keys of a study that are not options of `sixmark run`.
pub(super) const OWN: [&str; 15] = [
    "family",
    "server",
    "client",
    "protocol",
    "concurrency",
    "size",
    "path",
    ADDRESS_LIST,
    "engine",
    "operation",
    "block",
    "depth",
    "iops",
    SAVE,
    INSTRUMENTS,
];

/// The options of `sixmark run` that a study refuses, with the reasons.
const REFUSED: [(&str, &str); 16] = [
    ("json", "every cell is kept as a document anyway"),
    ("csv", "the study has tables instead"),
    ("html", "the study has a page of its own"),
    ("store", "the study as a whole is kept"),
    ("label", "a label applies to the whole study: sixmark study run --label"),
    ("fail-if", "gates apply to runs and comparisons, not to cells"),
    ("junit", "gates apply to runs and comparisons, not to cells"),
    ("quiet", "cells print nothing"),
    ("in", "write from = \"HOST\", with a table [lab]"),
    ("lab", "write a table [lab]"),
    ("ipv6", "write family = \"ipv6\""),
    ("ipv4", "write family = \"ipv4\""),
    ("http2", "write protocol = \"http/2\""),
    ("http3", "write protocol = \"http/3\""),
    ("http1.0", "write protocol = \"http/1.0\""),
    ("http2-prior-knowledge", "write protocol = \"h2c\""),
];

/// The values of `protocol`.
pub(super) const PROTOCOLS: [&str; 5] = ["http/1.0", "http/1.1", "http/2", "h2c", "http/3"];

/// The maximum number of levels of a factor.
const MOST_LEVELS: usize = 10_000;

/// The names that settings are checked against.
pub(super) struct Known<'a> {
    /// Whether `sixmark run` has an option of this name.
    pub(super) has_option: &'a dyn Fn(&str) -> bool,
    /// The names of the services.
    pub(super) services: Vec<String>,
    /// The names that occur in braces in texts of the study.
    pub(super) placeholders: Vec<String>,
    /// The lab, if the study has one.
    pub(super) lab: Option<&'a InLab>,
    /// The names of the mixes of background traffic.
    pub(super) traffic: Vec<String>,
}

/// Parses the settings of a table.
pub(super) fn settings(fields: Option<FileFields<'_>>, known: &Known<'_>) -> Vec<Setting> {
    let rest = fields.map_or(Vec::new(), |mut fields| fields.rest());
    rest.iter().filter_map(|field| setting(field, known)).collect()
}

/// Parses a key and its value.
fn setting(field: &FileField<'_>, known: &Known<'_>) -> Option<Setting> {
    let key = key_of(field, known)?;
    let value =
        if field.is_list() { SettingValue::List(field.texts()) } else { given(field.scalar()?) };
    check_setting(Setting { key, value, line: field.line() }, field, known)
}

fn given(scalar: Scalar) -> SettingValue {
    match scalar {
        Scalar::Flag(flag) => SettingValue::Flag(flag),
        Scalar::Text(text) => SettingValue::Text(text),
    }
}

/// Returns the key as it is stored, with `-` instead of `_`, or reports that it is not a setting.
fn key_of(field: &FileField<'_>, known: &Known<'_>) -> Option<String> {
    let key = field.name.replace('_', "-");
    if let Some((_, why)) = REFUSED.iter().find(|(name, _)| *name == key) {
        field.wrong(&format!("this option of sixmark run does not apply to a study: {why}"));
        return None;
    }
    let used = known.placeholders.contains(&field.name);
    if OWN.contains(&key.as_str()) || (known.has_option)(&key) || used {
        // A name in braces is written as it is.
        return Some(if used { field.name.clone() } else { key });
    }
    let of_lab = matches!(key.as_str(), "from" | "traffic");
    if known.lab.is_some_and(|lab| of_lab || lab.has_key(&key)) {
        return Some(key);
    }
    if of_lab {
        field.wrong("only a study in a lab has hosts: [lab] file = \"lab.toml\"");
        return None;
    }
    field.wrong(&format!(
        "is not a setting; allowed are {}, the long options of sixmark run (sixmark run --help), and \
         names that path, files or services have in braces",
        OWN.join(", ")
    ));
    None
}

fn check_setting(setting: Setting, field: &FileField<'_>, known: &Known<'_>) -> Option<Setting> {
    let wrong = match (setting.key.as_str(), &setting.value) {
        ("family", value) => among(value, &["ipv6", "ipv4", "both"]),
        ("protocol", value) => among(value, &PROTOCOLS),
        ("client", value) => among(value, &Client::NAMES),
        ("server", value) => {
            let names: Vec<_> = known.services.iter().map(String::as_str).collect();
            among(value, &names)
        }
        ("from", value) => {
            let hosts = known.lab.map_or(Vec::new(), InLab::hosts);
            match value {
                SettingValue::List(list) => not_hosts(list, &hosts),
                value => among(value, &hosts),
            }
        }
        ("traffic", SettingValue::Text(text)) if text.is_empty() => None,
        ("traffic", value) => {
            let names: Vec<_> = known.traffic.iter().map(String::as_str).collect();
            among(value, &names)
        }
        (INSTRUMENTS, value) => among(value, &["all", NO_INSTRUMENTS]),
        ("concurrency", SettingValue::Text(text)) if text.parse::<u32>().is_ok_and(|n| n > 0) => {
            None
        }
        ("concurrency", _) => Some("is not a whole number of 1 or more".to_owned()),
        ("size", SettingValue::Text(_)) => None,
        (ADDRESS_LIST, SettingValue::Text(text)) => text.parse::<AddressList>().err(),
        ("path", SettingValue::Text(text)) if text.starts_with('/') => None,
        ("size" | "path", _) => Some("is a number for size, for path a text with / before".into()),
        _ => known.lab.and_then(|lab| lab.wrong(&setting)),
    };
    match wrong {
        Some(message) => {
            field.wrong(&message);
            None
        }
        None => Some(setting),
    }
}

/// Returns what is wrong with a list of hosts that generate the load together.
fn not_hosts(list: &[String], hosts: &[&str]) -> Option<String> {
    let is_twice = |host: &&String| list.iter().filter(|other| other == host).count() > 1;
    if let Some(host) = list.iter().find(is_twice) {
        return Some(format!("'{host}' occurs twice"));
    }
    if list.is_empty() {
        return Some(format!("names no host: {}", hosts.join(", ")));
    }
    list.iter().find_map(|host| among(&SettingValue::Text(host.clone()), hosts))
}

fn among(value: &SettingValue, allowed: &[&str]) -> Option<String> {
    let names = if allowed.is_empty() { "there are none".into() } else { allowed.join(", ") };
    match value {
        SettingValue::Text(text) if allowed.contains(&text.as_str()) => None,
        SettingValue::Text(text) => Some(format!("'{text}' is not one of: {names}")),
        _ => Some(format!("expected one of: {names}")),
    }
}

/// Parses the factors of a table, in the order of the file.
pub(super) fn factors(fields: Option<FileFields<'_>>, known: &Known<'_>) -> Vec<Factor> {
    let rest = fields.map_or(Vec::new(), |mut fields| fields.rest());
    rest.iter().filter_map(|field| factor(field, known)).collect()
}

fn factor(field: &FileField<'_>, known: &Known<'_>) -> Option<Factor> {
    let name = field.name.clone();
    if !is_name(&name) || name == "repetition" || name == "measure" {
        field.wrong(
            "is not a valid name of a factor: use lower-case letters, digits, - and _ (but not repetition \
             and measure)",
        );
        return None;
    }
    let items = field.items();
    let levels: Vec<Level> = items.iter().filter_map(|item| level(field, item, known)).collect();
    if items.is_empty() || levels.len() > MOST_LEVELS {
        field.wrong(&format!("has no levels, or more than {MOST_LEVELS}"));
    }
    for (number, level) in levels.iter().enumerate() {
        if levels[..number].iter().any(|before| before.name == level.name) {
            items[number].wrong(&format!("level '{}' occurs twice", level.name));
        }
    }
    (!levels.is_empty()).then_some(Factor { name, levels })
}

/// Parses a level: a value of the setting that the factor is named after, or a table with a name
/// and any settings.
fn level(factor: &FileField<'_>, item: &FileField<'_>, known: &Known<'_>) -> Option<Level> {
    if item.is_table() {
        if factor.name == FAMILY {
            item.wrong("levels of family are \"ipv6\" and \"ipv4\"");
            return None;
        }
        let mut fields = item.fields()?;
        let name = fields.need("name").and_then(|name| name.text())?;
        return printable(&name, item)
            .then(|| Level { name, settings: settings(Some(fields), known) });
    }
    let key = key_of(factor, known)?;
    let value = given(item.scalar()?);
    let name = match &value {
        SettingValue::Flag(flag) => flag.to_string(),
        SettingValue::Text(text) => text.clone(),
        SettingValue::List(_) => return None,
    };
    if factor.name == FAMILY && !FAMILIES.contains(&name.as_str()) {
        item.wrong(&format!("'{name}' is not one of: {}", FAMILIES.join(", ")));
        return None;
    }
    let setting = check_setting(Setting { key, value, line: item.line() }, item, known)?;
    printable(&name, item).then(|| Level { name, settings: vec![setting] })
}

/// Checks that a level's name can be shown: it has 1 to 100 bytes and no control characters.
fn printable(name: &str, field: &FileField<'_>) -> bool {
    let fine = is_level_name(name);
    if !fine {
        field.wrong("a level's name has from 1 to 100 characters, no control characters");
    }
    fine
}

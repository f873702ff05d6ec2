//! Settings: keys of a study with their values.

/// A key with its value. The key is one of the study's own, or an option of `sixmark run` without
/// its dashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key, words joined by `-`.
    pub key: String,
    /// Its value.
    pub value: SettingValue,
    /// The number of the line that sets it, from 1.
    pub line: usize,
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// An option without a value: true if it is given.
    Flag(bool),
    /// An option's value.
    Text(String),
    /// An option given several times.
    List(Vec<String>),
}

/// The prefix of the keys that choose variants of the lab: `lab-offload = "off"`.
pub const VARIANT: &str = "lab-";

/// Returns true if a key concerns the lab, not the client.
pub fn is_of_lab(key: &str) -> bool {
    matches!(key, "from" | "traffic") || key.starts_with(VARIANT)
}

//! A key of a study and what it is set to.

/// A key and what it is set to: one of the study's own or an option of `sixmark run` without its
/// dashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key, words joined by `-`.
    pub key: String,
    /// Its value.
    pub value: SettingValue,
    /// Where it was set: the line's number, from 1.
    pub line: usize,
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// An option without a value, given or not.
    Flag(bool),
    /// An option's value.
    Text(String),
    /// An option given several times.
    List(Vec<String>),
}

/// What the keys of variants begin with: `lab-offload = "off"`.
pub(super) const VARIANT: &str = "lab-";

/// True of a key that is the lab's business, not a client's.
pub fn is_of_lab(key: &str) -> bool {
    matches!(key, "from" | "traffic") || key.starts_with(VARIANT)
}

//! Lookup in tables of names and the values they stand for.

/// Returns the name of the value `of`, or an empty string if the table does not contain it.
pub fn name_of<T: PartialEq>(all: &[(&'static str, T)], of: T) -> &'static str {
    all.iter().find(|(_, known)| *known == of).map_or("", |&(name, _)| name)
}

/// Returns the value that `name` stands for, if the table contains it.
pub fn find_named<T: Copy>(all: &[(&str, T)], name: &str) -> Option<T> {
    all.iter().find(|(known, _)| *known == name).map(|&(_, found)| found)
}

/// Returns all names, separated by commas, for messages.
pub fn list_names<T>(all: &[(&str, T)]) -> String {
    all.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ")
}

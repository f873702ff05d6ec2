//! Tables of names and what they stand for.

/// What `of` is called; nothing where the table lacks it.
pub fn name_of<T: PartialEq>(all: &[(&'static str, T)], of: T) -> &'static str {
    all.iter().find(|(_, known)| *known == of).map_or("", |&(name, _)| name)
}

/// What a name stands for.
pub fn find_named<T: Copy>(all: &[(&str, T)], name: &str) -> Option<T> {
    all.iter().find(|(known, _)| *known == name).map(|&(_, found)| found)
}

/// All names, for people.
pub fn list_names<T>(all: &[(&str, T)]) -> String {
    all.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", ")
}

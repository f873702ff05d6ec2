//! What runs beside the cells: hooks.

use sixmark_document::fields::{FileField, FileFields};
use sixmark_lab::plan::services::known;

/// Programs run between cells, each a list of a program and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Before the first cell, when services are ready.
    pub before_study: Vec<Vec<String>>,
    /// After the last one.
    pub after_study: Vec<Vec<String>>,
    /// Before each cell.
    pub before_cell: Vec<Vec<String>>,
    /// After each.
    pub after_cell: Vec<Vec<String>>,
}

/// The hooks; `allowed` may stand in braces.
pub(crate) fn hooks(fields: Option<FileFields<'_>>, of_cell: &[&str], of_study: &[&str]) -> Hooks {
    let Some(mut fields) = fields else { return Hooks::default() };
    let mut of = |name, allowed: &[&str]| {
        fields.take(name).map_or(Vec::new(), |field| commands(&field, allowed))
    };
    let hooks = Hooks {
        before_study: of("before_study", of_study),
        after_study: of("after_study", of_study),
        before_cell: of("before_cell", of_cell),
        after_cell: of("after_cell", of_cell),
    };
    fields.end();
    hooks
}

/// A command, or a list of them.
fn commands(field: &FileField<'_>, allowed: &[&str]) -> Vec<Vec<String>> {
    let items = field.items();
    let several = items.iter().any(FileField::is_list);
    let command = |field: &FileField<'_>| -> Vec<String> {
        field.items().iter().filter_map(|word| known(word, allowed)).collect()
    };
    let commands: Vec<Vec<String>> =
        if several { items.iter().map(command).collect() } else { vec![command(field)] };
    if commands.iter().any(Vec::is_empty) {
        field.wrong("expected a program and its arguments: [\"sync\"], or a list of such lists");
    }
    commands
}

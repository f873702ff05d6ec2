//! Hooks: programs that run before and after a study and its cells.

use sixmark_document::fields::{FileField, FileFields};
use sixmark_lab::plan::placeholders::known;

/// The commands of hooks. Each command is a list: a program and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Commands that run before the first cell, when the services are ready.
    pub before_study: Vec<Vec<String>>,
    /// Commands that run after the last cell.
    pub after_study: Vec<Vec<String>>,
    /// Commands that run before each cell.
    pub before_cell: Vec<Vec<String>>,
    /// Commands that run after each cell.
    pub after_cell: Vec<Vec<String>>,
}

/// Parses the hooks. `of_cell` and `of_study` are the names that may stand in braces in the hooks
/// of cells and of the study.
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

/// Parses a command, or a list of commands.
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

//! Programs that the user gives for services.

use sixmark_document::fields::FileFields;

/// The names in braces that stand for a given program and the folder above that of its file.
pub(super) const OF_GIVEN: [&str; 2] = ["program", "program-root"];

/// Reads whether the user gives the program of a service.
pub(super) fn is_given(fields: &mut FileFields<'_>) -> bool {
    fields.take("program").and_then(|field| field.one_of(&[("given", ())])).is_some()
}

/// Checks that the command of a service whose program is given names it.
pub(super) fn check_command(command: &[String], fields: &FileFields<'_>) {
    if !command.iter().any(|word| word == "{program}") {
        fields.wrong("with program = \"given\" a word of the command is \"{program}\"");
    }
}

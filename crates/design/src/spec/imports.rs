//! The factor to which imports add levels: `imports = "system"`.

use super::Factor;
use sixmark_document::fields::FileField;

/// The longest name of a level, in bytes.
const LONGEST_LEVEL: usize = 100;

/// Returns true if a level's name can be shown: it has 1 to 100 bytes and no control characters.
pub fn is_level_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST_LEVEL && !name.chars().any(char::is_control)
}

/// Parses the name of the factor to which imports add levels. It must be one of the study's.
pub(super) fn imports(field: Option<FileField<'_>>, factors: &[Factor]) -> Option<String> {
    let field = field?;
    let name = field.text()?;
    if factors.iter().any(|factor| factor.name == name && name != super::FAMILY) {
        return Some(name);
    }
    let known = factors.iter().map(|factor| factor.name.as_str());
    let known: Vec<&str> = known.filter(|known| *known != super::FAMILY).collect();
    let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
    field.wrong(&format!("'{name}' is not a factor to which imports can add levels: {known}"));
    None
}

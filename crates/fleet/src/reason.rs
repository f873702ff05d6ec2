//! What agents say of failures, made harmless: it is shown to the user of the controller.

/// The most characters of a reason that an agent gives.
const LONGEST_REASON: usize = 300;

/// Returns a reason that an agent gave, bounded and without control characters.
pub(crate) fn reason(text: &str) -> String {
    let bounded: String = text.chars().take(LONGEST_REASON).collect();
    bounded.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_reasons_and_escapes_control_characters() {
        assert_eq!(reason("the disk is full: can't write"), "the disk is full: can't write");
        assert_eq!(reason("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(reason(&"x".repeat(10_000)).len(), LONGEST_REASON);
    }
}

//! The version of the running kernel.

/// Returns true on Linux `major`.`minor` or newer. Use this only for features that cannot be
/// detected otherwise. A kernel that does not report its version counts as old.
pub(crate) fn is_at_least(major: u32, minor: u32) -> bool {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    parse_release(&text).is_some_and(|found| found >= (major, minor))
}

/// Returns the first two numbers of a release, for example of `6.18.44-generic`.
fn parse_release(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_first_two_numbers_of_a_release() {
        for (text, found) in [
            ("6.18.44-fc\n", Some((6, 18))),
            ("6.1.0-30-amd64", Some((6, 1))),
            ("5.15-rc3", Some((5, 15))),
            ("", None),
            ("six", None),
        ] {
            assert_eq!(parse_release(text), found, "{text}");
        }
        assert!(is_at_least(3, 10) && !is_at_least(999, 0));
    }
}

//! Which Linux this is.

/// True on Linux `major`.`minor` or newer. For what has no other mark; where the kernel does not say
/// which one it is, it counts as old.
pub(crate) fn is_at_least(major: u32, minor: u32) -> bool {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    parse_release(&text).is_some_and(|found| found >= (major, minor))
}

/// The first two numbers of a release like `6.18.44-generic`.
fn parse_release(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_told_by_its_first_two_numbers() {
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

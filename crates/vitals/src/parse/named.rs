//! Parses named numbers, as in snmp, snmp6 and netstat.

use std::collections::HashMap;

use crate::counter::Counter;

/// Numbers by group and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedNumbers<'a>(HashMap<(&'a str, &'a str), u64>);

impl NamedNumbers<'_> {
    /// Returns a number, or 0 if the kernel does not have it.
    pub fn get(&self, group: &str, name: &str) -> Counter {
        Counter(self.0.get(&(group, name)).copied().unwrap_or(0))
    }
}

/// Parses pairs of lines, as in snmp and netstat: a line of names, then a line of numbers, each
/// after the name of the group. Negative numbers are settings and are skipped.
pub fn paired(text: &str) -> NamedNumbers<'_> {
    let mut found = HashMap::new();
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let (Some((group, names)), Some((_, values))) =
            (names.split_once(':'), values.split_once(':'))
        else {
            continue;
        };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse() {
                found.insert((group, name), value);
            }
        }
    }
    NamedNumbers(found)
}

/// Parses lines of a name and a number, as in snmp6. The name of their group is empty.
pub fn flat(text: &str) -> NamedNumbers<'_> {
    let pair = |line: &'_ str| {
        let at = line.find(char::is_whitespace)?;
        let (name, value) = line.split_at(at);
        Some((name.len(), value.trim().parse().ok()?))
    };
    let of = |line| {
        let (length, value): (usize, u64) = pair(line)?;
        Some((("", line.get(..length)?), value))
    };
    NamedNumbers(text.lines().filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_names_with_their_numbers() {
        let text = "Tcp: MaxConn ActiveOpens\nTcp: -1 52567683\nOdd\nIp: A\nIp: 1 2\n";
        let found = paired("Tcp: MaxConn ActiveOpens\nTcp: -1 52567683\nIp: A B C\nIp: 1 2\n");
        assert_eq!(found.get("Tcp", "ActiveOpens"), Counter(52_567_683));
        assert_eq!(found.get("Tcp", "MaxConn"), Counter(0));
        assert_eq!(found.get("Ip", "B"), Counter(2));
        assert_eq!(found.get("Ip", "C"), Counter(0));
        // Malformed lines are skipped.
        assert_eq!(paired(text).get("Tcp", "ActiveOpens"), Counter(52_567_683));
        let found = flat("Ip6InReceives                   \t835662289\nodd\nIp6InOctets\tx\n");
        assert_eq!(found.get("", "Ip6InReceives"), Counter(835_662_289));
        assert_eq!(found.get("", "Ip6InOctets"), Counter(0));
    }
}

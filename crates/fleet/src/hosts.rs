//! `--hosts`: the machines on which agents are placed.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use sixmark_units::visible::visible;

use crate::names::AgentName;

/// The largest number of hosts of one command.
pub const MOST_HOSTS: usize = 64;

/// What a host of a lab begins with.
const IN_LAB: &str = "lab:";
/// What the URI of a destination begins with (ssh(1)).
const SSH_URI: &str = "ssh://";

/// A machine on which an agent can be placed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostName {
    /// A destination of ssh(1): a name or an address, `user@host`, `ssh://user@host:port`, or a
    /// name from the user's own configuration. It does not begin with `-`.
    Ssh(String),
    /// A host of a running lab on this machine: `lab:HOST` or `lab:LAB/HOST`.
    Lab {
        /// The lab; the only one that is running if `None`.
        lab: Option<String>,
        /// The host.
        host: String,
    },
}

/// From 1 to [`MOST_HOSTS`] different hosts, each with the name of its agent: `a,b,c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostList(Vec<(HostName, AgentName)>);

impl HostList {
    /// Returns the hosts in the order in which they were given. No two agents have the same name.
    pub fn hosts(&self) -> &[(HostName, AgentName)] {
        &self.0
    }
}

impl FromStr for HostList {
    type Err = String;

    fn from_str(text: &str) -> Result<HostList, String> {
        let hosts: Vec<HostName> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        if hosts.len() > MOST_HOSTS {
            return Err(format!("{} hosts; at most {MOST_HOSTS} are possible", hosts.len()));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = hosts.iter().find(|&host| !seen.insert(host)) {
            return Err(format!("{twice} is listed twice"));
        }
        let mut taken = BTreeSet::new();
        let named = hosts.into_iter().map(|host| {
            let name = choose_name(&host, &taken);
            taken.insert(name.clone());
            (host, name)
        });
        Ok(HostList(named.collect()))
    }
}

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<HostName, String> {
        if text.is_empty() {
            return Err("a host is missing: expected HOST,HOST,...".into());
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(format!("'{}': a host has no spaces", text.escape_debug()));
        }
        match text.strip_prefix(IN_LAB) {
            Some(rest) => read_lab(rest),
            None => read_destination(text).map(HostName::Ssh),
        }
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostName::Ssh(destination) => f.write_str(&visible(destination)),
            HostName::Lab { lab: Some(lab), host } => {
                write!(f, "{IN_LAB}{}/{}", visible(lab), visible(host))
            }
            HostName::Lab { lab: None, host } => write!(f, "{IN_LAB}{}", visible(host)),
        }
    }
}

fn read_lab(text: &str) -> Result<HostName, String> {
    let (lab, host) = match text.split_once('/') {
        Some((lab, host)) => (Some(lab), host),
        None => (None, text),
    };
    // They become words of a command line.
    let fits = |name: &str| !name.is_empty() && !name.starts_with('-') && !name.contains('/');
    if !fits(host) || !lab.is_none_or(fits) {
        let shown = visible(text);
        return Err(format!("'{IN_LAB}{shown}': expected {IN_LAB}HOST or {IN_LAB}LAB/HOST"));
    }
    Ok(HostName::Lab { lab: lab.map(str::to_owned), host: host.to_owned() })
}

/// Returns a destination as ssh(1) takes it.
fn read_destination(text: &str) -> Result<String, String> {
    let shown = visible(text);
    let (user, host) = parts_of(text);
    // ssh would take it for an option, or pass it to a program that does (ProxyCommand).
    if text.starts_with('-') || host.starts_with('-') || user.is_some_and(|u| u.starts_with('-')) {
        return Err(format!("'{shown}': neither a host nor its user may begin with -"));
    }
    if host.is_empty() || user == Some("") {
        return Err(format!("'{shown}': expected USER@HOST or ssh://USER@HOST:PORT"));
    }
    if text.starts_with(SSH_URI) {
        return Ok(text.to_owned());
    }
    if let Some((name, port)) = host.split_once(':')
        && !port.is_empty()
        && port.chars().all(|c| c.is_ascii_digit())
    {
        let user = user.map_or(String::new(), |user| format!("{user}@"));
        return Err(format!(
            "'{shown}': for a port use {SSH_URI}{}:{port}",
            visible(&(user + name))
        ));
    }
    // ssh takes brackets around an address in a URI only.
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Ok(user.map_or_else(|| bare.to_owned(), |user| format!("{user}@{bare}")))
}

/// Returns the user, if there is one, and the rest of a destination without its scheme.
fn parts_of(destination: &str) -> (Option<&str>, &str) {
    let rest = destination.strip_prefix(SSH_URI).unwrap_or(destination);
    match rest.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, rest),
    }
}

/// Returns a name that shows which host it is and that no other agent has.
fn choose_name(host: &HostName, taken: &BTreeSet<AgentName>) -> AgentName {
    let base = match host {
        HostName::Ssh(destination) => parts_of(destination).1.trim_end_matches('/').to_owned(),
        HostName::Lab { lab: Some(lab), host } => format!("{lab}-{host}"),
        HostName::Lab { lab: None, host } => host.clone(),
    };
    let first = AgentName::made_from(&base);
    // Room for a number behind it.
    let short: String = first.as_str().chars().take(60).collect();
    let others = (2..=MOST_HOSTS + 1).map(|n| AgentName::made_from(&format!("{short}-{n}")));
    std::iter::once(first.clone()).chain(others).find(|name| !taken.contains(name)).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let list: HostList = text.parse().unwrap();
        list.hosts().iter().map(|(_, name)| name.to_string()).collect()
    }

    #[test]
    fn destinations_of_ssh_and_hosts_of_labs_are_read() {
        let text =
            "web,u@web,ssh://u@web:2222,u@[2001:db8::1],fe80::1%eth0,lab:client,lab:l/client";
        let list: HostList = text.parse().unwrap();
        let shown: Vec<String> = list.hosts().iter().map(|(host, _)| host.to_string()).collect();
        let expected =
            "web,u@web,ssh://u@web:2222,u@2001:db8::1,fe80::1%eth0,lab:client,lab:l/client";
        assert_eq!(shown.join(","), expected);
        assert_eq!(
            names(text),
            ["web", "web-2", "web-2222", "2001-db8--1", "fe80--1-eth0", "client", "l-client"]
        );
    }

    #[test]
    fn agents_of_hosts_with_long_names_have_different_names() {
        let long = "x".repeat(100);
        let names = names(&format!("{long}a,{long}b,{long}c"));
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 3, "{names:?}");
        assert!(names.iter().all(|name| name.parse::<AgentName>().is_ok()), "{names:?}");
    }

    #[test]
    fn rejects_invalid_hosts_with_one_line() {
        let many = (0..65).map(|n| format!("h{n}")).collect::<Vec<_>>().join(",");
        for (text, said) in [
            ("", "missing"),
            ("a,,b", "missing"),
            ("a b", "no spaces"),
            ("a\u{1b}[1m", "no spaces"),
            ("-oProxyCommand=x", "begin with -"),
            ("u@-oProxyCommand=x", "begin with -"),
            ("ssh://-oProxyCommand=x", "begin with -"),
            ("-l@host", "begin with -"),
            ("u@", "expected USER@HOST"),
            ("@h", "expected USER@HOST"),
            ("ssh://", "expected USER@HOST"),
            ("web:22", "use ssh://web:22"),
            ("u@web:22", "use ssh://u@web:22"),
            ("lab:", "expected lab:HOST"),
            ("lab:a/", "expected lab:HOST"),
            ("lab:/a", "expected lab:HOST"),
            ("lab:a/b/c", "expected lab:HOST"),
            ("lab:--help", "expected lab:HOST"),
            ("a,b,a", "a is listed twice"),
            ("::1,[::1]", "::1 is listed twice"),
            (&many, "65 hosts; at most 64"),
        ] {
            let error = text.parse::<HostList>().unwrap_err();
            assert!(error.contains(said) && error.lines().count() == 1, "{text:?}: {error}");
        }
    }
}

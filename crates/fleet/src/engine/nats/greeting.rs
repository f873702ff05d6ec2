//! What a NATS server says of itself as soon as a connection is open: a line `INFO {...}`.

use serde::Deserialize;

use super::address::NatsAddress;
use crate::engine::transport::TransportError;

/// The oldest version of a server that has what is needed: messages that expire one by one, and the
/// rules of their expiry after a restart.
pub(super) const OLDEST: [u32; 2] = [2, 14];

/// The parts of the greeting that matter before anything is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Greeting {
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    jetstream: bool,
    #[serde(default)]
    pub(super) tls_required: bool,
    #[serde(default)]
    tls_available: bool,
}

impl Greeting {
    /// Reads the line of a greeting; `None` if it is not one.
    pub(super) fn read(line: &str) -> Option<Greeting> {
        serde_json::from_str(line.strip_prefix("INFO ")?).ok()
    }

    /// Checks that the server is one that can be used.
    pub(super) fn check(&self, address: &NatsAddress, tls: bool) -> Result<(), TransportError> {
        let line = if !is_new_enough(&self.version) {
            let [major, minor] = OLDEST;
            format!(
                "the NATS server at {address} is version {}; sixmark needs {major}.{minor} or later",
                self.version.escape_debug()
            )
        } else if !self.jetstream {
            format!(
                "the NATS server at {address} has no JetStream: add 'jetstream {{}}' to its \
                 configuration"
            )
        } else if tls && !self.tls_required && !self.tls_available {
            format!(
                "the NATS server at {address} has no TLS: configure its certificate, or use \
                 nats:// and credentials without a certificate"
            )
        } else {
            return Ok(());
        };
        Err(TransportError::Refused(line))
    }
}

/// Returns whether a version such as `2.15.2` or `v2.15.2-RC.1` is new enough.
pub(super) fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split(['.', '-']).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => [major, minor] >= OLDEST,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_a_server_that_is_old_or_lacks_jetstream_or_tls() {
        let address: NatsAddress = "nats://a.example".parse().unwrap();
        for (line, tls, said) in [
            (r#"INFO {"version":"2.9.10","jetstream":true}"#, false, "is version 2.9.10; sixmark"),
            (r#"INFO {"version":"2.14.0"}"#, false, "has no JetStream"),
            (r#"INFO {"version":"2.14.0","jetstream":true}"#, true, "has no TLS"),
        ] {
            let error = Greeting::read(line).unwrap().check(&address, tls).unwrap_err();
            let TransportError::Refused(line) = error else { panic!("{error:?}") };
            assert!(line.contains(said) && line.contains("nats://a.example:4222"), "{line}");
        }
        let good = r#"INFO {"version":"2.14.0","jetstream":true,"tls_available":true}"#;
        Greeting::read(good).unwrap().check(&address, true).unwrap();
    }

    #[test]
    fn compares_versions_numerically() {
        for new in ["2.14.0", "2.15.2", "v2.14.0-RC.1", "3.0.0", "10.0"] {
            assert!(is_new_enough(new), "{new}");
        }
        for old in ["2.9.10", "1.99", "2", "", "two.three"] {
            assert!(!is_new_enough(old), "{old}");
        }
    }

    #[test]
    fn rejects_lines_that_are_not_a_greeting() {
        for line in ["", "HTTP/1.1 400 Bad Request", "INFO", "INFO x", "220 mail.example ESMTP"] {
            assert_eq!(Greeting::read(line), None);
        }
    }
}

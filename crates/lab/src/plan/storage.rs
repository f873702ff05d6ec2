//! URLs of storage (`nbd://`, `nfs://`, `iscsi://`, `nvme://`) and of FTP, as used in studies for fio, curl and
//! wget.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use sixmark_http::url::{Host, Url};

/// A storage protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageProtocol {
    /// Network block device (NBD).
    Nbd,
    /// NFS.
    Nfs,
    /// iSCSI.
    Iscsi,
    /// NVMe over TCP.
    Nvme,
}

const PROTOCOLS: [(&str, StorageProtocol, u16); 4] = [
    ("nbd", StorageProtocol::Nbd, 10_809),
    ("nfs", StorageProtocol::Nfs, 2_049),
    ("iscsi", StorageProtocol::Iscsi, 3_260),
    ("nvme", StorageProtocol::Nvme, 4_420),
];

/// A storage URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The protocol.
    pub protocol: StorageProtocol,
    /// The server.
    pub host: Host,
    /// The port; the protocol's default if the URL has none.
    pub port: u16,
    /// The path as written, beginning with `/`. It identifies the export, file or target on the
    /// server.
    pub path: String,
}

impl Storage {
    /// Returns the host as in URLs, with an IPv6 address in brackets.
    pub fn bracketed(&self) -> String {
        match &self.host {
            Host::Address(IpAddr::V6(_), _) => format!("[{}]", self.plain()),
            _ => self.plain(),
        }
    }

    /// Returns the host without brackets.
    pub fn plain(&self) -> String {
        match &self.host {
            Host::Name(name) => name.clone(),
            Host::Address(address, None) => address.to_string(),
            Host::Address(address, Some(zone)) => format!("{address}%{zone}"),
        }
    }
}

impl StorageProtocol {
    /// Returns the default port of the protocol.
    pub fn port(self) -> u16 {
        PROTOCOLS.iter().find(|(_, known, _)| *known == self).map_or(0, |&(.., port)| port)
    }
}

impl fmt::Display for StorageProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = PROTOCOLS.iter().find(|(_, known, _)| known == self);
        f.pad(found.map_or("", |(name, ..)| name))
    }
}

impl FromStr for Storage {
    type Err = String;

    fn from_str(text: &str) -> Result<Storage, String> {
        let known = |scheme: &str| PROTOCOLS.iter().find(|(name, ..)| *name == scheme);
        let (&(_, protocol, usual), rest) = text
            .split_once("://")
            .and_then(|(scheme, rest)| Some((known(scheme)?, rest)))
            .ok_or("begins with nbd://, nfs://, iscsi:// or nvme://")?;
        let Url { host, port, path, .. } = with_port(rest, usual)?;
        Ok(Storage { protocol, host, port, path })
    }
}

/// Parses what follows a URL's scheme, whose syntax is that of HTTP URLs. `usual` is the port if it
/// names none.
fn with_port(rest: &str, usual: u16) -> Result<Url, String> {
    let url: Url = format!("http://{rest}").parse()?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let named = authority.rsplit(']').next().is_some_and(|end| end.contains(':'));
    Ok(Url { port: if named { url.port } else { usual }, ..url })
}

/// The beginning of URLs of FTP, and its default port (RFC 1738, 3.2).
const FTP: &str = "ftp://";
const FTP_PORT: u16 = 21;

/// Returns true if this is a URL of FTP.
pub fn is_ftp(text: &str) -> bool {
    text.starts_with(FTP)
}

/// Parses a URL to locate the server, whatever the protocol. URLs of storage and FTP are converted to
/// HTTP URLs with the same host, port and path.
///
/// # Errors
/// Returns one line if it is a URL of none of these protocols.
pub fn server(text: &str) -> Result<Url, String> {
    if let Some(rest) = text.strip_prefix(FTP) {
        return with_port(rest, FTP_PORT);
    }
    let storage = PROTOCOLS
        .iter()
        .any(|(name, ..)| text.strip_prefix(name).is_some_and(|rest| rest.starts_with("://")));
    if !storage {
        return text.parse();
    }
    let storage: Storage = text.parse()?;
    format!("http://{}:{}{}", storage.bracketed(), storage.port, storage.path).parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_url_has_the_default_port_unless_it_names_one() {
        for (text, protocol, host, port, path) in [
            ("nbd://[::1]:80/disk", StorageProtocol::Nbd, "[::1]", 80, "/disk"),
            ("nbd://127.0.0.1", StorageProtocol::Nbd, "127.0.0.1", 10_809, "/"),
            (
                "nfs://[fd00::2]/a/b?version=3",
                StorageProtocol::Nfs,
                "[fd00::2]",
                2_049,
                "/a/b?version=3",
            ),
            (
                "iscsi://host:3261/iqn.2026-01.x:y/1",
                StorageProtocol::Iscsi,
                "host",
                3_261,
                "/iqn.2026-01.x:y/1",
            ),
            ("nvme://10.0.5.2/dev/x", StorageProtocol::Nvme, "10.0.5.2", 4_420, "/dev/x"),
        ] {
            let storage: Storage = text.parse().unwrap();
            assert_eq!((storage.protocol, storage.port), (protocol, port), "{text}");
            assert_eq!(
                (storage.bracketed().as_str(), storage.path.as_str()),
                (host, path),
                "{text}"
            );
            assert_eq!(server(text).unwrap().port, port);
        }
    }

    #[test]
    fn finds_the_server_port_of_http_and_ftp_urls() {
        assert_eq!(server("https://[::1]/x").unwrap().port, 443);
        assert_eq!(server("ftp://[::1]/x").unwrap().port, 21);
        assert_eq!(server("ftp://127.0.0.1:2121/x").unwrap().port, 2_121);
        assert!(server("gopher://[::1]/x").is_err());
    }

    #[test]
    fn rejects_invalid_storage_urls() {
        for text in ["", "http://[::1]/", "nbd:/x", "nbd://", "nbd://[::1", "nbd://[::1]:0/x"] {
            assert!(text.parse::<Storage>().is_err(), "{text}");
        }
    }
}

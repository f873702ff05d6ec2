//! How connections to `https://` targets are secured.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Settings of the TLS client. Files are given by name: neither a plan nor a result contains keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanTls {
    /// The only version spoken; null: either.
    pub version: Option<TlsVersion>,
    /// The file with the trusted certificates; null: those of the system.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub cacert: Option<String>,
    /// Whether any server certificate is accepted. The server must still prove that it has the
    /// private key of its certificate.
    pub insecure: bool,
    /// The file with the client certificate and its issuers, for a server that requests one; null:
    /// none.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub cert: Option<String>,
    /// The file with its private key; null: cert contains it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub key: Option<String>,
    /// The server name that is sent and verified; null: that of each URL.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub sni: Option<String>,
    /// Application protocols offered, the preferred one first.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub alpn: Vec<String>,
    /// Cipher suites offered, the preferred one first; if empty, the defaults of the library.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub ciphers: Vec<String>,
    /// Key exchange groups offered, the preferred one first; if empty, the defaults of the library.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub groups: Vec<String>,
    /// The share of each family's handshakes that should resume a session.
    pub resume: Millionths,
    /// Whether requests are sent before the handshake is complete (0-RTT); not implemented, so
    /// false.
    #[cfg_attr(feature = "schema", schemars(extend("const" = false)))]
    pub early_data: bool,
}

impl PlanTls {
    /// Returns the names of the files that the settings refer to: cacert, cert and key, as far as
    /// they are given.
    pub fn files(&self) -> Vec<&str> {
        [&self.cacert, &self.cert, &self.key].into_iter().flatten().map(String::as_str).collect()
    }

    /// Replaces the name of each of these files by what `rename` returns for it.
    pub fn rename_files(&mut self, mut rename: impl FnMut(&str) -> String) {
        let names = [&mut self.cacert, &mut self.cert, &mut self.key];
        names.into_iter().flatten().for_each(|name| *name = rename(name));
    }
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    #[serde(rename = "1.2")]
    V12,
    /// TLS 1.3 (RFC 8446).
    #[serde(rename = "1.3")]
    V13,
}

/// A share from 0 to 1, in steps of a millionth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(feature = "schema", schemars(extend("maximum" = 1)))]
pub struct Millionths(u32);

impl Millionths {
    /// The share 0.
    pub const NONE: Millionths = Millionths(0);
    /// The share 1.
    pub const ALL: Millionths = Millionths(Millionths::WHOLE);
    /// The number of millionths in the share 1.
    pub const WHOLE: u32 = 1_000_000;

    /// Returns the number of millionths.
    pub fn millionths(self) -> u32 {
        self.0
    }
}

impl TryFrom<f64> for Millionths {
    type Error = String;

    fn try_from(part: f64) -> Result<Millionths, String> {
        match (0.0..=1.0).contains(&part) {
            true => Ok(Millionths((part * f64::from(Millionths::WHOLE)).round() as u32)),
            false => Err(format!("{part} is not a share from 0 to 1")),
        }
    }
}

impl From<Millionths> for f64 {
    fn from(share: Millionths) -> f64 {
        f64::from(share.0) / f64::from(Millionths::WHOLE)
    }
}

impl FromStr for Millionths {
    type Err = String;

    fn from_str(text: &str) -> Result<Millionths, String> {
        let part = text.parse::<f64>().ok();
        part.and_then(|part| Millionths::try_from(part).ok())
            .ok_or_else(|| format!("'{text}' is not a share from 0 to 1, as in 0.8"))
    }
}

impl fmt::Display for Millionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f64::from(*self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_the_files_of_the_tls_settings() {
        let mut tls = PlanTls {
            cacert: Some("a".into()),
            key: Some("k".into()),
            sni: Some("s".into()),
            ..PlanTls::default()
        };
        assert_eq!(tls.files(), ["a", "k"]);
        tls.rename_files(|name| format!("there/{name}"));
        assert_eq!((tls.files(), tls.sni.as_deref()), (vec!["there/a", "there/k"], Some("s")));
    }

    #[test]
    fn parses_shares_from_0_to_1() {
        assert_eq!("0.8".parse::<Millionths>().map(Millionths::millionths), Ok(800_000));
        assert_eq!(("0".parse(), "1".parse()), (Ok(Millionths::NONE), Ok(Millionths::ALL)));
        assert_eq!("0.3".parse::<Millionths>().unwrap().to_string(), "0.3");
        for wrong in ["", "-0.1", "1.1", "80%", "NaN", "inf"] {
            assert!(wrong.parse::<Millionths>().is_err(), "{wrong}");
        }
    }
}

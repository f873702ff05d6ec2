//! How connections to `https://` targets are secured.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a TLS client is to do. Files are named, never held: neither a plan nor a result has keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanTls {
    /// The only version spoken; null: either.
    pub version: Option<TlsVersion>,
    /// File with the certificates trusted; null: the system's.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub cacert: Option<String>,
    /// Whether any certificate will do. The server must still prove that it has the key of the one
    /// that it shows.
    pub insecure: bool,
    /// File with the certificate to show to a server that asks for one, and what issued it; null:
    /// none.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub cert: Option<String>,
    /// File with its private key; null: that is in cert too.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub key: Option<String>,
    /// The name sent and checked; null: each URL's own.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub sni: Option<String>,
    /// Application protocols offered, the preferred one first.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub alpn: Vec<String>,
    /// Cipher suites to offer, the preferred one first; the library's choice where empty.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub ciphers: Vec<String>,
    /// Groups for the key exchange, the preferred one first; the library's choice where empty.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub groups: Vec<String>,
    /// The share of each family's handshakes that were to resume a session.
    pub resume: Millionths,
    /// Whether requests go out before the handshake is over (0-RTT); not implemented, so false.
    #[cfg_attr(feature = "schema", schemars(extend("const" = false)))]
    pub early_data: bool,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TlsVersion {
    /// RFC 5246.
    #[serde(rename = "1.2")]
    V12,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    V13,
}

/// A part of a whole, in millionths: 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(feature = "schema", schemars(extend("maximum" = 1)))]
pub struct Millionths(u32);

impl Millionths {
    /// Nothing.
    pub const NONE: Millionths = Millionths(0);
    /// The whole.
    pub const ALL: Millionths = Millionths(Millionths::WHOLE);
    /// What the whole has: millionths.
    pub const WHOLE: u32 = 1_000_000;

    /// How many millionths.
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
    fn a_share_is_from_nothing_to_all() {
        assert_eq!("0.8".parse::<Millionths>().map(Millionths::millionths), Ok(800_000));
        assert_eq!(("0".parse(), "1".parse()), (Ok(Millionths::NONE), Ok(Millionths::ALL)));
        assert_eq!("0.3".parse::<Millionths>().unwrap().to_string(), "0.3");
        for wrong in ["", "-0.1", "1.1", "80%", "NaN", "inf"] {
            assert!(wrong.parse::<Millionths>().is_err(), "{wrong}");
        }
    }
}

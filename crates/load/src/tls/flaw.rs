//! Defects of certificates for which the TLS library has no error of its own.

use std::fmt;

/// The shortest accepted RSA key, in bits. The library verifies no signature with a shorter one,
/// and takes it for a wrong signature.
pub(super) const LEAST_RSA: usize = 2048;

/// A defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// A certificate of version 1 or 2.
    Version,
    /// An RSA key of fewer than [`LEAST_RSA`] bits.
    KeySize,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::Version => "the certificate is older than X.509 version 3 and names no server",
            Flaw::KeySize => "an RSA key of the certificates is shorter than 2048 bits",
        })
    }
}

impl std::error::Error for Flaw {}

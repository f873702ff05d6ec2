//! The names of cipher suites and groups.

use rustls::crypto::SupportedKxGroup;
use rustls::crypto::aws_lc_rs::{ALL_CIPHER_SUITES, ALL_KX_GROUPS};
use rustls::{CipherSuite, NamedGroup, ProtocolVersion, SupportedCipherSuite};

/// A group, as the library represents it.
pub(super) type Group = &'static dyn SupportedKxGroup;

/// Each suite, its IANA name, and OpenSSL's name if that differs.
const CIPHERS: [(CipherSuite, &str, &str); 9] = [
    (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384", ""),
    (CipherSuite::TLS13_AES_128_GCM_SHA256, "TLS_AES_128_GCM_SHA256", ""),
    (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256", ""),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-ECDSA-AES256-GCM-SHA384",
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-ECDSA-AES128-GCM-SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-RSA-AES128-GCM-SHA256",
    ),
    (
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-RSA-CHACHA20-POLY1305",
    ),
];

/// Each group, its IANA name, and the names of OpenSSL and NIST if they differ.
const GROUPS: [(NamedGroup, &str, &[&str]); 7] = [
    (NamedGroup::X25519MLKEM768, "X25519MLKEM768", &[]),
    (NamedGroup::secp256r1MLKEM768, "SecP256r1MLKEM768", &[]),
    (NamedGroup::X25519, "x25519", &[]),
    (NamedGroup::secp256r1, "secp256r1", &["P-256", "prime256v1"]),
    (NamedGroup::secp384r1, "secp384r1", &["P-384"]),
    (NamedGroup::MLKEM768, "MLKEM768", &[]),
    (NamedGroup::MLKEM1024, "MLKEM1024", &[]),
];

/// Returns the suites of these names, in their order. The error lists the supported ones.
pub(super) fn ciphers(names: &[String]) -> Result<Vec<SupportedCipherSuite>, String> {
    names.iter().map(|name| cipher_of(name)).collect()
}

/// Returns the groups of these names, in their order. The error lists the supported ones.
pub(super) fn groups(names: &[String]) -> Result<Vec<Group>, String> {
    names.iter().map(|name| group_of(name)).collect()
}

/// Returns the IANA name of a suite.
pub(super) fn cipher(suite: CipherSuite) -> &'static str {
    let known = CIPHERS.iter().find(|(known, ..)| *known == suite);
    known.map(|(_, name, _)| *name).or(suite.as_str()).unwrap_or("unknown")
}

/// Returns the IANA name of a group.
pub(super) fn group(group: NamedGroup) -> &'static str {
    let known = GROUPS.iter().find(|(known, ..)| *known == group);
    known.map(|(_, name, _)| *name).or(group.as_str()).unwrap_or("unknown")
}

/// Returns the name of a version, as OpenSSL writes it.
pub(super) fn version(version: ProtocolVersion) -> &'static str {
    match version {
        ProtocolVersion::TLSv1_2 => "TLSv1.2",
        ProtocolVersion::TLSv1_3 => "TLSv1.3",
        _ => "unknown",
    }
}

fn cipher_of(name: &str) -> Result<SupportedCipherSuite, String> {
    let is = |known: &str| !known.is_empty() && known.eq_ignore_ascii_case(name);
    let entry = CIPHERS.iter().find(|(_, iana, openssl)| is(iana) || is(openssl));
    let suite = entry.and_then(|&(of, ..)| ALL_CIPHER_SUITES.iter().find(|s| s.suite() == of));
    suite.copied().ok_or_else(|| {
        let all: Vec<_> = CIPHERS.iter().map(|(_, iana, _)| *iana).collect();
        format!("--ciphers: unknown suite '{name}'; supported: {}", all.join(", "))
    })
}

fn group_of(name: &str) -> Result<Group, String> {
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    let entry = GROUPS.iter().find(|(_, iana, others)| is(iana) || others.iter().any(|n| is(n)));
    let group = entry.and_then(|&(of, ..)| ALL_KX_GROUPS.iter().find(|g| g.name() == of));
    group.copied().ok_or_else(|| {
        let all: Vec<_> = GROUPS.iter().map(|(_, iana, _)| *iana).collect();
        format!("--groups: unknown group '{name}'; supported: {}", all.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_cipher_and_group_of_the_library_by_name() {
        for suite in ALL_CIPHER_SUITES {
            let name = cipher(suite.suite());
            assert_eq!(cipher_of(&name.to_lowercase()).as_ref(), Ok(suite));
        }
        for known in ALL_KX_GROUPS {
            assert_eq!(group_of(group(known.name())).unwrap().name(), known.name());
        }
        assert_eq!((CIPHERS.len(), GROUPS.len()), (ALL_CIPHER_SUITES.len(), ALL_KX_GROUPS.len()));
        let aliases = ["P-256", "prime256v1"].map(|name| group_of(name).unwrap().name());
        assert_eq!(aliases, [NamedGroup::secp256r1; 2]);
        assert!(cipher_of("ECDHE-RSA-AES128-GCM-SHA256").is_ok());
    }

    #[test]
    fn rejects_an_unknown_name_and_lists_the_known_ones() {
        let wrong = ["RC4-MD5", "", "TLS"].map(|name| cipher_of(name).unwrap_err());
        assert!(wrong.iter().all(|line| line.contains("TLS_AES_128_GCM_SHA256")), "{wrong:?}");
        assert!(group_of("P-1").unwrap_err().contains("x25519"));
    }
}

//! Whatever a server shows as its certificate: reading it never panics, and the time at which it expires
//! can be written.

use sixmark_wire::x509::{
    is_authority, is_for_servers, key_parts, not_after, not_before, public_key, rfc3339, rsa_bits,
    version,
};

/// Reads an input. Panics where what this module says does not hold.
pub fn check(der: &[u8]) {
    if let Some(end) = not_after(der) {
        let text = rfc3339(end);
        assert!(text.len() >= 20 && text.ends_with('Z'), "{text}");
    }
    let _ = (not_before(der), version(der), is_authority(der), is_for_servers(der));
    let _ = public_key(der).map(key_parts);
    assert!(rsa_bits(der).is_none_or(|bits| bits > 0 && bits <= 8 * der.len()));
}

//! URLs, and hosts without a scheme: what is refused is told in one line, what is read is written so that it reads the
//! same, and no name is one that a resolver takes for an address.

use sixmark_http::url::{Host, Url, has_scheme, host_of_authority};

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    assert!(text.starts_with(host_of_authority(text)));
    let url: Url = match text.parse() {
        Ok(url) => url,
        Err(why) => return assert!(!why.contains(char::is_control), "{why:?}"),
    };
    assert!(has_scheme(text));
    assert_eq!(url.to_string().parse(), Ok(url.clone()));
    assert!(url.path.starts_with('/') && url.path.bytes().all(|byte| byte.is_ascii_graphic()));
    if let Host::Name(name) = &url.host {
        let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
        let digits = last.strip_prefix("0x");
        let is_hex = digits.is_some_and(|of| of.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(!is_hex && last.bytes().any(|byte| !byte.is_ascii_digit()), "{name}");
    }
}

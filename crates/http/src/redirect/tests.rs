//! Where a Location leads.

use super::*;

fn to(base: &str, location: impl AsRef<[u8]>) -> Result<Resolved, Why> {
    resolve(&base.parse().unwrap(), location.as_ref())
}

fn path(path: &str) -> Result<Resolved, Why> {
    Ok(Resolved::Path(path.to_owned()))
}

/// The kinds of references of RFC 3986, 5.2 to 5.4, without those that change the scheme;
/// fragments are discarded.
#[test]
fn resolves_references_as_in_rfc_3986() {
    for (location, expected) in [
        ("g", "/b/c/g"),
        ("./g", "/b/c/g"),
        ("g/", "/b/c/g/"),
        ("/g", "/g"),
        ("?y", "/b/c/d;p?y"),
        ("?", "/b/c/d;p?"),
        ("?y#s", "/b/c/d;p?y"),
        ("g?y", "/b/c/g?y"),
        ("g?y?z", "/b/c/g?y?z"),
        ("#s", "/b/c/d;p?q"),
        ("#", "/b/c/d;p?q"),
        ("g#s", "/b/c/g"),
        ("g#s/../x", "/b/c/g"),
        (";x", "/b/c/;x"),
        ("g;x?y#s", "/b/c/g;x?y"),
        (".", "/b/c/"),
        ("./", "/b/c/"),
        ("..", "/b/"),
        ("../", "/b/"),
        ("../g", "/b/g"),
        ("../..", "/"),
        ("../../", "/"),
        ("../../g", "/g"),
        ("../../../g", "/g"),
        ("../../../../g", "/g"),
        ("/./g", "/g"),
        ("/../g", "/g"),
        ("/.", "/"),
        ("/..", "/"),
        ("g.", "/b/c/g."),
        (".g", "/b/c/.g"),
        ("g..", "/b/c/g.."),
        ("..g", "/b/c/..g"),
        ("./../g", "/b/g"),
        ("./g/.", "/b/c/g/"),
        ("g/./h", "/b/c/g/h"),
        ("g/../h", "/b/c/h"),
        ("g;x=1/./y", "/b/c/g;x=1/y"),
        ("g;x=1/../y", "/b/c/y"),
        ("g?y/./x", "/b/c/g?y/./x"),
        ("g?y/../x", "/b/c/g?y/../x"),
        ("./x:y", "/b/c/x:y"),
        ("/a//b/../c", "/a//c"),
        ("/%2e%2E/a", "/%2e%2E/a"),
        ("http://a/x/../y", "/y"),
        ("http://a?x", "/?x"),
        ("http://a#x", "/"),
        ("HTTP://A:80", "/"),
        ("//a/z", "/z"),
        ("//a", "/"),
        (" /g\t", "/g"),
    ] {
        assert_eq!(to("http://a/b/c/d;p?q", location), path(expected), "{location}");
    }
    assert_eq!(to("http://a/b?c/d", "e"), path("/e"), "a query has no folders");
    assert_eq!(to("http://a", "e"), path("/e"));
    assert_eq!(to("http://a/", "x:y/z"), Err(Why::Scheme));
    assert_eq!(to("http://a/", "x/y:z"), path("/x/y:z"));
}

#[test]
fn percent_encodes_characters_that_a_uri_cannot_contain() {
    for (location, expected) in [
        ("/m oo o", "/m%20oo%20o"),
        ("m o?a b#c d", "/b/m%20o?a%20b"),
        ("/café", "/caf%C3%A9"),
        ("/?q=日本", "/?q=%E6%97%A5%E6%9C%AC"),
        ("http://a/ä", "/%C3%A4"),
        ("//a/x y", "/x%20y"),
        ("/a\"<b>\\^`{c|}", "/a%22%3Cb%3E%5C%5E%60%7Bc%7C%7D"),
        ("?a={b}|c", "/b/c?a=%7Bb%7D%7Cc"),
        // What is encoded stays so, and what is allowed is sent as it is.
        ("/caf%C3%A9%20", "/caf%C3%A9%20"),
        ("/100%", "/100%"),
        ("/[a]!$&'()*+,;=:@~-._?[b]/?", "/[a]!$&'()*+,;=:@~-._?[b]/?"),
        (" /a b ", "/a%20b"),
    ] {
        assert_eq!(to("http://a/b/c", location), path(expected), "{location}");
    }
    assert_eq!(to("http://a/", b"/caf\xe9"), path("/caf%E9"), "not UTF-8");
}

#[test]
fn returns_the_url_of_another_origin() {
    for location in ["http://b/x", "//b/x"] {
        let expected = Resolved::Elsewhere("http://b/x".parse().unwrap());
        assert_eq!(to("http://a/", location), Ok(expected));
    }
    for (base, location) in [
        ("http://[::1]:80/", "http://[::1]:81/"),
        ("http://a/", "https://a/"),
        ("http://a:443/", "https://a/"),
    ] {
        assert!(matches!(to(base, location), Ok(Resolved::Elsewhere(_))), "{location}");
    }
    assert_eq!(to("https://a/", "//a:443/x"), path("/x"));
    assert_eq!(to("http://[fe80::1%eth0]/", "http://[fe80::1]/x"), path("/x"));
    assert_eq!(to("http://[::1]:81/", "http://[0::1]:81/x"), path("/x"));
}

#[test]
fn gives_the_reason_why_a_location_can_not_be_followed() {
    for location in ["", " ", "\t "] {
        assert_eq!(to("http://a/", location), Err(Why::NoLocation));
        assert!(!has_value(location.as_bytes()));
    }
    for location in ["ftp://a/", "mailto:x", "javascript:void(0)"] {
        assert_eq!(to("http://a/", location), Err(Why::Scheme));
    }
    for broken in [
        "http://",
        "http:g",
        "http:/a/",
        "///a",
        "//",
        "http://a b/",
        "http://ä/",
        "http://0x7f.1/",
        "http://127.1/",
        "//./",
        "http://[::1/",
        "http://[::1%lo]/",
        "http://a:99999/",
        "http://u@a/",
        "/a\r\nb",
        "/a\tb",
        "/\0",
        "/\u{7f}",
    ] {
        assert_eq!(to("http://a/", broken), Err(Why::Broken), "{broken:?}");
    }
}

#[test]
fn follows_redirects_within_the_target_only() {
    for (base, host, location, expected) in [
        ("http://a/", None, "/x", Ok("/x")),
        ("http://a/", None, "http://A:80/x", Ok("/x")),
        ("http://a/", None, "http://b/x", Err(Why::Elsewhere)),
        ("http://a/", None, "http://a:8080/x", Err(Why::Elsewhere)),
        ("http://a/", None, "https://a/x", Err(Why::ToHttps)),
        ("https://a/", None, "http://a/x", Err(Why::ToHttp)),
        ("http://a/", None, "", Err(Why::NoLocation)),
        // The Host field is another name of the target.
        ("http://[::1]/", Some("b"), "http://b/x y", Ok("/x%20y")),
        ("http://[::1]/", Some("B.Example:80"), "http://b.example/x", Ok("/x")),
        ("http://[::1]/", Some("b:81"), "http://b:81/x", Ok("/x")),
        ("http://[::1]/", Some("b"), "http://[::1]/x", Ok("/x")),
        ("http://[::1]/", Some("b"), "http://b:81/x", Err(Why::Elsewhere)),
        ("http://[::1]/", Some("b"), "https://b/x", Err(Why::ToHttps)),
        ("http://[::1]/", Some("b"), "http://c/x", Err(Why::Elsewhere)),
        ("http://[::1]/", Some(""), "http://c/x", Err(Why::Elsewhere)),
    ] {
        let found = leads_to(&base.parse().unwrap(), host, location.as_bytes());
        assert_eq!(found, expected.map(str::to_owned), "{base} {host:?} {location}");
    }
}

#[test]
fn methods_change_as_in_browsers() {
    for (status, method, expected) in [
        (301, "POST", ("GET", false)),
        (302, "POST", ("GET", false)),
        (303, "PUT", ("GET", false)),
        (303, "GET", ("GET", false)),
        (303, "HEAD", ("HEAD", true)),
        (302, "PUT", ("PUT", true)),
        (307, "POST", ("POST", true)),
        (308, "DELETE", ("DELETE", true)),
    ] {
        assert_eq!(next_method(status, method), expected, "{status} {method}");
    }
    assert!(is_redirect(308) && !is_redirect(304) && !is_redirect(300) && !is_redirect(200));
}

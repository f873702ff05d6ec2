//! What a jar sends back after Set-Cookie fields of every kind. The kinds are those of the suite of
//! the http-state working group, of which RFC 6265 is the outcome; the fields are our own.

use super::*;

mod expiry;

/// 2026-11-26T00:00:00Z.
const NOW_MS: i64 = 1_795_651_200_000;

const OF: CookieContext<'static> =
    CookieContext { host: "www.example.net", path: "/a/b?c=/d", secure: false, now_ms: NOW_MS };

fn jar_of(set: &[&str], of: CookieContext<'_>) -> Jar {
    let mut jar = Jar::default();
    set.iter().for_each(|value| jar.set(value.as_bytes(), of));
    jar
}

fn sent_with(jar: &Jar, of: CookieContext<'_>) -> String {
    let mut out = Vec::new();
    jar.header(of, &mut out);
    String::from_utf8(out).unwrap()
}

fn jar(set: &[&str]) -> Jar {
    jar_of(set, OF)
}

fn sent(jar: &Jar, path: &str) -> String {
    sent_with(jar, CookieContext { path, ..OF })
}

/// Fields in order, and the cookies that are sent back to the same place.
fn check(table: &[(&[&str], &str)]) {
    for (set, expected) in table {
        assert_eq!(sent_with(&jar(set), OF), *expected, "{set:?}");
    }
}

#[test]
fn parses_cookie_names_and_values_without_altering_them() {
    check(&[
        (&["x=1"], "x=1"),
        (&["x=1", "x=2"], "x=2"),
        (&["b=1", "a=2"], "b=1; a=2"),
        (&["b=1", "a=2", "b=3"], "b=3; a=2"),
        (&["x=a=b==c"], "x=a=b==c"),
        (&["x=="], "x=="),
        (&["1=2"], "1=2"),
        (&["$Version=1; x=2"], "$Version=1"),
        (&["!#%&'*+-.^_`|~@(){}[]<>?/:\\=1"], "!#%&'*+-.^_`|~@(){}[]<>?/:\\=1"),
        (&["x y=1 2"], "x y=1 2"),
        (&["X=1", "x=2"], "X=1; x=2"),
        (&["Path=1"], "Path=1"),
        (&["x=grün"], "x=grün"),
        (&["日=本; 語"], "日=本"),
        // Without a value, and without a name.
        (&["x="], "x="),
        (&["x=1", "x="], "x="),
        (&[""], ""),
        (&["x"], ""),
        (&["="], ""),
        (&["=1"], ""),
        (&["==1"], ""),
        (&[" = 1"], ""),
        (&["; x=1"], ""),
        (&["x; y=1"], ""),
        (&["a=1", "=2", "c=3"], "a=1; c=3"),
        // Spaces and tabs around them go, those within stay.
        (&["  x  =  1  "], "x=1"),
        (&["\tx\t=\t1\t"], "x=1"),
        (&["x=1 \t 2 ;"], "x=1 \t 2"),
        (&["   "], ""),
        (&["\t"], ""),
        // Quotes are bytes like others.
        (&["x=\"1\""], "x=\"1\""),
        (&["x=\" 1 \""], "x=\" 1 \""),
        (&["x=\"1;2\""], "x=\"1"),
        (&["x=\"1"], "x=\"1"),
        (&["x=1\"2"], "x=1\"2"),
        (&["x=\"1\" \"2\" ; "], "x=\"1\" \"2\""),
        (&["x=\"\\\"1\""], "x=\"\\\"1\""),
        (&["\"x=1"], "\"x=1"),
        (&["\"x=1\"=2"], "\"x=1\"=2"),
        (&["\"x;y\"=1"], ""),
        // So are commas: a field sets one cookie.
        (&["x=1, y=2"], "x=1, y=2"),
        (&["x=\"1, y=2\""], "x=\"1, y=2\""),
        (&["x=1; y=2, z=3"], "x=1"),
    ]);
}

#[test]
fn recognizes_attributes_in_any_case_and_order() {
    check(&[
        (&["x=1;"], "x=1"),
        (&["x=1;;; ;"], "x=1"),
        (&["x=1; version=1; comment=\"a; b\"; HttpOnly; SameSite=Lax; Partitioned"], "x=1"),
        (&["x=1; =; ==; ,,,; =Secure"], "x=1"),
        (&["x=1; Secure"], ""),
        (&["x=1; sEcUrE"], ""),
        (&["x=1;Secure"], ""),
        (&["x=1;   Secure   ;"], ""),
        (&["x=1; Secure="], ""),
        (&["x=1; Secure =false"], ""),
        (&["x=1; y; Secure; z"], ""),
        (&["x=1; y=\"a;b\"; Secure"], ""),
        (&["x=1; \"Secure\""], "x=1"),
        (&["x=1; Secure y"], "x=1"),
        (&["x=1; Secured"], "x=1"),
        (&["x=1; PATH=/no"], ""),
        (&["x=1; pAtH=/no; Domain=example.net"], ""),
        (&["x=1; Domain=example.net; Path=/no"], ""),
        (&["x=1; Path=/no, y=2"], ""),
    ]);
}

#[test]
fn cookies_are_sent_back_where_their_path_says() {
    let jar = jar(&["x=1", "y = 2 ; Path=/", "z=\"3\"; path=/a/b; HttpOnly; SameSite=Lax"]);
    for (path, expected) in [
        ("/a/b", "z=\"3\"; x=1; y=2"),
        ("/a/b/c?x", "z=\"3\"; x=1; y=2"),
        ("/a", "x=1; y=2"),
        ("/a/", "x=1; y=2"),
        ("/ab", "y=2"),
        ("/?/a/b", "y=2"),
    ] {
        assert_eq!(sent(&jar, path), expected, "{path}");
    }
    assert_eq!(sent(&Jar::default(), "/"), "");
}

#[test]
fn uses_the_last_path_and_the_default_for_an_invalid_one() {
    for (field, path, expected) in [
        ("x=1; Path", "/a/c", true),
        ("x=1; Path=", "/a/c", true),
        ("x=1; Path=a", "/a/c", true),
        ("x=1; Path=\"/no\"", "/a/c", true),
        ("x=1; Path=", "/b", false),
        ("x=1; Path=/no; Path=", "/a/c", true),
        ("x=1; Path=; Path=/no", "/a/c", false),
        ("x=1; Path=/no; Path=/", "/b", true),
        ("x=1; Path=/; Path=/no", "/b", false),
        ("x=1;\tpath\t=\t/b\t", "/b", true),
        ("x=1; Path=/B", "/b", false),
        ("x=1; Path=/b/", "/b", false),
        ("x=1; Path=/b/", "/b/", true),
        ("x=1; Path=/b/", "/b//c", true),
        ("x=1; Path=/b", "/bc", false),
        ("x=1; Path=/b?", "/b?", false),
        ("x=1; Path=/b#", "/b", false),
        ("x=1; Path=/%62", "/b", false),
        ("x=1; Path=/b; c", "/b/c", true),
    ] {
        assert_eq!(!sent(&jar(&[field]), path).is_empty(), expected, "{field} {path}");
    }
    let long = format!("/{}", "a".repeat(LONGEST_ATTRIBUTE));
    let jar = jar(&[&format!("x=1; Path={long}")]);
    assert_eq!(sent(&jar, "/a/b"), "x=1", "the default path is taken");
    let from = CookieContext { path: &format!("{long}/b"), ..OF };
    assert!(jar_of(&["x=1"], from).is_empty());
}

/// Host that sets the cookie, Domain attribute, host that is asked next, and whether it is sent.
#[test]
fn a_domain_attribute_extends_a_cookie_to_subdomains_only() {
    const WWW: &str = "www.example.net";
    for (from, domain, to, expected) in [
        (WWW, "", WWW, true),
        (WWW, "", "a.www.example.net", false),
        (WWW, "; Domain=www.example.net", WWW, true),
        (WWW, "; Domain=.www.example.net", WWW, true),
        (WWW, "; Domain=www.example.net", "a.www.example.net", true),
        (WWW, "; Domain=www.example.net", "b.example.net", false),
        (WWW, "; domain=example.net", "b.example.net", true),
        (WWW, "; domain=.eXample.neT", "B.Example.net", true),
        (WWW, "; domain = example.net ", "example.net", true),
        (WWW, "; domain=example.net", "badexample.net", false),
        (WWW, "; domain=b.example.net", "b.example.net", false),
        (WWW, "; domain=a.www.example.net", "a.www.example.net", false),
        (WWW, "; domain=ample.net", WWW, false),
        (WWW, "; domain=example.org", WWW, false),
        (WWW, "; domain=net", WWW, false),
        (WWW, "; domain=.net", WWW, false),
        (WWW, "; domain=.net.", WWW, false),
        (WWW, "; domain=..example.net", WWW, false),
        (WWW, "; domain=. example.net", WWW, false),
        (WWW, "; domain=example..net", WWW, false),
        (WWW, "; domain=example.net.", WWW, false),
        (WWW, "; domain=example.net:80", WWW, false),
        (WWW, "; domain=\"example.net\"", WWW, false),
        // Without a value it is no attribute.
        (WWW, "; domain", WWW, true),
        (WWW, "; domain=", WWW, true),
        (WWW, "; domain=", "a.www.example.net", false),
        (WWW, "; domain=.", WWW, true),
        (WWW, "; domain=example.net; domain=", "b.example.net", true),
        (WWW, "; domain=b.example.net; domain=", WWW, false),
        // The last one counts.
        (WWW, "; domain=example.org; domain=example.net", "b.example.net", true),
        (WWW, "; domain=example.net; domain=example.org", WWW, false),
        (WWW, "; domain=www.example.net; domain=example.net", "b.example.net", true),
        (WWW, "; domain=example.net; domain=www.example.net", "b.example.net", false),
        // A host of one label, or with a dot at its end.
        ("localhost", "; domain=localhost", "localhost", true),
        ("localhost", "; domain=localhost", "a.localhost", false),
        ("www.example.net.", "; domain=example.net", "b.example.net", true),
        // Addresses have no domain but themselves.
        ("127.0.0.1", "", "127.0.0.1", true),
        ("127.0.0.1", "; domain=127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "; domain=0.0.1", "127.0.0.1", false),
        ("127.0.0.1", "; domain=.1", "127.0.0.1", false),
        ("[::1]", "; domain=[::1]", "[::1]", true),
        ("[::1]", "; domain=1]", "[::1]", false),
        ("[::ffff:192.0.2.1]", "; domain=2.1]", "[::ffff:192.0.2.1]", false),
    ] {
        let jar = jar_of(&[&format!("x=1{domain}")], CookieContext { host: from, ..OF });
        let sent = sent_with(&jar, CookieContext { host: to, ..OF });
        assert_eq!(!sent.is_empty(), expected, "{from}{domain} {to}");
    }
}

#[test]
fn cookies_are_distinct_if_name_domain_or_path_differ() {
    let jar = jar(&[
        "k=0",
        "k=1; Path=/a",
        "k=2; Path=/",
        "k=3; Path=/c",
        "k=4; Domain=example.net; Path=/",
        "k=5; Domain=.example.net; Path=/a/b",
        "k=6; Domain=www.example.net; Path=/",
        "k=7; Domain=EXAMPLE.net; Path=/",
    ]);
    assert_eq!(sent(&jar, "/a/b"), "k=5; k=1; k=2; k=7; k=6");
    let sibling = CookieContext { host: "b.example.net", path: "/", ..OF };
    assert_eq!(sent_with(&jar, sibling), "k=7");
}

#[test]
fn longer_paths_come_first_and_then_older_cookies() {
    check(&[
        (&["a=1; Path=/", "b=2; Path=/a"], "b=2; a=1"),
        (&["a=1; Path=/a", "b=2; Path=/"], "a=1; b=2"),
        (&["a=1; Path=/a", "b=2; Path=/a/b", "c=3; Path=/a"], "b=2; a=1; c=3"),
        (&["a=1; Path=/a/b", "a=2; Path=/a", "a=3; Path=/a/b"], "a=3; a=2"),
        // One that was deleted and comes again is new.
        (&["a=1", "b=2", "a=; Max-Age=0", "a=3"], "b=2; a=3"),
    ]);
}

#[test]
fn a_cookie_of_the_same_name_and_path_replaces_the_old_one() {
    let jar = jar(&["x=1; Path=/", "y=2; Path=/", "x=3; Path=/", "x=4; Path=/a"]);
    assert_eq!(sent(&jar, "/"), "x=3; y=2");
    assert_eq!(sent(&jar, "/a"), "x=4; x=3; y=2");
}

#[test]
fn rejects_cookies_with_control_characters_or_excessive_length() {
    for value in ["x=\u{7}", "x\0=1", "x=1\r\ny: z", "x=1; Path=/\u{7f}", "x=1; y=\u{1}"] {
        assert!(jar(&[value]).is_empty(), "{value:?}");
    }
    assert!(jar(&[&format!("x={}", "y".repeat(4_096))]).is_empty());
    assert!(!jar(&[&format!("x={}", "y".repeat(4_095))]).is_empty());
    let long = "d".repeat(LONGEST_ATTRIBUTE + 1);
    assert!(!jar(&[&format!("x=1; Domain={long}; Max-Age={}", "0".repeat(1_025))]).is_empty());
}

#[test]
fn sets_and_sends_secure_cookies_over_tls_only() {
    let tls = CookieContext { secure: true, ..OF };
    let jar = jar_of(&["x=1; Secure; Path=/", "y=2"], tls);
    assert_eq!(sent(&jar, "/a/b"), "y=2");
    assert_eq!(sent_with(&jar, tls), "y=2; x=1");
    let mut jar = jar_of(&["x=1"], OF);
    jar.set(b"x=2; Secure", OF);
    assert_eq!(sent_with(&jar, tls), "x=1");
    for (field, expected) in [
        ("__Secure-x=1; Secure", true),
        ("__secure-x=1", false),
        ("__Host-x=1; Secure; Path=/", true),
        ("__HOST-x=1; Secure; Path=/; Domain=example.net", false),
        ("__Host-x=1; Secure; Path=/a", false),
        ("__Host-x=1; Secure", false),
        ("__Host-x=1; Path=/", false),
        ("__Hostx=1", true),
    ] {
        assert_eq!(!jar_of(&[field], tls).is_empty(), expected, "{field}");
    }
}

#[test]
fn a_jar_does_not_grow_without_end() {
    let many: Vec<String> = (0..60).map(|n| format!("c{n}=1; Path=/")).collect();
    let mut jar = jar(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let all = sent(&jar, "/");
    assert_eq!(all.split("; ").count(), MOST);
    assert!(all.starts_with("c10=1") && all.ends_with("c59=1"));
    // Those that have expired go first.
    jar.set(b"c20=1; Path=/; Max-Age=1", OF);
    let later = CookieContext { now_ms: NOW_MS + 1_000, ..OF };
    jar.set(b"c60=1; Path=/", later);
    let left = sent_with(&jar, later);
    assert_eq!(left, all.replace("c20=1; ", "") + "; c60=1");
    jar.clear();
    assert!(jar.is_empty());
}

//! Cookies that are deleted or expire.

use super::*;

#[test]
fn a_past_max_age_or_expires_date_deletes_a_cookie() {
    for deletion in [
        "x=; Max-Age=0; Path=/",
        "x=; max-age=-5; path=/",
        "x=; Max-Age=-99999999999999999999; path=/",
        "x=; Max-Age=60; Max-Age=0; path=/",
        "x=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/",
        "x=; Expires=Thu, 01-Jan-70 00:00:01 GMT; Path=/",
        "x=; Expires=Fri, 31 Dec 1999 23:59:59 GMT; Path=/",
        // A day, a minute and a moment ago.
        "x=; Expires=Wed, 25 Nov 2026 00:00:00 GMT; Path=/",
        "x=; Expires=Wednesday, 25-Nov-26 23:59:00 GMT; Path=/",
        "x=; Expires=Thu Nov 26 00:00:00 2026; Path=/",
        "x=; Max-Age=0; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Path=/",
        "x=; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Expires=Thu, 01-Jan-1970 00:00:00; Path=/",
        "x=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Expires=never; Path=/",
        "x=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=never; Path=/",
    ] {
        assert!(jar(&["x=1; Path=/", deletion]).is_empty(), "{deletion}");
    }
    for kept in [
        "x=2; Max-Age=5; Path=/",
        "x=2; Max-Age=99999999999999999999; Path=/",
        "x=2; Max-Age=; Path=/",
        "x=2; Max-Age=-; Path=/",
        "x=2; Max-Age=+0; Path=/",
        "x=2; Max-Age=0,5; Path=/",
        "x=2; Max-Age=0.5; Path=/",
        "x=2; Max-Age=0, y=3; Path=/",
        "x=2; Max-Age=0x0; Path=/",
        "x=2; Max-Age=\"0\"; Path=/",
        "x=2; Max-Age=0; Max-Age=60; Path=/",
        "x=2; Max-Age=60; Max-Age=never; Path=/",
        "x=2; Expires; Path=/",
        "x=2; Expires=0; Path=/",
        "x=2; Expires=1970; Path=/",
        "x=2; Expires=Thu, 01 Jan 1970; Path=/",
        "x=2; Expires=Thu, 32 Jan 1970 00:00:00 GMT; Path=/",
        "x=2; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Path=/",
        "x=2; Expires=Thu, 26 Nov 2026 00:00:01 GMT; Path=/",
        "x=2; Expires=Thu, 26-Nov-69 00:00:01 GMT; Path=/",
        "x=2; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/",
    ] {
        assert_eq!(sent(&jar(&["x=1; Path=/", kept]), "/"), "x=2", "{kept}");
    }
    // Another path is another cookie.
    assert_eq!(sent(&jar(&["x=1; Path=/", "x=; Max-Age=0"]), "/a/b"), "x=1");
}

#[test]
fn a_cookie_expires_after_its_max_age_or_expires_date() {
    let jar = jar(&[
        "a=1; Max-Age=2",
        "b=2; Expires=Thu, 26 Nov 2026 00:00:03 GMT",
        "c=3",
        "d=4; Max-Age=5; Expires=Thu, 26 Nov 2026 00:00:01 GMT",
    ]);
    for (after_ms, expected) in [
        (0, "a=1; b=2; c=3; d=4"),
        (1_999, "a=1; b=2; c=3; d=4"),
        (2_000, "b=2; c=3; d=4"),
        (3_000, "c=3; d=4"),
        (4_999, "c=3; d=4"),
        (5_000, "c=3"),
        (i64::MAX - NOW_MS - 1, "c=3"),
    ] {
        let later = CookieContext { now_ms: NOW_MS + after_ms, ..OF };
        assert_eq!(sent_with(&jar, later), expected, "{after_ms} ms");
    }
}

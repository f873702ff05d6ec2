use std::io::Write as _;

use super::*;

/// `abc`, from FIPS 180-2.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn checks(texts: &[&str]) -> Checks {
    Checks::new(texts.iter().map(|text| text.parse().unwrap()).collect())
}

/// Passes the content byte by byte if it is short.
fn inspect(checks: &Checks, fields: &[(&str, &str)], content: &[u8]) -> Result<(), Mismatch> {
    let (mut inspection, mut kept) = (Inspection::default(), KeptContent::of_worker(1));
    // State of the previous response must not be seen.
    inspection.begin(&mut kept);
    inspection.field(checks, b"Content-Encoding", b"br");
    inspection.content(checks, b"left over", &mut kept);
    inspection.begin(&mut kept);
    for (name, value) in fields {
        inspection.field(checks, name.as_bytes(), value.as_bytes());
    }
    let piece = if content.len() > 10_000 { 4_096 } else { 1 };
    content.chunks(piece).for_each(|piece| inspection.content(checks, piece, &mut kept));
    inspection.finish(checks, 200).map_err(|rejection| match rejection {
        Rejection::Mismatch(mismatch) => mismatch,
        Rejection::Unchecked => panic!("there was room"),
    })
}

fn found(check: &str, fields: &[(&str, &str)], content: &[u8]) -> Option<String> {
    inspect(&checks(&[check]), fields, content).err().map(|mismatch| {
        assert_eq!(&*mismatch.check, check);
        assert!(mismatch.found.is_ascii() && mismatch.found.len() < 900, "{}", mismatch.found);
        mismatch.found
    })
}

#[test]
fn passes_a_response_that_matches_the_check() {
    let content = br#"{"a": {"b": 1, "c/d": ["x", true]}, "n": null}"#;
    for check in [
        "status=200",
        "status=2xx",
        "status=301,200",
        "status=404,2xx",
        "size=46",
        "json:/a/b=1",
        "json:/a/b=1.0",
        "json:/a/c~1d/0=x",
        "json:/a/c~1d/0=\"x\"",
        "json:/a/c~1d/1=true",
        "json:/a/c~1d=[\"x\",true]",
        "json:/n=null",
        "body~\"b\": \\d",
        "body~(?i)NULL",
        "header:X-One=1, 2",
    ] {
        let fields = [("x-one", "1"), ("Other", "3"), ("X-ONE", "2")];
        assert_eq!(found(check, &fields, content), None, "{check}");
    }
    assert_eq!(found(&format!("sha256={ABC}"), &[], b"abc"), None);
    assert_eq!(found(&format!("sha256={}", ABC.to_uppercase()), &[], b"abc"), None);
}

#[test]
fn quotes_the_actual_value_if_a_check_fails() {
    for (check, content, part) in [
        ("status=404,5xx", "", "200"),
        ("size=3", "ab", "2"),
        ("json:/a=1", "{\"a\":2}", "2"),
        ("json:/a=1", "{\"a\":\"1\"}", "\\\"1\\\""),
        ("json:/b=1", "{\"a\":2}", "no value there: {\\\"a\\\":2}"),
        ("json:/b=1", "<html>", "not JSON: <html>"),
        ("body~^x", "a\n\\\u{e4}", "a\\n\\\\\\xc3\\xa4"),
        ("header:A=b", "", "no such field"),
        ("header:X=b", "", "c"),
    ] {
        let found = found(check, &[("X", "c")], content.as_bytes()).unwrap();
        assert!(found.contains(part), "{check}: {found}");
    }
    let wrong = found(&format!("sha256={ABC}"), &[], b"").unwrap();
    assert!(wrong.starts_with("e3b0c44298fc1c14"), "the hash of nothing: {wrong}");
    let long = found("body~x", &[], &[b'y'; 1_000]).unwrap();
    assert!(long.ends_with("... and 800 bytes more"), "{long}");
}

#[test]
fn reports_the_first_failing_check() {
    let all = checks(&["status=200", "size=3", "body~b"]);
    assert_eq!(inspect(&all, &[], b"abc"), Ok(()));
    assert_eq!(&*inspect(&all, &[], b"ac").unwrap_err().check, "size=3");
    assert_eq!(&*inspect(&all, &[], b"acd").unwrap_err().check, "body~b");
    assert_eq!(inspect(&Checks::default(), &[], b"x"), Ok(()));
}

#[test]
fn requests_only_the_response_parts_that_the_checks_need() {
    let needs = |text: &str| checks(&[text]).needs();
    assert_eq!(needs("status=200"), Needs::default());
    assert!(needs("header:a=b").fields && !needs("header:a=b").content);
    assert!(needs("size=1").content && !needs("size=1").whole && !needs("size=1").fields);
    let hash = needs(&format!("sha256={ABC}"));
    assert!(hash.content && hash.hash && !hash.whole);
    assert!(needs("body~x").whole && needs("json:/a=1").whole);
    assert!(checks(&["status=200", "body~x"]).needs().whole);
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn checks_content_after_decoding_its_content_encoding() {
    let hash = format!("sha256={ABC}");
    // A brotli stream of one uncompressed meta-block and an empty last one (RFC 7932, 9.2), and a
    // zstd frame of one raw block (RFC 8878, 3.1.1).
    let brotli = [0x20, 0x00, 0x10, b'a', b'b', b'c', 0x03];
    let brotli = brotli.as_slice();
    let zstd = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x03, 0x19, 0x00, 0x00, b'a', b'b', b'c'];
    let raw = &zlib(b"abc")[2..];
    for (coding, content) in [
        ("gzip", &*gzip(b"abc")),
        ("X-GZIP", &gzip(b"abc")),
        ("deflate", &zlib(b"abc")),
        ("deflate", raw),
        ("br", brotli),
        ("zstd", &zstd),
        ("identity", b"abc"),
        ("gzip, gzip", &gzip(&gzip(b"abc"))),
        ("deflate, gzip", &gzip(&zlib(b"abc"))),
    ] {
        let fields = [("content-encoding", coding)];
        for check in ["body~^abc$", &hash] {
            assert_eq!(found(check, &fields, content), None, "{coding} {check}");
        }
        // The size is that of the content as received.
        assert_eq!(found(&format!("size={}", content.len()), &fields, content), None);
    }
}

/// As in responses to HEAD, of status 204 and 304, and in empty ones, whose fields tell of another
/// content.
#[test]
fn treats_missing_content_as_empty_whatever_its_content_encoding() {
    const EMPTY: &str = "sha256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    for coding in ["gzip", "x-gzip", "deflate", "br", "zstd", "gzip, br", "compress", "identity"] {
        let fields = [("Content-Encoding", coding)];
        for check in ["body~^$", "size=0", "status=200", EMPTY] {
            assert_eq!(found(check, &fields, b""), None, "{coding} {check}");
        }
        assert_eq!(found("body~a", &fields, b""), Some(String::new()), "{coding}");
    }
}

#[test]
fn content_that_can_not_be_decoded_fails_its_check() {
    for (coding, content, part) in [
        ("gzip", &b"abc"[..], "not valid gzip"),
        ("gzip", &gzip(b"abcabcabc")[..15], "not valid gzip"),
        ("br", b"\xff\xff\xff", "not valid br"),
        ("zstd", b"abc", "not valid zstd"),
        ("compress", b"abc", "unknown content coding 'compress'"),
        ("gzip,gzip,gzip,gzip,gzip", b"x", "more than 4"),
    ] {
        let found = found("body~a", &[("Content-Encoding", coding)], content).unwrap();
        assert!(found.contains(part), "{coding}: {found}");
        // A check of the status alone decodes nothing.
        assert_eq!(self::found("status=200", &[("Content-Encoding", coding)], content), None);
    }
}

#[test]
fn fails_body_checks_on_content_above_16_mib() {
    let long = vec![b'x'; MOST_CONTENT + 1];
    assert!(found("body~x", &[], &long).unwrap().contains("more than 16777216"));
    assert_eq!(found("body~^x+$", &[], &long[1..]), None);
    let bomb = found("body~x", &[("Content-Encoding", "gzip")], &gzip(&long)).unwrap();
    assert!(bomb.contains("once decoded"), "{bomb}");
    assert_eq!(found(&format!("size={}", long.len()), &[], &long), None, "a size needs none of it");
}

/// Responses of 4 MiB each, all in flight at once, of one of `workers` workers.
fn together(workers: u32, check: &str, responses: usize) -> (usize, usize, KeptContent) {
    let (checks, content) = (checks(&[check]), vec![b'x'; 4 << 20]);
    let mut kept = KeptContent::of_worker(workers);
    let mut inspections = vec![Inspection::default(); responses];
    for inspection in &mut inspections {
        inspection.begin(&mut kept);
        content.chunks(10_000).for_each(|piece| inspection.content(&checks, piece, &mut kept));
    }
    let held: usize = inspections.iter().map(Inspection::held).sum();
    let unchecked = inspections.iter().filter(|one| {
        let rejected = one.finish(&checks, 200);
        assert!(matches!(rejected, Ok(()) | Err(Rejection::Unchecked)), "{rejected:?}");
        rejected.is_err()
    });
    let unchecked = unchecked.count();
    inspections.iter_mut().for_each(|one| one.let_go(&mut kept));
    (held, unchecked, kept)
}

#[test]
fn contents_in_flight_are_kept_within_the_budget_of_the_process() {
    for (workers, most) in [(1, MOST_KEPT), (4, MOST_KEPT / 4), (1_000, MOST_CONTENT)] {
        let (held, unchecked, kept) = together(workers, "body~x", 100);
        assert!(held <= most, "{held} of {most}");
        let fit = 100 - unchecked;
        // Buffers double as they grow, so at least half of the room is used.
        assert!(fit * (4 << 20) * 2 >= most.min(100 * (4 << 20)), "{workers}: {fit}");
        assert_eq!(unchecked > 0, most < 400 << 20);
        assert_eq!(kept.left(), most, "all of it is there for those to come");
    }
    let (held, unchecked, _) = together(4, "size=4194304", 100);
    assert_eq!((held, unchecked), (0, 0), "a size needs nothing kept");
}

#[test]
fn checks_the_status_even_without_room_to_buffer_the_content() {
    let mut kept = KeptContent::of_worker(1_000);
    let (checks, content) = (checks(&["status=200", "body~x"]), vec![b'x'; MOST_CONTENT]);
    let mut first = Inspection::default();
    first.begin(&mut kept);
    first.content(&checks, &content, &mut kept);
    let mut second = Inspection::default();
    second.begin(&mut kept);
    second.content(&checks, b"x", &mut kept);
    assert_eq!(first.finish(&checks, 200), Ok(()));
    assert_eq!(second.finish(&checks, 200), Err(Rejection::Unchecked));
    assert!(matches!(second.finish(&checks, 404), Err(Rejection::Mismatch(_))));
    // Once the first response is released there is room again.
    first.let_go(&mut kept);
    second.begin(&mut kept);
    second.content(&checks, b"x", &mut kept);
    assert_eq!(second.finish(&checks, 200), Ok(()));
}

#[test]
fn rejects_a_malformed_check_and_quotes_it() {
    for (text, part) in [
        ("", "status=200"),
        ("200", "status=200"),
        ("status", "status=200"),
        ("state=1", "status=200"),
        ("status=", "200, 2xx"),
        ("status=20", "200, 2xx"),
        ("status=2x", "200, 2xx"),
        ("status=0xx", "200, 2xx"),
        ("status=200,", "200, 2xx"),
        ("status=999", "from 200 to 599"),
        ("status=200,6xx", "from 200 to 599"),
        ("status=1xx", "from 200 to 599"),
        ("body~", "empty pattern"),
        ("json:/a/b=", "json:/a/b=\"\""),
        ("json:=", "no value"),
        ("sha256=abc", "64 hexadecimal"),
        ("size=-1", "whole number"),
        ("json:a=1", "begins with /"),
        ("body~(", "unclosed group"),
        ("header:a b=c", "header name"),
    ] {
        let error = text.parse::<Expect>().unwrap_err();
        assert!(error.contains(part) && error.contains(text) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn serializes_checks_as_their_text() {
    let all = checks(&["status=200", "body~x"]);
    let written = serde_json::to_value(&all).unwrap();
    assert_eq!(written, serde_json::json!(["status=200", "body~x"]));
    let mut read: Checks = serde_json::from_value(written).unwrap();
    assert_eq!(read, all);
    read = serde_json::from_value(serde_json::json!(["newer=1"])).unwrap();
    assert_eq!(inspect(&read, &[], b""), Ok(()));
}

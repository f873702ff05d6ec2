//! Paths do the same over every protocol.

use sixmark_origin::Limits;
use sixmark_testkit::client::{Protocol, Wish};

use super::{Stage, everywhere, get};

#[test]
fn the_bytes_path_serves_the_same_bytes_over_every_protocol() {
    let reference = Stage::plain(Limits::default());
    for n in [0, 1, 65_536, 1_000_003] {
        let path = format!("/bytes/{n}");
        let whole = reference.ask(Protocol::Http1, reference.addresses()[0], get(&path)).unwrap();
        everywhere(|protocol, ask| {
            let answer = ask(get(&path)).unwrap();
            assert_eq!((answer.status, answer.fault.clone()), (200, None), "{protocol:?}");
            assert_eq!(answer.field("content-length"), Some(&n.to_string()[..]), "{protocol:?}");
            assert_eq!(answer.body.len(), n, "{protocol:?}");
            assert!(answer.body == whole.body, "{protocol:?}: other bytes");
        });
    }
}

#[test]
fn a_head_response_has_content_length_and_no_body() {
    everywhere(|protocol, ask| {
        for (path, length) in [("/bytes/1099511627776", "1099511627776"), ("/truncate/8", "8")] {
            let answer = ask(Wish("HEAD", path, b"")).unwrap();
            assert_eq!(answer.field("content-length"), Some(length), "{protocol:?} {path}");
            assert_eq!((answer.body.len(), answer.fault), (0, None), "{protocol:?} {path}");
        }
    });
}

#[test]
fn the_chunked_path_uses_chunks_over_http1_and_never_sends_a_length() {
    everywhere(|protocol, ask| {
        let answer = ask(get("/chunked/100000")).unwrap();
        let chunks = answer.field("transfer-encoding") == Some("chunked");
        assert_eq!(chunks, protocol == Protocol::Http1, "{protocol:?}");
        assert_eq!(answer.field("content-length"), None, "{protocol:?}");
        assert!(chunks || answer.body.len() == 100_000, "{protocol:?}");
    });
}

#[test]
fn the_sink_path_reports_the_size_of_an_upload() {
    everywhere(|protocol, ask| {
        for content in [&b""[..], b"12345", &[7; 300_000]] {
            let answer = ask(Wish("PUT", "/sink", content)).unwrap();
            let counted = format!("{{\"received\":{}}}\n", content.len());
            assert_eq!(String::from_utf8_lossy(&answer.body), counted, "{protocol:?}");
        }
    });
}

#[test]
fn other_paths_answer_with_their_expected_status_and_body() {
    everywhere(|protocol, ask| {
        for (path, status, content) in [
            ("/health", 200, "ok\n"),
            ("/delay/1", 200, "waited 1 ms\n"),
            ("/capacity/1000", 200, "served\n"),
            ("/status/503", 503, "503 Service Unavailable\n"),
            ("/status/204", 204, ""),
            ("/bytes/x", 400, "/bytes/N: N must be a number from 0 to 1099511627776\n"),
        ] {
            let answer = ask(get(path)).unwrap();
            assert_eq!(answer.status, status, "{protocol:?} {path}");
            assert_eq!(String::from_utf8_lossy(&answer.body), content, "{protocol:?} {path}");
        }
        assert_eq!(ask(get("/drip/4/1")).unwrap().body.len(), 4, "{protocol:?}");
        assert_eq!(ask(get("/sink")).unwrap().field("allow"), Some("PUT, POST"), "{protocol:?}");
    });
}

#[test]
fn the_dynamic_page_names_the_family_of_the_client() {
    let stage = Stage::secure(Limits::default());
    for (&address, family) in stage.addresses().iter().zip(["IPv6", "IPv4"]) {
        for protocol in Protocol::ALL {
            let page = stage.ask(protocol, address, get("/dynamic")).unwrap().body;
            let page = String::from_utf8(page).unwrap();
            assert!(page.contains(&format!("over {family}")), "{protocol:?} {page}");
        }
    }
}

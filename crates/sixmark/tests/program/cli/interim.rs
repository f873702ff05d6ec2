//! Interim responses: they end no wait, and have a time of their own.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use sixmark_testkit::{Raw, json};

/// How long the response comes after the interim one, at least.
const LATER: Duration = Duration::from_millis(30);

/// Sends an interim response at once and the final one later.
fn hints() -> Raw {
    Raw::start(|mut stream| {
        while stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0) {
            let _ = stream.write_all(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
            std::thread::sleep(LATER);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    })
}

#[test]
fn an_interim_response_does_not_end_the_wait() {
    let server = hints();
    let [v6, v4] = server.urls("http");
    for more in [
        &["--driver", "uring"][..],
        &["--driver", "uring", "--expect", "size=2"],
        &["--driver", "epoll"],
        &["--driver", "epoll", "--rate", "100/s"],
    ] {
        let result = json(&[&["-n", "12", "-c", "4"], more, &[&v6, &v4]].concat());
        for family in ["ipv6", "ipv4"] {
            let figures = &result["families"][family];
            assert_eq!(figures["outcomes"]["NORMAL"], 6, "{more:?}");
            assert_eq!(figures["requests"]["interim_responses"], 6, "{more:?}");
            assert_eq!(figures["status"], serde_json::json!({"200": 6}));
            let [interim, wait] = ["interim_us", "wait_us"].map(|of| &figures[of]);
            assert_eq!((&interim["count"], &wait["count"]), (&6.into(), &6.into()));
            let us = |of: &serde_json::Value| of.as_f64().unwrap();
            let later = LATER.as_micros() as f64;
            assert!(us(&wait["min"]) >= later * 0.98, "{more:?}: {wait}");
            let between = us(&wait["mean"]) - us(&interim["mean"]);
            // Documents have three digits.
            assert!(between >= later * 0.98, "{more:?}: {interim} {wait}");
        }
    }
}

#[test]
fn omits_interim_figures_without_interim_responses() {
    let origin = sixmark_testkit::Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let result = json(&["-n", "4", &v6, &v4]);
    for figures in [&result["total"], &result["families"]["ipv6"]] {
        assert!(figures.get("interim_us").is_none(), "{figures}");
        assert!(figures["requests"].get("interim_responses").is_none(), "{figures}");
    }
}

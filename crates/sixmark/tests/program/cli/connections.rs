//! How connections are used and closed.

use serde_json::Value;
use sixmark_testkit::{Server, json};

fn connections(result: &Value, which: &str) -> u64 {
    result["total"]["connections"][which].as_u64().unwrap()
}

/// Every connection that was opened was closed, and the server saw as many.
fn closed_as_opened(result: &Value, server: &Server) {
    assert_eq!(connections(result, "opened"), connections(result, "closed"));
    assert_eq!(result["total"]["lifetime_us"]["count"], connections(result, "closed"));
    assert_eq!(connections(result, "opened"), server.connections() as u64);
}

#[test]
fn connections_are_kept_unless_asked_otherwise() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let result = json(&["-n", "200", "-c", "4", "-t", "2", &v6, &v4]);
    // Each of four places may need one connection a family, and again one that had to go for the other's.
    let most = 8 + connections(&result, "displaced");
    assert!((2..=most).contains(&connections(&result, "opened")), "{}", result["total"]);
    closed_as_opened(&result, &server);
    assert!(server.seen().iter().all(|request| !request.head.contains("Connection:")));
}

#[test]
fn without_keep_alive_each_request_has_its_connection() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let result = json(&["-n", "200", "-c", "4", "-t", "2", "--no-keep-alive", &v6, &v4]);
    assert_eq!(connections(&result, "opened"), 200);
    assert_eq!(connections(&result, "reset_sent"), 0);
    closed_as_opened(&result, &server);
    assert!(server.seen().iter().all(|request| request.head.contains("Connection: close\r\n")));
}

#[test]
fn a_connection_carries_as_many_requests_as_allowed() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let options = ["-n", "200", "-c", "1", "--requests-per-connection", "10"];
    let result = json(&[&options[..], &[&v6, &v4]].concat());
    assert_eq!(connections(&result, "opened"), 20);
    closed_as_opened(&result, &server);
    let last = |head: &String| head.contains("Connection: close\r\n");
    assert_eq!(server.seen().iter().filter(|request| last(&request.head)).count(), 20);
}

#[test]
fn counts_resets_sent_at_close_and_warns_about_them() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let options = ["-n", "40", "-c", "4", "--close", "rst", "--no-keep-alive"];
    let result = json(&[&options[..], &[&v6, &v4]].concat());
    assert_eq!(connections(&result, "reset_sent"), 40);
    assert_eq!(result["total"]["requests"]["completed"], 40);
    closed_as_opened(&result, &server);
    let warnings = result["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "close_rst"), "{warnings:?}");
}

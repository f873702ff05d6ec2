//! What each request says.

use sixmark_testkit::{Server, json};

#[test]
fn sends_the_given_method_path_and_headers() {
    let server = Server::start();
    let [v6, v4] = server.urls("/a/b?c=d#fragment");
    let fields = ["-H", "Host: other.example", "-H", "X-Note: six", "-H", "Accept: text/html"];
    json(&[&["-n", "10", "-c", "2", "-X", "DELETE"][..], &fields, &[&v6, &v4]].concat());
    let seen = server.seen();
    assert_eq!(seen.len(), 10);
    for request in seen {
        let mut lines = request.head.lines();
        assert_eq!(lines.next(), Some("DELETE /a/b?c=d HTTP/1.1"));
        assert_eq!(lines.next(), Some("Host: other.example"), "Host comes first");
        let rest: Vec<&str> = lines.collect();
        assert!(rest.contains(&"X-Note: six"), "{rest:?}");
        let of = |name: &str| rest.iter().filter(|line| line.starts_with(name)).count();
        assert_eq!((of("Accept"), of("Host"), of("User-Agent: sixmark/")), (1, 0, 1), "{rest:?}");
    }
}

/// RFC 9110, 8.6: servers answer 411 to such a request without a length.
#[test]
fn sends_content_length_0_with_an_empty_post_put_or_patch() {
    for (method, count) in [("POST", 1), ("PUT", 1), ("PATCH", 1), ("DELETE", 0), ("GET", 0)] {
        let server = Server::start();
        let [v6, v4] = server.urls("/");
        json(&["-n", "4", "-c", "2", "-X", method, &v6, &v4]);
        for request in server.seen() {
            let lines = request.head.lines();
            let lengths: Vec<&str> = lines.filter(|line| line.starts_with("Content-")).collect();
            assert_eq!(lengths, vec!["Content-Length: 0"; count], "{method}");
        }
    }
}

#[test]
fn the_host_field_names_address_and_port() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    json(&["-n", "4", "-c", "2", &v6, &v4]);
    for request in server.seen() {
        let url = if request.peer.is_ipv6() { &v6 } else { &v4 };
        let authority = url.trim_start_matches("http://").trim_end_matches('/');
        assert_eq!(request.head.lines().nth(1), Some(&*format!("Host: {authority}")));
    }
}

#[test]
fn the_resolve_option_replaces_the_dns_lookup() {
    let server = Server::start();
    for (family, address) in
        [("-6", server.urls("")[0].clone()), ("-4", server.urls("")[1].clone())]
    {
        let (address, port) = address.rsplit_once(':').unwrap();
        let address = address.trim_start_matches("http://");
        let given = format!("no-such-name.invalid:{port}:{address}");
        let url = format!("http://no-such-name.invalid:{port}/");
        let result = json(&["-n", "4", family, "--resolve", &given, &url]);
        assert_eq!(result["total"]["requests"]["completed"], 4);
        let host = format!("Host: no-such-name.invalid:{port}");
        assert!(server.seen().iter().all(|request| request.head.contains(&host)));
    }
}

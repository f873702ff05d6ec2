//! What a connection may ask for.

use sixmark_origin::{Identity, Limits, Options, Origin};
use sixmark_testkit::client::{Http2, Http3, Protocol, tcp, together};

use super::{Stage, get};

#[test]
fn announces_the_http2_stream_limit() {
    let stage = Stage::plain(Limits { streams: 7, ..Limits::default() });
    for &address in stage.addresses() {
        together(async {
            let connection = Http2::over(tcp(address).await.unwrap()).await.unwrap();
            connection.ask(get("/health")).await.unwrap();
            assert_eq!(connection.streams(), 7);
        });
    }
}

#[test]
fn http3_requests_beyond_the_stream_limit_wait_their_turn() {
    let stage = Stage::secure(Limits { streams: 2, ..Limits::default() });
    for &address in stage.addresses() {
        together(async {
            let connection = Http3::to(address, stage.pem()).await.unwrap();
            let [one, two, three] = [(); 3].map(|()| connection.ask(get("/delay/10")));
            let (one, two, three) = tokio::join!(one, two, three);
            [one, two, three]
                .into_iter()
                .for_each(|answer| assert_eq!(answer.unwrap().status, 200));
        });
    }
}

#[test]
fn http1_closes_the_connection_after_the_request_limit() {
    for stage in Stage::both(Limits { goaway_after: Some(1), ..Limits::default() }) {
        for &address in stage.addresses() {
            let answer = stage.ask(Protocol::Http1, address, get("/health")).unwrap();
            assert_eq!(answer.field("connection"), Some("close"));
        }
    }
}

#[test]
fn http2_closes_after_the_request_limit_and_answers_earlier_requests() {
    let stage = Stage::plain(Limits { goaway_after: Some(3), ..Limits::default() });
    for &address in stage.addresses() {
        together(async {
            let connection = Http2::over(tcp(address).await.unwrap()).await.unwrap();
            let [one, two, three] = [(); 3].map(|()| connection.ask(get("/delay/10")));
            let (one, two, three) = tokio::join!(one, two, three);
            [one, two, three]
                .into_iter()
                .for_each(|answer| assert_eq!(answer.unwrap().status, 200));
            // The connection ends of itself, and in peace.
            connection.connection.await.unwrap().unwrap();
        });
    }
}

#[test]
fn http3_closes_after_the_request_limit_and_answers_earlier_requests() {
    let stage = Stage::secure(Limits { goaway_after: Some(3), ..Limits::default() });
    for &address in stage.addresses() {
        together(async {
            let connection = Http3::to(address, stage.pem()).await.unwrap();
            let [one, two, three] = [(); 3].map(|()| connection.ask(get("/delay/10")));
            let (one, two, three) = tokio::join!(one, two, three);
            [one, two, three]
                .into_iter()
                .for_each(|answer| assert_eq!(answer.unwrap().status, 200));
            connection.quic.closed().await;
        });
    }
}

#[test]
fn answers_over_http3_with_retry_enabled() {
    let stage = Stage::secure(Limits { retry: true, ..Limits::default() });
    for &address in stage.addresses() {
        let answer = stage.ask(Protocol::Http3, address, get("/health")).unwrap();
        assert_eq!(answer.body, b"ok\n");
    }
}

#[test]
fn serves_a_certificate_from_files_and_refuses_http3_without_one() {
    let made = rcgen::generate_simple_self_signed(["::1", "127.0.0.1"].map(String::from)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let [certificate, key] = ["certificate", "key"].map(|name| dir.path().join(name));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let identity = Identity::read(&certificate, &key).unwrap();
    assert_eq!(identity.authority(), None);
    let options = Options { threads: 1, http3: true, ..Options::default() };
    assert!(Origin::start(options.clone()).is_err());
    let origin = Origin::start(Options { identity: Some(identity), ..options }).unwrap();
    for &address in origin.addresses() {
        for protocol in Protocol::ALL {
            let pem = Some(made.cert.pem());
            let answer =
                sixmark_testkit::client::ask(protocol, address, pem.as_deref(), get("/health"));
            assert_eq!(answer.unwrap().body, b"ok\n", "{protocol:?}");
        }
    }
}

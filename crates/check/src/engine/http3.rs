//! One fetch over HTTP/3 from one address.

use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::Request;
use hyper::body::Buf as _;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint};
use sixmark_http::http1::request::head_fields;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::collected::{CollectedResponse, MOST_CONTENT};
use super::fetch::{FetchedUrl, ResponseClock, micros};
use crate::site_fetch::{FetchEnd, FetchPhase, SiteFetch};

/// How long the handshake may take. A QUIC client sends again after a second at most.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// How long the exchange may take.
const EXCHANGE_LIMIT: Duration = Duration::from_secs(6);

/// Fetches a URL over HTTP/3 from an address.
pub(super) fn fetch_http3(what: &FetchedUrl<'_>, to: SocketAddr) -> SiteFetch {
    let mut fetch = SiteFetch::default();
    let runtime = Builder::new_current_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(try_fetch(what, to, &mut fetch)),
        Err(error) => Err(error.to_string()),
    };
    match done {
        Ok(()) => fetch.end = FetchEnd::Complete,
        Err(why) => fetch.why = Some(why),
    }
    fetch
}

async fn try_fetch(
    what: &FetchedUrl<'_>,
    to: SocketAddr,
    fetch: &mut SiteFetch,
) -> Result<(), String> {
    let any: IpAddr = match to {
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
    };
    let endpoint = Endpoint::client(SocketAddr::new(any, 0)).map_err(said)?;
    let (config, noting) = what.roots.config(&["h3"], false).map_err(said)?;
    let config = QuicClientConfig::try_from(config).map_err(said)?;
    let config = ClientConfig::new(Arc::new(config));
    let begin = Instant::now();
    let connecting = endpoint.connect_with(config, to, &what.url.server_name()).map_err(said)?;
    let connection = match timeout(CONNECT_LIMIT, connecting).await {
        Ok(connected) => connected.map_err(|error| {
            fetch.end = FetchEnd::Tls;
            error.to_string()
        })?,
        Err(_) => return Err("no answer".to_owned()),
    };
    fetch.connect_us = micros(begin);
    fetch.reached = FetchPhase::Wait;
    fetch.round_trip_us = Some(connection.rtt().as_secs_f64() * 1e6);
    let headers = if noting.refused().is_some() { &[][..] } else { what.headers };
    let what = &FetchedUrl { headers, ..*what };
    let exchanged = timeout(EXCHANGE_LIMIT, exchange(what, connection.clone(), fetch)).await;
    fetch.datagram_bytes = Some(connection.stats().path.current_mtu.into());
    connection.close(0_u32.into(), b"");
    // The close is sent before the socket is.
    let _ = timeout(Duration::from_millis(100), endpoint.wait_idle()).await;
    exchanged.unwrap_or_else(|_| Err("no answer".to_owned()))
}

async fn exchange(
    what: &FetchedUrl<'_>,
    connection: quinn::Connection,
    fetch: &mut SiteFetch,
) -> Result<(), String> {
    let quic = h3_quinn::Connection::new(connection);
    let (mut driver, mut sender) = h3::client::new(quic).await.map_err(said)?;
    let driving = tokio::spawn(async move { poll_fn(|context| driver.poll_close(context)).await });
    let authority = what.url.authority();
    let mut request =
        Request::builder().method(what.method).uri(format!("https://{authority}{}", what.url.path));
    let given = what.headers.iter().cloned();
    for (name, value) in head_fields::<String>(&authority, given, None, false.into()) {
        if !name.eq_ignore_ascii_case("host") {
            request = request.header(name, value);
        }
    }
    let sending = Instant::now();
    let mut stream = sender.send_request(request.body(()).map_err(said)?).await.map_err(said)?;
    stream.finish().await.map_err(said)?;
    fetch.send_us = micros(sending);
    let mut clock = ResponseClock::begin();
    let response = stream.recv_response().await.map_err(said)?;
    clock.note(fetch);
    let mut collected = CollectedResponse::default();
    for (name, value) in response.headers() {
        collected.note_field(name.as_str().as_bytes(), value.as_bytes());
    }
    while let Some(mut piece) = stream.recv_data().await.map_err(said)? {
        collected.note_content(&piece.copy_to_bytes(piece.remaining()));
        if collected.content_bytes > MOST_CONTENT {
            fetch.end = FetchEnd::TooLong;
            return Err("the content is too long".to_owned());
        }
    }
    clock.end(fetch);
    driving.abort();
    fetch.status = Some(response.status().as_u16());
    fetch.protocol = Some("HTTP/3".to_owned());
    fetch.content_bytes = collected.content_bytes;
    fetch.content_sha256 = Some(collected.content_sha256());
    fetch.fields = collected.fields;
    Ok(())
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

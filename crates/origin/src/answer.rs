//! Answers requests.

use std::convert::Infallible;
use std::error::Error;
use std::future::pending;
use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::{Body, Buf, Bytes};
use hyper::header::{
    ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue, TRANSFER_ENCODING,
};
use hyper::{Method, Request, Response, StatusCode, Version};

use super::body::Payload;
use super::dynamic;
use super::host::{WRONG_HOST, is_acceptable};
use super::place::{Ending, Session};
use super::route::{INDEX, Refusal, Route};

/// The response to a request. An error closes the connection without a response.
pub(super) type Outcome = Result<Response<Payload>, Box<dyn Error + Send + Sync>>;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const BINARY: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// The bytes that `/reset` announces and sends. What it sends fits into the initial window of any
/// TCP, so that the kernel has no unsent data left to discard when the RST is sent.
const RESET_DECLARED: u64 = 65_536;
const RESET_SENT: u64 = 1024;

/// Answers one request.
pub(super) async fn answer<B>(request: Request<B>, session: Arc<Session>) -> Outcome
where
    B: Body + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let last = session.count();
    let asked =
        AnswerRequest { version: request.version(), head: request.method() == Method::HEAD };
    let place = Arc::clone(&session.place);
    let answer = match Route::parse(request.uri().path()) {
        _ if !has_valid_host(&request) => Ok(text_answer(StatusCode::BAD_REQUEST, WRONG_HOST)),
        Ok(route) if route.methods().contains(request.method()) => {
            respond(route, request, session).await
        }
        Ok(route) => Ok(not_allowed(route.methods())),
        Err(Refusal::Unknown(line)) => Ok(text_answer(StatusCode::NOT_FOUND, line)),
        Err(Refusal::Bad(line)) => Ok(text_answer(StatusCode::BAD_REQUEST, line)),
    };
    place.pauses.hold().await;
    answer.map(|response| asked.framed(response, last))
}

/// The properties of a request that determine how its response is framed.
#[derive(Clone, Copy)]
struct AnswerRequest {
    version: Version,
    head: bool,
}

impl AnswerRequest {
    /// Completes the headers. For HTTP/1.1, hyper does the framing itself and omits the body of a
    /// response to HEAD; for other versions, both are done here.
    fn framed(self, mut response: Response<Payload>, last: bool) -> Response<Payload> {
        if !has_streams(self.version) {
            if last {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            return response;
        }
        if let Some(length) = response.size_hint().exact() {
            response.headers_mut().entry(CONTENT_LENGTH).or_insert(HeaderValue::from(length));
        }
        if self.head { response.map(|_| Payload::text("")) } else { response }
    }
}

/// Returns true unless an HTTP/1 request lacks a Host, or has several or an invalid one. HTTP/2 and
/// HTTP/3 name the host in another way.
fn has_valid_host<B>(request: &Request<B>) -> bool {
    let values = request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes);
    let version = request.version();
    has_streams(version) || is_acceptable(values, version < Version::HTTP_11)
}

/// Returns true for HTTP/2 and HTTP/3, in which one exchange can fail without affecting the others.
fn has_streams(version: Version) -> bool {
    version > Version::HTTP_11
}

async fn respond<B>(route: Route, request: Request<B>, session: Arc<Session>) -> Outcome
where
    B: Body + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let streams = has_streams(request.version());
    Ok(match route {
        Route::Index => ok(TEXT, Payload::text(INDEX)),
        Route::Health => ok(TEXT, Payload::text("ok\n")),
        Route::Bytes(n) => bytes(n),
        Route::Chunked(n) => chunked(n, streams),
        Route::Drip { bytes, every } => ok(BINARY, Payload::drip(bytes, every)),
        Route::Delay(time) => {
            tokio::time::sleep(time).await;
            ok(TEXT, Payload::text(format!("waited {} ms\n", time.as_millis())))
        }
        Route::Busy(time) => {
            dynamic::compute(time);
            ok(TEXT, Payload::text(format!("computed for {} us\n", time.as_micros())))
        }
        Route::Capacity(service) => {
            session.place.queue.serve(service).await;
            ok(TEXT, Payload::text("served\n"))
        }
        Route::Status(code) => status_answer(code),
        Route::Dynamic => ok(HTML, Payload::text(dynamic::dynamic_page(&request, session.peer))),
        Route::Sink => sink(request.into_body()).await.map_err(Into::into)?,
        Route::Reset if streams => ok(BINARY, Payload::broken(RESET_SENT, RESET_DECLARED)),
        Route::Reset => cut(RESET_SENT, RESET_DECLARED, Ending::Reset, session),
        Route::Truncate(n) if streams => ok(BINARY, Payload::short(n / 2, n)),
        Route::Truncate(n) => cut(n / 2, n, Ending::Finish, session),
        Route::Close => {
            session.end(Ending::Finish);
            return Err("the client asked for no answer".into());
        }
        Route::Stall => never(pending().await),
        // One byte more is announced than is sent; otherwise the response would be complete.
        Route::StallAfter(n) => ok(BINARY, Payload::stall(n, n + 1)),
    })
}

fn ok(kind: HeaderValue, body: Payload) -> Response<Payload> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn text_answer(code: StatusCode, line: impl Into<Bytes>) -> Response<Payload> {
    let mut response = ok(TEXT, Payload::text(line));
    *response.status_mut() = code;
    response
}

fn status_answer(code: StatusCode) -> Response<Payload> {
    // RFC 9110, 15.3.5, 15.3.6 and 15.4.5: these have no content.
    if matches!(code.as_u16(), 204 | 205 | 304) {
        let mut response = Response::new(Payload::text(""));
        *response.status_mut() = code;
        return response;
    }
    text_answer(code, format!("{code}\n"))
}

fn bytes(n: u64) -> Response<Payload> {
    let mut response = ok(BINARY, Payload::bytes(n));
    // hyper omits the header from a response to HEAD with an empty body.
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(n));
    response
}

/// Returns a body in at least four chunks if there are enough bytes. Over HTTP/2 and HTTP/3, which
/// have no chunks, it is a body without Content-Length.
fn chunked(n: u64, streams: bool) -> Response<Payload> {
    const LARGEST: u64 = 16 * 1024;
    let chunk = n.div_ceil(4).clamp(1, LARGEST) as usize;
    let mut response = ok(BINARY, Payload::chunked(n, chunk));
    if !streams {
        response.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    response
}

fn cut(sent: u64, declared: u64, ending: Ending, session: Arc<Session>) -> Response<Payload> {
    ok(BINARY, Payload::cut(sent, declared, ending, session))
}

async fn sink<B: Body + Unpin>(mut body: B) -> Result<Response<Payload>, B::Error> {
    let mut received: u64 = 0;
    while let Some(frame) = body.frame().await {
        received += frame?.data_ref().map_or(0, |data| data.remaining() as u64);
    }
    Ok(ok(JSON, Payload::text(format!("{{\"received\":{received}}}\n"))))
}

fn not_allowed(methods: &[Method]) -> Response<Payload> {
    let names = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
    let mut response =
        text_answer(StatusCode::METHOD_NOT_ALLOWED, format!("this path answers {names} only\n"));
    // Method names are visible ASCII, so the fallback is never used.
    let allow = HeaderValue::from_str(&names).unwrap_or(HeaderValue::from_static(""));
    response.headers_mut().insert(ALLOW, allow);
    response
}

fn never(nothing: Infallible) -> Response<Payload> {
    match nothing {}
}

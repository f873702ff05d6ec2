//! What the site answers.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, COOKIE, HeaderValue, LOCATION, SET_COOKIE,
};
use hyper::http::request::Parts;
use hyper::http::response::Builder;
use hyper::{Request, Response};
use sixmark_units::family::Family;

use super::Asked;

/// Where requests arrive.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) family: Family,
    pub(super) asked: Sender<Asked>,
    pub(super) visitors: Arc<AtomicU32>,
}

impl Desk {
    pub(super) async fn answer_to(
        self,
        request: Request<hyper::body::Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(|whole| whole.to_bytes()).unwrap_or_default();
        Ok(self.answer(parts, &body))
    }

    pub(super) fn answer(&self, parts: Parts, body: &[u8]) -> Response<Full<Bytes>> {
        let asked = Asked {
            family: self.family,
            method: parts.method.to_string(),
            path: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            head: parts.headers,
            body: String::from_utf8_lossy(body).into_owned(),
        };
        let mut response = self.respond(&asked);
        if asked.method == "HEAD" {
            // Over HTTP/1.1 alone somebody else sees to it.
            *response.body_mut() = Full::default();
        }
        let _ = self.asked.send(asked);
        response
    }

    fn respond(&self, asked: &Asked) -> Response<Full<Bytes>> {
        let words: Vec<&str> = asked.path.split(['/', '?']).skip(1).collect();
        let response = Response::builder().header(CONTENT_TYPE, "text/plain");
        match words[..] {
            // So many steps to the end.
            ["steps", "0"] => to(302, "/end"),
            ["steps", left] => to(302, format!("{}", left.parse::<u32>().unwrap() - 1)),
            ["loop"] => to(307, "/loop"),
            ["to", status, ..] => to(status.parse().unwrap(), "/end?of=it"),
            ["away"] => to(302, "http://other.example/"),
            ["secured"] => to(302, format!("https://{}/end", asked.field("host").unwrap_or("x"))),
            ["space"] => to(302, "/m oo o?a b#c d"),
            ["utf-8"] => to(302, "/café"),
            ["latin-1"] => to(302, b"/caf\xe9"),
            ["empty"] => to(302, ""),
            ["wrong"] => to(302, "http://0x7f.1/"),
            ["nowhere"] => Response::builder().status(302).body(Full::default()).unwrap(),
            ["gzip"] => {
                response.header(CONTENT_ENCODING, "gzip").body(Full::from(GZIP.to_vec())).unwrap()
            }
            // Only HTTP/1 has this field; over HTTP/2 the library takes it out.
            ["closing"] => response.header(CONNECTION, "close").body(Full::from("abc")).unwrap(),
            ["br"] => {
                let brotli = [0x20, 0x00, 0x10, b'a', b'b', b'c', 0x03].to_vec();
                response.header(CONTENT_ENCODING, "br").body(Full::from(brotli)).unwrap()
            }
            ["fields"] => many_fields(response).body(Full::from("abc")).unwrap(),
            ["json"] => response.body(Full::from(r#"{"a": [1, {"b": "c"}]}"#)).unwrap(),
            // Deleted in the request after the one that set it, by a date of this century.
            ["session"] => {
                let cookie = if asked.head.contains_key(COOKIE) {
                    "session=; Expires=Sat, 01-Jan-22 00:00:00 GMT"
                } else {
                    "session=1"
                };
                response.header(SET_COOKIE, cookie).body(Full::from("hello")).unwrap()
            }
            // Set where there is none, for a second.
            ["brief"] if !asked.head.contains_key(COOKIE) => {
                let cookie = "brief=1; Max-Age=1";
                response.header(SET_COOKIE, cookie).body(Full::from("hello")).unwrap()
            }
            ["domain"] => {
                let cookie = "a=1; Domain=example.org";
                response.header(SET_COOKIE, cookie).body(Full::from("hello")).unwrap()
            }
            ["visit", ..] => {
                let visitor = if asked.head.contains_key(COOKIE) {
                    "visits=again; Path=/visit".to_owned()
                } else {
                    let number = self.visitors.fetch_add(1, Ordering::SeqCst);
                    format!("visitor={number}; Path=/visit")
                };
                response.header(SET_COOKIE, visitor).body(Full::from("hello")).unwrap()
            }
            _ => response.body(Full::from("abc")).unwrap(),
        }
    }
}

/// A redirect whose Location has these bytes.
fn to(status: u16, location: impl AsRef<[u8]>) -> Response<Full<Bytes>> {
    let location = HeaderValue::from_bytes(location.as_ref()).unwrap();
    let response = Response::builder().status(status).header(LOCATION, location);
    response.body(Full::from("elsewhere")).unwrap()
}

/// A thousand fields of 200 KiB together, and one more.
fn many_fields(response: Builder) -> Builder {
    let value = "v".repeat(160);
    let fields = (0..1_000).fold(response, |response, _| response.header("x-field", &value));
    fields.header("x-last", "yes")
}

/// `abc` in a gzip file of one stored block (RFC 1952; RFC 1951, 3.2.4).
const GZIP: [u8; 26] = [
    0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c', 0xc2, 0x41, 0x24,
    0x35, 3, 0, 0, 0,
];

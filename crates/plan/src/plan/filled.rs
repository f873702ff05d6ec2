//! A request whose templates are filled in for one exchange, independent of the version of HTTP.

use std::sync::Arc;

use super::request::{Body, Request};
use crate::template::{Template, TemplateValues};
use sixmark_http::http1::request::{Manner, encode_request};
use sixmark_http::redirect::next_method;
use sixmark_http::semantics::request::Parts;

/// What one exchange sends, its templates filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledRequest {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Arc<Vec<u8>>>,
}

/// Fields that describe the content (RFC 9110, 15.4): they are removed together with it.
const OF_CONTENT: [&str; 6] = [
    "content-type",
    "content-length",
    "content-encoding",
    "content-language",
    "content-location",
    "transfer-encoding",
];

impl FilledRequest {
    /// Creates the next request of `values`. Its target is `path`, unless the request has a path of
    /// its own. Paths and fields are text here: bytes from a file of lines that are not UTF-8 are
    /// replaced in them.
    pub fn new(request: &Request, path: &str, values: &mut TemplateValues) -> FilledRequest {
        values.next_request();
        let mut text = |template: &Template| {
            let mut out = Vec::new();
            template.render(values, &mut out);
            out
        };
        let body = request.body.as_ref().map(|body| match body {
            Body::Constant(bytes) => Arc::clone(bytes),
            Body::Template(template) => Arc::new(text(template)),
        });
        let mut string = |template: &Template| String::from_utf8_lossy(&text(template)).into();
        let path = request.path.as_ref().map_or_else(|| path.to_owned(), &mut string);
        let headers = request.headers.iter().map(|(name, value)| (name.clone(), string(value)));
        FilledRequest { method: request.method.clone(), path, headers: headers.collect(), body }
    }

    /// Returns the method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the request target: path and query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the content, or `None` if there is none.
    pub fn body(&self) -> Option<&Arc<Vec<u8>>> {
        self.body.as_ref()
    }

    /// Returns the last value of a field, or `None` if there is no such field.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().rev().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the request that a browser sends after a redirect with this status to `path`.
    pub fn redirected(mut self, status: u16, path: String) -> FilledRequest {
        let (method, keeps_content) = next_method(status, &self.method);
        self.method = method.to_owned();
        self.path = path;
        if !keeps_content {
            self.body = None;
            let of_content = |name: &str| OF_CONTENT.iter().any(|of| name.eq_ignore_ascii_case(of));
            self.headers.retain(|(name, _)| !of_content(name));
        }
        self
    }

    /// Returns the same request with `cookies` appended to those that it has.
    pub fn with_cookies(mut self, cookies: &str) -> FilledRequest {
        match self.headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            Some((_, value)) => *value = format!("{value}; {cookies}"),
            None => self.headers.push(("Cookie".to_owned(), cookies.to_owned())),
        }
        self
    }

    /// Returns the head for HTTP/1.1 or HTTP/1.0. The content has to be sent after it.
    pub fn http1(&self, authority: &str, manner: impl Into<Manner>) -> Vec<u8> {
        let length = self.body.as_ref().map(|body| body.len() as u64);
        encode_request(&self.method, &self.path, authority, &self.headers, length, manner.into())
    }

    /// Returns the parts that HTTP/2 and HTTP/3 encode.
    pub fn parts<'a>(&'a self, scheme: &'a str, authority: &'a str) -> Parts<'a> {
        let FilledRequest { method, path, headers, .. } = self;
        Parts { method, scheme, authority, path, headers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_form::RequestForm;
    use crate::template::{Reading, TemplatePlace};

    fn request() -> Request {
        let mut open = |_: &str| Err("no file".to_owned());
        let mut reading = Reading::new(&mut open);
        let mut read = |text: &str, place| reading.template(text, place).unwrap();
        Request {
            path: Some(read("/a/{{seq}}?b", TemplatePlace::Path)),
            headers: vec![
                ("X".to_owned(), read("x{{seq}}", TemplatePlace::Header)),
                ("Content-Type".to_owned(), Template::constant("text/plain")),
            ],
            body: Some(Body::Template(read("n={{seq}}", TemplatePlace::Body))),
            ..Request::plain("POST")
        }
    }

    #[test]
    fn a_filled_request_equals_the_rendered_http1_request() {
        let (mut one, mut other) = (TemplateValues::new(7, 1, 3), TemplateValues::new(7, 1, 3));
        let RequestForm::Changing(form) = RequestForm::new(&request(), "/", "[::1]:80", true)
        else {
            panic!()
        };
        for _ in 0..3 {
            let (mut sent, mut scratch) = (Vec::new(), Vec::new());
            form.render(&mut one, &mut sent, &mut scratch);
            let filled = FilledRequest::new(&request(), "/", &mut other);
            let mut found = filled.http1("[::1]:80", true);
            found.extend_from_slice(filled.body().unwrap());
            assert_eq!(String::from_utf8(found), String::from_utf8(sent));
        }
    }

    #[test]
    fn keeps_the_content_on_307_and_drops_it_on_303() {
        let filled = FilledRequest::new(&request(), "/", &mut TemplateValues::new(0, 0, 1));
        let kept = filled.clone().redirected(307, "/c".to_owned());
        let parts = kept.parts("http", "a");
        assert_eq!((parts.method, parts.path, parts.headers.len()), ("POST", "/c", 2));
        assert_eq!(kept.body(), filled.body());
        let left = filled.redirected(303, "/d".to_owned());
        let headers = [("X".to_owned(), "x0".to_owned())];
        assert_eq!((left.body(), left.parts("http", "a").method), (None, "GET"));
        assert_eq!(left.parts("http", "a").headers, headers);
    }

    #[test]
    fn appends_cookies_to_the_existing_cookie_field() {
        let plain =
            FilledRequest::new(&Request::plain("GET"), "/", &mut TemplateValues::new(0, 0, 1));
        let once = plain.with_cookies("a=1");
        assert_eq!(once.header("cookie"), Some("a=1"));
        assert_eq!(once.with_cookies("b=2").header("Cookie"), Some("a=1; b=2"));
    }
}

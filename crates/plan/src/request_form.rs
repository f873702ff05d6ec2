//! The bytes of a request. Constant parts are prepared before the load begins.

use std::sync::Arc;

use crate::plan::request::{Body, Request};
use crate::template::{Template, TemplateValues};
use sixmark_http::http1::request::{Manner, declared_length, head_fields};

/// The form of the requests to one target.
#[derive(Clone, Debug)]
pub enum RequestForm {
    /// Every request has the same bytes: a head, and a content that follows it.
    Constant {
        /// The bytes from the request line to the empty line.
        head: Vec<u8>,
        /// The content, if there is any.
        body: Option<Arc<Vec<u8>>>,
    },
    /// Requests differ from each other.
    Changing(Changing),
}

/// A request that is filled in for each exchange from templates.
#[derive(Clone, Debug)]
pub struct Changing {
    head: Vec<HeadPart>,
    body: Option<Body>,
}

/// A part of a head.
#[derive(Clone, Debug)]
enum HeadPart {
    Text(Vec<u8>),
    Value(Template),
    /// The length of a content that is filled in from a template.
    Length,
}

/// The value of a header field.
#[derive(Clone, Debug)]
pub(super) enum FieldValue {
    Template(Template),
    Length,
}

impl From<String> for FieldValue {
    fn from(text: String) -> FieldValue {
        FieldValue::Template(Template::constant(text))
    }
}

impl RequestForm {
    /// Creates the form of `request` to a target with the Host field `authority`. `path` is used
    /// unless the request has a path of its own.
    pub fn new(
        request: &Request,
        path: &str,
        authority: &str,
        manner: impl Into<Manner>,
    ) -> RequestForm {
        let parts = parts(request, path, authority, manner.into());
        let constant = || match &request.body {
            None => Some(None),
            Some(Body::Constant(body)) => Some(Some(Arc::clone(body))),
            Some(Body::Template(_)) => None,
        };
        match (parts.as_slice(), constant()) {
            ([HeadPart::Text(head)], Some(body)) => {
                RequestForm::Constant { head: head.clone(), body }
            }
            _ => RequestForm::Changing(Changing { head: parts, body: request.body.clone() }),
        }
    }
}

impl Changing {
    /// Returns a constant content. [`render`](Changing::render) does not write it; it must be sent
    /// after the bytes that `render` writes.
    pub fn body(&self) -> Option<&Arc<Vec<u8>>> {
        match &self.body {
            Some(Body::Constant(body)) => Some(body),
            _ => None,
        }
    }

    /// Writes the next request to `out`, with the next values of `values`: its head, and its
    /// content if that is filled in from a template. `out` and `scratch` are cleared first; if they
    /// are reused, they soon need no further allocation.
    pub fn render(&self, values: &mut TemplateValues, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
        out.clear();
        scratch.clear();
        values.next_request();
        if let Some(Body::Template(template)) = &self.body {
            template.render(values, scratch);
        }
        for part in &self.head {
            match part {
                HeadPart::Text(text) => out.extend_from_slice(text),
                HeadPart::Value(template) => template.render(values, out),
                HeadPart::Length => out.extend_from_slice(scratch.len().to_string().as_bytes()),
            }
        }
        out.extend_from_slice(scratch);
    }
}

fn parts(request: &Request, path: &str, authority: &str, manner: Manner) -> Vec<HeadPart> {
    let mut parts = Vec::new();
    push_text(&mut parts, &request.method);
    push_text(&mut parts, " ");
    match &request.path {
        Some(path) => push(&mut parts, path),
        None if path.is_empty() => push_text(&mut parts, "/"),
        None => push_text(&mut parts, path),
    }
    push_text(&mut parts, manner.version());
    let length = match &request.body {
        Some(Body::Template(_)) => Some(FieldValue::Length),
        Some(Body::Constant(body)) => Some(FieldValue::from(body.len().to_string())),
        None => declared_length(&request.method, None).map(|length| length.to_string().into()),
    };
    let own =
        |(name, value): &(String, Template)| (name.clone(), FieldValue::Template(value.clone()));
    for (name, value) in head_fields(authority, request.headers.iter().map(own), length, manner) {
        push_text(&mut parts, &name);
        push_text(&mut parts, ": ");
        match value {
            FieldValue::Template(template) => push(&mut parts, &template),
            FieldValue::Length => parts.push(HeadPart::Length),
        }
        push_text(&mut parts, "\r\n");
    }
    push_text(&mut parts, "\r\n");
    parts
}

fn push(parts: &mut Vec<HeadPart>, template: &Template) {
    match template.as_constant() {
        Some(text) => push_text(parts, text),
        None => parts.push(HeadPart::Value(template.clone())),
    }
}

fn push_text(parts: &mut Vec<HeadPart>, text: &str) {
    match parts.last_mut() {
        Some(HeadPart::Text(before)) => before.extend_from_slice(text.as_bytes()),
        _ => parts.push(HeadPart::Text(text.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::{Reading, TemplatePlace};

    fn template(text: &str, place: TemplatePlace) -> Template {
        Reading::new(&mut |_| Err(String::new())).template(text, place).unwrap()
    }

    fn rendered(request: &Request, close: bool) -> Vec<String> {
        let RequestForm::Changing(form) = RequestForm::new(request, "/", "h", close) else {
            panic!("{request:?} is constant");
        };
        let (mut values, mut out, mut scratch) =
            (TemplateValues::new(1, 0, 1), Vec::new(), Vec::new());
        let mut next = || {
            form.render(&mut values, &mut out, &mut scratch);
            String::from_utf8(out.clone()).unwrap()
        };
        vec![next(), next()]
    }

    #[test]
    fn encodes_a_request_without_placeholders_once() {
        let mut request = Request::plain("PUT");
        request.body = Some(Body::Constant(Arc::new(b"abc".to_vec())));
        request.path = Some(Template::constant("/own"));
        assert!(request.is_constant());
        let RequestForm::Constant { head, body } = RequestForm::new(&request, "/target", "h", true)
        else {
            panic!("it changes");
        };
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("PUT /own HTTP/1.1\r\nHost: h\r\n"), "{head}");
        assert!(head.contains("\r\nContent-Length: 3\r\n"), "{head}");
        assert!(head.ends_with("\r\nConnection: close\r\n\r\n"), "{head}");
        assert_eq!(body.unwrap().as_slice(), b"abc");
    }

    #[test]
    fn sends_content_length_0_for_post_put_and_patch_without_content() {
        for (method, length) in [
            ("POST", Some("0")),
            ("PUT", Some("0")),
            ("PATCH", Some("0")),
            ("GET", None),
            ("HEAD", None),
            ("DELETE", None),
            ("OPTIONS", None),
        ] {
            let mut request = Request::plain(method);
            let heads = [None, Some(template("/{{seq}}", TemplatePlace::Path))].map(|path| {
                request.path = path;
                match RequestForm::new(&request, "/", "h", false) {
                    RequestForm::Constant { head, body } => {
                        assert!(body.is_none());
                        String::from_utf8(head).unwrap()
                    }
                    RequestForm::Changing(_) => rendered(&request, false).remove(0),
                }
            });
            for head in heads {
                let found = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                assert_eq!(found, length, "{head}");
            }
        }
    }

    #[test]
    fn uses_the_same_sequence_number_throughout_a_request() {
        let mut request = Request::plain("POST");
        request.path = Some(template("/u/{{seq}}", TemplatePlace::Path));
        request.headers = vec![("X-N".to_owned(), template("n{{seq}}", TemplatePlace::Header))];
        request.body = Some(Body::Template(template("{\"n\": {{seq}}}", TemplatePlace::Body)));
        assert!(!request.is_constant());
        for (number, text) in rendered(&request, false).iter().enumerate() {
            assert!(text.starts_with(&format!("POST /u/{number} HTTP/1.1\r\nHost: h\r\n")));
            assert!(text.contains(&format!("\r\nX-N: n{number}\r\n")), "{text}");
            assert!(text.contains("\r\nContent-Length: 8\r\n"), "{text}");
            assert!(text.ends_with(&format!("\r\n\r\n{{\"n\": {number}}}")), "{text}");
        }
    }

    #[test]
    fn content_length_matches_the_filled_in_body() {
        let mut request = Request::plain("POST");
        request.body = Some(Body::Template(template("{{rand 1 100000}}", TemplatePlace::Body)));
        for text in rendered(&request, false) {
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("Content-Length: {}", body.len())), "{text}");
        }
    }

    #[test]
    fn keeps_constant_content_out_of_the_rendered_request() {
        let mut request = Request::plain("POST");
        request.path = Some(template("/{{uuid}}", TemplatePlace::Path));
        request.body = Some(Body::Constant(Arc::new(vec![b'x'; 5])));
        let all = rendered(&request, true);
        assert!(all[0].ends_with("\r\n\r\n") && all[0].contains("Content-Length: 5\r\n"));
        let RequestForm::Changing(form) = RequestForm::new(&request, "/", "h", false) else {
            panic!()
        };
        assert_eq!(form.body().unwrap().len(), 5);
    }
}

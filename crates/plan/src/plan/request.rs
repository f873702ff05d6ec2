//! The requests that exchanges send, and the checks of their responses.

#[cfg(feature = "schema")]
use sixmark_document::schema_type;
use std::ops::Deref;
use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::check::{Checks, Expect};
use crate::plan::secrets::{REDACTED, is_secret};
use crate::template::Template;
use sixmark_http::http1::RequestKind;

/// The most requests that a document contains: a mix from a log may have many more.
pub const SHOWN: usize = 100;

/// One of the requests of a run. Many exchanges may send it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// The name, for display.
    pub name: String,
    /// The method, a token (RFC 9110, 9.1).
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub method: String,
    /// The request target, with templates as written; null: the path of the target (plan.targets).
    #[cfg_attr(feature = "schema", schemars(with = "Option<schema_type::Text>"))]
    pub path: Option<Template>,
    /// Name and value of each header field, except those that sixmark adds itself, with templates
    /// as written.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<(schema_type::Text, String)>"))]
    pub headers: Vec<(String, Template)>,
    /// The content. Documents contain only its size in bytes; for a template, that of its text.
    /// null: there is no content.
    #[serde(with = "body_size")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub body: Option<Body>,
    /// The weight among the requests, above zero and finite.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub weight: f64,
    /// The checks that responses must pass.
    #[serde(rename = "expect")]
    pub checks: Checks,
    /// Names of header fields whose values are omitted from documents, in addition to those that
    /// always contain credentials.
    #[serde(skip)]
    pub secret: Vec<String>,
}

/// The content of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The same bytes in each exchange.
    Constant(Arc<Vec<u8>>),
    /// A template that is filled in for each exchange.
    Template(Template),
}

impl Body {
    /// Returns the size of the content in bytes; for a template, that of its text.
    pub fn length(&self) -> usize {
        match self {
            Body::Constant(bytes) => bytes.len(),
            Body::Template(template) => template.source().len(),
        }
    }
}

/// Returns the default of [`Request::method`], as in curl.
pub fn usual_method(has_body: bool) -> &'static str {
    if has_body { "POST" } else { "GET" }
}

impl Request {
    /// Creates a request for the target's own path, without fields of its own, content or checks.
    pub fn plain(method: &str) -> Request {
        Request {
            name: method.to_owned(),
            method: method.to_owned(),
            path: None,
            headers: Vec::new(),
            body: None,
            weight: 1.0,
            checks: Checks::default(),
            secret: Vec::new(),
        }
    }

    /// Returns true if each exchange sends the same bytes, so that they can be encoded in advance.
    pub fn is_constant(&self) -> bool {
        let constant = |template: &Template| template.as_constant().is_some();
        self.path.as_ref().is_none_or(constant)
            && self.headers.iter().all(|(_, value)| constant(value))
            && matches!(self.body, None | Some(Body::Constant(_)))
    }

    /// Returns the kind of request, on which the framing of a response depends.
    pub fn kind(&self) -> RequestKind {
        if self.method == "HEAD" { RequestKind::Head } else { RequestKind::Ordinary }
    }

    /// Adds those `fields` whose names the request does not have yet, and puts `checks` before its
    /// own.
    pub fn add(&mut self, fields: &[(String, Template)], checks: &[Expect]) {
        let own = self.headers.len();
        for (name, value) in fields {
            if !self.headers[..own].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                self.headers.push((name.clone(), value.clone()));
            }
        }
        self.checks = Checks::new([checks, self.checks.list()].concat());
    }

    /// Removes credentials from what documents contain. What is sent does not change.
    pub fn redact(&mut self) {
        let secret = &self.secret;
        let is = |name: &str| secret.iter().any(|other| other.eq_ignore_ascii_case(name));
        for (name, value) in &mut self.headers {
            if is_secret(name) || is(name) {
                *value = value.clone().shown_as(REDACTED);
            }
        }
    }
}

/// All requests of a run: one, or a mix by weight.
///
/// Documents contain the number of requests and the first hundred of them. Requests that were read
/// from a document are only these.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "RequestsForm")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "RequestsForm"))]
pub struct PlanRequests {
    list: Vec<Request>,
    number: usize,
}

/// The requests of a run as in documents.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RequestsForm {
    /// The number of different requests.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    number: usize,
    /// The first requests, at most a hundred.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = SHOWN)))]
    shown: Vec<Request>,
}

impl PlanRequests {
    /// Creates a mix. The error says that there are no requests, or too many.
    pub fn new(list: Vec<Request>) -> Result<PlanRequests, String> {
        match list.len() {
            0 => Err("there are no requests".to_owned()),
            number if u32::try_from(number).is_ok() => Ok(PlanRequests { number, list }),
            _ => Err("there are too many different requests".to_owned()),
        }
    }

    /// Creates the requests of a run that has only one.
    pub fn one(request: Request) -> PlanRequests {
        PlanRequests { list: vec![request], number: 1 }
    }

    /// Returns the number of different requests, including those that a document omits.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the first request.
    pub fn first(&self) -> &Request {
        &self.list[0]
    }

    /// Returns the weights, in the order of the requests.
    pub fn weights(&self) -> Vec<f64> {
        self.list.iter().map(|request| request.weight).collect()
    }

    /// Returns true if responses to any request are checked.
    pub fn check_anything(&self) -> bool {
        self.list.iter().any(|request| !request.checks.is_empty())
    }
}

impl Deref for PlanRequests {
    type Target = [Request];

    fn deref(&self) -> &[Request] {
        &self.list
    }
}

impl From<RequestsForm> for PlanRequests {
    fn from(document: RequestsForm) -> PlanRequests {
        let RequestsForm { number, shown } = document;
        let list = if shown.is_empty() { vec![Request::plain("GET")] } else { shown };
        PlanRequests { list, number }
    }
}

/// Implemented by hand because serde's `into` would copy all requests first.
impl Serialize for PlanRequests {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut document = to.serialize_struct("Requests", 2)?;
        document.serialize_field("number", &self.number)?;
        document.serialize_field("shown", &self.list[..self.list.len().min(SHOWN)])?;
        document.end()
    }
}

/// A request's content is written to results as its size: results must stay small and may be shown
/// to others.
mod body_size {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Body;

    pub(super) fn serialize<S: Serializer>(body: &Option<Body>, to: S) -> Result<S::Ok, S::Error> {
        match body {
            Some(body) => to.serialize_some(&body.length()),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Body>, D::Error> {
        Option::<u64>::deserialize(from).map(|_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_a_requests_own_fields_to_the_common_ones() {
        let field = |name: &str, value: &str| (name.to_owned(), Template::constant(value));
        let mut request = Request::plain("GET");
        request.headers = vec![field("accept", "own"), field("X", "1")];
        request.checks = Checks::new(vec!["size=1".parse().unwrap()]);
        let fields = [field("Accept", "all"), field("Y", "2"), field("Y", "3")];
        request.add(&fields, &["status=200".parse().unwrap()]);
        let values: Vec<_> =
            request.headers.iter().map(|(n, v)| format!("{n}: {}", v.source())).collect();
        assert_eq!(values, ["accept: own", "X: 1", "Y: 2", "Y: 3"]);
        let checks: Vec<_> = request.checks.list().iter().map(|c| c.text().to_string()).collect();
        assert_eq!(checks, ["status=200", "size=1"]);
    }

    #[test]
    fn serializes_the_first_requests_and_their_total_number() {
        let list = (0..250).map(|n| Request { name: n.to_string(), ..Request::plain("GET") });
        let written = serde_json::to_value(PlanRequests::new(list.collect()).unwrap()).unwrap();
        assert_eq!(written["number"], 250);
        assert_eq!(written["shown"].as_array().unwrap().len(), SHOWN);
        let read: PlanRequests = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), written);
        assert!(PlanRequests::new(Vec::new()).is_err());
    }
}

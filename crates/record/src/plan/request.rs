//! What exchanges send, and what their responses must be.

use std::ops::Deref;
use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::check::{Checks, Expect};
use crate::plan::secrets::{REDACTED, is_secret};
use crate::template::Template;
use sixmark_http::http1::RequestKind;

/// Documents show no more requests than this: a mix from a log may have many.
pub const SHOWN: usize = 100;

/// One kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Request {
    /// What it is called, for people.
    pub name: String,
    /// The method, a token (RFC 9110, 9.1).
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub method: String,
    /// The request target, templates as they were written; null: that of plan.targets.
    #[cfg_attr(feature = "schema", schemars(with = "Option<sixmark_document::schema_type::Text>"))]
    pub path: Option<Template>,
    /// [name, value] of each field beside those that sixmark sends by itself, templates as they
    /// were written.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<(sixmark_document::schema_type::Text, String)>")
    )]
    pub headers: Vec<(String, Template)>,
    /// Content of the request, in documents its size alone: bytes, of a template those of its text;
    /// null: it has none.
    #[serde(with = "body_size")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub body: Option<Body>,
    /// Its share of the requests, above zero and finite.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub weight: f64,
    /// What its responses had to be.
    #[serde(rename = "expect")]
    pub checks: Checks,
    /// Names of header fields whose values are not for documents, besides those that always are.
    #[serde(skip)]
    pub secret: Vec<String>,
}

/// Content of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The same for each.
    Constant(Arc<Vec<u8>>),
    /// Filled in for each.
    Template(Template),
}

impl Body {
    /// Bytes of the content; of a template those of its text.
    pub fn length(&self) -> usize {
        match self {
            Body::Constant(bytes) => bytes.len(),
            Body::Template(template) => template.source().len(),
        }
    }
}

/// What [`Request::method`] is where nothing says so (as curl has it).
pub fn usual_method(has_body: bool) -> &'static str {
    if has_body { "POST" } else { "GET" }
}

impl Request {
    /// A request of the target's own path, with no fields of its own, no content and no checks.
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

    /// True where each exchange sends the same bytes, which can be made before.
    pub fn is_constant(&self) -> bool {
        let constant = |template: &Template| template.as_constant().is_some();
        self.path.as_ref().is_none_or(constant)
            && self.headers.iter().all(|(_, value)| constant(value))
            && matches!(self.body, None | Some(Body::Constant(_)))
    }

    /// What its responses answer.
    pub fn kind(&self) -> RequestKind {
        if self.method == "HEAD" { RequestKind::Head } else { RequestKind::Ordinary }
    }

    /// Adds fields that it has none of the same name of, and checks before its own.
    pub fn add(&mut self, fields: &[(String, Template)], checks: &[Expect]) {
        let own = self.headers.len();
        for (name, value) in fields {
            if !self.headers[..own].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                self.headers.push((name.clone(), value.clone()));
            }
        }
        self.checks = Checks::new([checks, self.checks.list()].concat());
    }

    /// Has documents show no credentials. What is sent stays as it is.
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
/// Documents have how many there are and the first hundred. What comes from a document is these.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "RequestsForm")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "RequestsForm"))]
pub struct PlanRequests {
    list: Vec<Request>,
    number: usize,
}

/// How requests stand in documents.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RequestsForm {
    /// Different requests.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    number: usize,
    /// The first of them.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = SHOWN)))]
    shown: Vec<Request>,
}

impl PlanRequests {
    /// A mix; the error says that it is none.
    pub fn new(list: Vec<Request>) -> Result<PlanRequests, String> {
        match list.len() {
            0 => Err("there are no requests".to_owned()),
            number if u32::try_from(number).is_ok() => Ok(PlanRequests { number, list }),
            _ => Err("there are too many different requests".to_owned()),
        }
    }

    /// One request and nothing else.
    pub fn one(request: Request) -> PlanRequests {
        PlanRequests { list: vec![request], number: 1 }
    }

    /// How many different ones, of a document those included that it does not show.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The first one.
    pub fn first(&self) -> &Request {
        &self.list[0]
    }

    /// Their shares, in their order.
    pub fn weights(&self) -> Vec<f64> {
        self.list.iter().map(|request| request.weight).collect()
    }

    /// True where any exchange's response is looked at.
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

/// By hand: serde's `into` would copy all requests first.
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
    fn a_request_s_own_fields_go_before_those_for_all() {
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
    fn a_document_shows_the_first_of_many_and_how_many_there_are() {
        let list = (0..250).map(|n| Request { name: n.to_string(), ..Request::plain("GET") });
        let written = serde_json::to_value(PlanRequests::new(list.collect()).unwrap()).unwrap();
        assert_eq!(written["number"], 250);
        assert_eq!(written["shown"].as_array().unwrap().len(), SHOWN);
        let read: PlanRequests = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), written);
        assert!(PlanRequests::new(Vec::new()).is_err());
    }
}

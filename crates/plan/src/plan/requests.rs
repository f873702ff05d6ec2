//! The request file: a mix of requests in TOML.
//!
//! ```toml
//! [[request]]
//! path = "/users/{{rand 1 1000}}"
//! weight = 9
//! expect = ["status=200"]
//!
//! [[request]]
//! method = "POST"
//! path = "/users"
//! json = { name = "{{line names.csv 1}}" }
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use super::list::BadLine;
use super::request::{Body, PlanRequests, Request, usual_method};
use crate::check::{Checks, Expect};
use crate::template::{Reading, Template, TemplatePlace};
use sixmark_http::http1::request::{check_method, parse_own_header};
use sixmark_units::plain_text::to_text;

/// The largest weight of a request; the smallest is its inverse.
const MOST_WEIGHT: f64 = 1e9;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestsFile {
    #[serde(default)]
    request: RequestEntries,
}

/// A `[[request]]` as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: Option<Spanned<String>>,
    method: Option<Spanned<String>>,
    path: Option<Spanned<String>>,
    #[serde(default)]
    headers: Option<Spanned<HeaderList>>,
    body: Option<Spanned<String>>,
    body_file: Option<Spanned<String>>,
    json: Option<Spanned<toml::Value>>,
    weight: Option<Spanned<Number>>,
    #[serde(default)]
    expect: Listed,
    templates: Option<bool>,
    #[serde(default)]
    secret: Vec<String>,
}

/// Names and values of header fields, from a table or from a list of `Name: value`.
struct HeaderList(Vec<(String, String)>);

/// The `[[request]]` tables of a file. A type of its own, so that error messages are readable.
#[derive(Default)]
struct RequestEntries(Vec<Spanned<Raw>>);

/// A list of strings.
#[derive(Default)]
struct Listed(Vec<Spanned<String>>);

/// An integer or a float.
struct Number(f64);

/// An error: the byte offset in the text, and the message.
type PlacedMistake = (usize, String);

/// Parses the text of a request file. `open` reads the bytes of the files that it names.
///
/// # Errors
/// The first error, with its line.
pub fn parse_requests(
    text: &str,
    open: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<PlanRequests, BadLine> {
    let at_line = |(at, message)| BadLine { line: line_of(text, at), message };
    let file: RequestsFile = toml::from_str(text).map_err(|error| at_line(syntax(&error)))?;
    let mut reading = Reading::new(open);
    let requests = file.request.0.into_iter().map(|raw| request(raw, &mut reading));
    let requests = requests.collect::<Result<Vec<_>, _>>().map_err(at_line)?;
    let none = |message| BadLine { line: 0, message: format!("{message}; write a [[request]]") };
    PlanRequests::new(requests).map_err(none)
}

fn syntax(error: &toml::de::Error) -> PlacedMistake {
    let at = error.span().map_or(0, |span| span.start);
    let message = error.message().replace('\n', "; ");
    (at, of_type(&message).unwrap_or(message))
}

/// Rewrites the parser's message about a value of the wrong type without Rust's terms. Returns
/// `None` for other messages.
fn of_type(message: &str) -> Option<String> {
    let (found, expected) = message.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let found = match found {
        "map" => "a table",
        "sequence" => "a list",
        other => other,
    };
    Some(format!("expected {expected}, found {found}"))
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
}

fn request(raw: Spanned<Raw>, reading: &mut Reading<'_>) -> Result<Request, PlacedMistake> {
    let at = raw.span().start;
    let raw = raw.into_inner();
    let json = raw.json.is_some();
    let (templates, weight) = (raw.templates, weight(raw.weight)?);
    let path = raw
        .path
        .map(|path| template(&path, TemplatePlace::Path, templates, reading))
        .transpose()?;
    let mut headers = headers(raw.headers, templates, reading)?;
    let body = body(at, [raw.body, raw.body_file], raw.json, templates, reading)?;
    if json && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("Content-Type".to_owned(), Template::constant("application/json")));
    }
    let method = match raw.method {
        Some(method) => checked(method, |method| check_method(method).map(|()| method.to_owned()))?,
        None => usual_method(body.is_some()).to_owned(),
    };
    let expect = raw.expect.0.into_iter();
    let expect =
        expect.map(|text| checked(text, str::parse::<Expect>)).collect::<Result<_, _>>()?;
    let name = match raw.name {
        Some(name) => checked(name, printable)?,
        None => usual_name(&method, path.as_ref()),
    };
    let (checks, secret) = (Checks::new(expect), raw.secret);
    Ok(Request { name, method, path, headers, body, weight, checks, secret })
}

/// Returns the name of a request that was given none.
pub(crate) fn usual_name(method: &str, path: Option<&Template>) -> String {
    match path {
        Some(path) => format!("{method} {}", path.source()),
        None => method.to_owned(),
    }
}

fn checked<T>(
    text: Spanned<String>,
    check: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, PlacedMistake> {
    check(text.get_ref()).map_err(|message| (text.span().start, message))
}

/// Refuses control characters, because names are displayed on terminals.
fn printable(name: &str) -> Result<String, String> {
    if name.chars().any(char::is_control) {
        Err("a name can't contain control characters".to_owned())
    } else {
        Ok(name.to_owned())
    }
}

fn weight(weight: Option<Spanned<Number>>) -> Result<f64, PlacedMistake> {
    let Some(weight) = weight else { return Ok(1.0) };
    let at = weight.span().start;
    match weight.into_inner().0 {
        weight if (1.0 / MOST_WEIGHT..=MOST_WEIGHT).contains(&weight) => Ok(weight),
        weight => Err((at, format!("weight {weight} is not a number above 0, at most 10^9"))),
    }
}

fn template(
    text: &Spanned<String>,
    place: TemplatePlace,
    templates: Option<bool>,
    reading: &mut Reading<'_>,
) -> Result<Template, PlacedMistake> {
    let read = read_template(text.get_ref(), place, templates, reading);
    read.map_err(|message| (text.span().start, message))
}

fn read_template(
    text: &str,
    place: TemplatePlace,
    templates: Option<bool>,
    reading: &mut Reading<'_>,
) -> Result<Template, String> {
    match templates {
        Some(false) => reading.plain(text, place),
        _ => reading.template(text, place),
    }
}

fn headers(
    raw: Option<Spanned<HeaderList>>,
    templates: Option<bool>,
    reading: &mut Reading<'_>,
) -> Result<Vec<(String, Template)>, PlacedMistake> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let at = raw.span().start;
    let fields = raw.into_inner().0.into_iter().map(|(name, value)| {
        let (name, value) = parse_own_header(&format!("{name}: {value}"))?;
        let of_field = |error| format!("header {name}: {error}");
        let value =
            read_template(&value, TemplatePlace::Header, templates, reading).map_err(of_field)?;
        Ok((name, value))
    });
    fields.collect::<Result<_, String>>().map_err(|message| (at, message))
}

fn body(
    at: usize,
    [text, file]: [Option<Spanned<String>>; 2],
    json: Option<Spanned<toml::Value>>,
    templates: Option<bool>,
    reading: &mut Reading<'_>,
) -> Result<Option<Body>, PlacedMistake> {
    match (text, file, json) {
        (None, None, None) => Ok(None),
        (Some(text), None, None) => {
            template(&text, TemplatePlace::Body, templates, reading).map(|text| Some(of_text(text)))
        }
        (None, Some(name), None) => {
            let of_file = |message| (name.span().start, format!("{}: {message}", name.get_ref()));
            let bytes = reading.bytes(name.get_ref()).map_err(of_file)?;
            file_body(bytes, templates, reading).map(Some).map_err(of_file)
        }
        (None, None, Some(value)) => {
            let at_value = |message| (value.span().start, message);
            let text =
                serde_json::to_string(value.get_ref()).map_err(|e| at_value(e.to_string()))?;
            let text =
                read_template(&text, TemplatePlace::Body, templates, reading).map_err(at_value)?;
            Ok(Some(of_text(text)))
        }
        _ => Err((at, "a request can have only one of body, body_file and json".to_owned())),
    }
}

/// Returns a file's bytes as the content, unchanged. Only if `templates` is true, they are text, and
/// parsed as a template.
fn file_body(
    bytes: Vec<u8>,
    templates: Option<bool>,
    reading: &mut Reading<'_>,
) -> Result<Body, String> {
    if templates != Some(true) {
        return Ok(Body::Constant(Arc::new(bytes)));
    }
    let text = to_text(bytes).map_err(|why| format!("templates need text: {why}"))?;
    reading.template(&text, TemplatePlace::Body).map(of_text)
}

fn of_text(text: Template) -> Body {
    match text.as_constant() {
        Some(constant) => Body::Constant(Arc::new(constant.into())),
        None => Body::Template(text),
    }
}

impl<'de> Deserialize<'de> for HeaderList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<HeaderList, D::Error> {
        from.deserialize_any(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = HeaderList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("headers as a table, { Name = \"value\" }, or a list, [\"Name: value\"]")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HeaderList, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(HeaderList(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<HeaderList, A::Error> {
        let mut fields = Vec::new();
        while let Some(text) = list.next_element::<String>()? {
            fields.push(parse_own_header(&text).map_err(serde::de::Error::custom)?);
        }
        Ok(HeaderList(fields))
    }
}

impl<'de> Deserialize<'de> for RequestEntries {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<RequestEntries, D::Error> {
        from.deserialize_seq(ListVisitor("[[request]] in double brackets", PhantomData))
            .map(RequestEntries)
    }
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Listed, D::Error> {
        from.deserialize_seq(ListVisitor("a list: [\"status=200\"]", PhantomData)).map(Listed)
    }
}

/// Reads a list of `T`. The text names the expected form in error messages.
struct ListVisitor<T>(&'static str, PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(all)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        from.deserialize_f64(NumberVisitor).map(Number)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    fn visit_i64<E>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_u64<E>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PlanRequests, BadLine> {
        super::parse_requests(text, &mut |name| match name {
            "names.csv" => Ok(b"ann,1\nbob,2\n".to_vec()),
            "body.bin" => Ok(b"\xff{{seq}}".to_vec()),
            "body.txt" => Ok(b"{{seq}}".to_vec()),
            _ => Err("no such file".to_owned()),
        })
    }

    fn one(text: &str) -> Request {
        parse(&format!("[[request]]\n{text}")).unwrap().first().clone()
    }

    #[test]
    fn reads_a_mix_of_requests_from_a_file() {
        let text = r#"
            # the shop
            [[request]]
            name = "look"
            path = "/users/{{rand 1 1000}}?x"
            weight = 2.5
            headers = { Accept = "text/html", X-N = "{{seq}}" }
            expect = ["status=200", "json:/a/b=1"]

            [[request]]
            method = "DELETE"
            path = "/users"
            headers = ["A: b", "A: c"]
            [[request]]
        "#;
        let requests = parse(text).unwrap();
        assert_eq!(requests.weights(), [2.5, 1.0, 1.0]);
        let names: Vec<_> = requests.iter().map(|request| request.name.as_str()).collect();
        assert_eq!(names, ["look", "DELETE /users", "GET"]);
        let constant: Vec<_> = requests.iter().map(Request::is_constant).collect();
        assert_eq!(constant, [false, true, true]);
        assert_eq!(requests[0].headers[0].0, "Accept");
        assert_eq!(requests[0].checks.list().len(), 2);
        assert_eq!(requests[1].headers.len(), 2);
        assert_eq!(requests[2].path, None);
    }

    #[test]
    fn reads_request_content_from_text_file_or_json() {
        let text = one("body = 'a={{seq}}'");
        assert!(matches!(&text.body, Some(Body::Template(_))) && text.method == "POST");
        let json = one("json = { a = [1, 'x'], b = { c = true } }");
        let Some(Body::Constant(body)) = &json.body else { panic!("{json:?}") };
        assert_eq!(body.as_slice(), br#"{"a":[1,"x"],"b":{"c":true}}"#);
        assert_eq!(json.headers[0].0, "Content-Type");
        let own = one("json = 1\nheaders = { content-type = 'text/x' }");
        assert_eq!(own.headers.len(), 1);
        let file = one("body_file = 'body.bin'\nmethod = 'PUT'");
        assert_eq!(file.body.map(|body| body.length()), Some(8));
        assert!(one("body_file = 'body.txt'").is_constant());
        assert!(!one("body_file = 'body.txt'\ntemplates = true").is_constant());
    }

    #[test]
    fn templates_can_be_turned_off() {
        let request = one("path = '/{{x}}'\nbody = '{{seq}}'\ntemplates = false");
        assert!(request.is_constant());
        assert_eq!(request.path.unwrap().as_constant(), Some("/{{x}}"));
    }

    #[test]
    fn reports_errors_with_their_line_number() {
        for (text, line, part) in [
            ("", 0, "[[request]]"),
            ("[[request]]\nwieght = 1", 2, "unknown field `wieght`, expected one of `name`"),
            ("[[request]]\n\nweight = 'x'", 3, "expected a number, found string"),
            ("[[request]]\nweight = 0", 2, "weight 0"),
            ("[[request]]\nweight = nan", 2, "weight NaN"),
            ("[[request]]\nweight = inf", 2, "weight inf"),
            ("[request]\n", 1, "expected [[request]] in double brackets, found a table"),
            ("[[requests]]", 1, "unknown field `requests`, expected `request`"),
            ("[[request]]\npath = 'a'", 2, "begin with /"),
            ("[[request]]\npath = '/a b'", 2, "%20"),
            ("[[request]]\npath = '/{{foo}}'", 2, "{{rand FROM TO}}"),
            ("[[request]]\nname = 'x'\npath = '/{{line no.csv}}'", 3, "no.csv: no such file"),
            ("[[request]]\npath = '/{{line names.csv 3}}'", 2, "line 1 has 2 columns"),
            ("[[request]]\nmethod = 'A B'", 2, "method"),
            ("[[request]]\nexpect = [\n'status=200',\n'foo=1']", 4, "not a check"),
            ("[[request]]\nexpect = 'status=200'", 2, "expected a list: [\"status=200\"], found"),
            ("[[request]]\nheaders = 'A: b'", 2, "{ Name = \"value\" }"),
            ("[[request]]\nheaders = ['A b']", 2, "no colon"),
            ("[[request]]\nheaders = { 'A B' = 'c' }", 2, "cannot have"),
            ("[[request]]\nheaders = { Content-Length = '3' }", 2, "is set by sixmark"),
            ("[[request]]\nheaders = ['Transfer-Encoding: chunked']", 2, "is set by sixmark"),
            ("[[request]]\nheaders = { A = '{{foo}}' }", 2, "header A"),
            ("[[request]]\nheaders = { A = 1 }", 2, "expected a string"),
            ("[[request]]\nbody = 'a'\njson = 1", 1, "one of body, body_file and json"),
            ("[[request]]\nbody_file = 'none'", 2, "none: no such file"),
            ("[[request]]\nbody_file = 'body.bin'\ntemplates = true", 2, "UTF-8"),
            ("[[request]]\npath = '/a", 2, "invalid"),
            ("[[request]]\nname = \"a\\u001b\"", 2, "control characters"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message.contains(part), "{text}: {error}");
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(!error.message.contains('\n'), "{error}");
        }
    }
}

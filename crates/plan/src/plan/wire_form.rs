//! A plan as data, for another process that runs it. Nothing is lost, unlike in a document: it has
//! all requests with their contents and credentials, and the entries of a timetable.
//!
//! The process that reads it trusts no peer: a plan is checked as if options had said it. What the
//! machine can do is not checked here.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::{Body, Connection, LoadPlan, Plan, PlanRequests, Request, SourceAddresses, Target};
use crate::check::{Checks, Expect};
use crate::pace::{OpenLoop, Pace, WireTimetable};
use crate::plan::most::MOST_ENDPOINTS;
use crate::template::{TemplatePlace, WireFile, WireFiles, WireTemplate};
use sixmark_http::http1::request::{check_method, parse_own_header};
use sixmark_units::family::Family;

/// The most different requests.
const MOST_REQUESTS: usize = 1 << 22;
/// The most worker threads: far more than a machine has processors.
const MOST_THREADS: u32 = 4_096;

/// A plan in the form in which it is carried. It contains credentials: it must not be stored or
/// shown.
#[derive(Clone, Serialize, Deserialize)]
pub struct WirePlan {
    /// The plan with a placeholder for its requests, and without its timetable.
    plan: Plan,
    requests: Vec<WireRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timetable: Option<WireTimetable>,
    /// The files of lines that requests refer to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<WireFile>,
}

/// A request with all that is sent.
#[derive(Clone, Serialize, Deserialize)]
struct WireRequest {
    name: String,
    method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<WireTemplate>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<(String, WireTemplate)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<WireBody>,
    weight: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    expect: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secret: Vec<String>,
}

/// The content of a request.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WireBody {
    /// Bytes in base64.
    Constant(String),
    Template(WireTemplate),
}

impl WirePlan {
    /// Returns the form of a plan that can be run. One that was read from a document has already
    /// lost what is carried here.
    pub fn of(plan: &Plan) -> WirePlan {
        let mut files = WireFiles::default();
        let requests = plan.requests.iter().map(|request| WireRequest::of(request, &mut files));
        let requests = requests.collect();
        let mut load = plan.load.clone();
        let timetable = match &mut load.pace {
            Pace::Open(open) => open.timetable.take().map(|table| table.wire_form()),
            Pace::Closed => None,
        };
        WirePlan { plan: frame(plan, load), requests, timetable, files: files.wire_form() }
    }

    /// Returns the plan, which sends exactly the same.
    ///
    /// # Errors
    /// One line that says why it is not a plan that options could have described.
    pub fn plan(self) -> Result<Plan, String> {
        let WirePlan { mut plan, requests, timetable, files } = self;
        if requests.len() > MOST_REQUESTS {
            let number = requests.len();
            return Err(format!("the plan has {number} requests, not {MOST_REQUESTS} at most"));
        }
        let files = WireFiles::read(files)?;
        let requests = requests.into_iter().map(|request| request.request(&files));
        plan.requests = PlanRequests::new(requests.collect::<Result<_, _>>()?)?;
        plan.load.pace = pace(plan.load.pace, timetable, plan.requests.len())?;
        check(&plan).map(|()| plan)
    }
}

/// Returns the plan with another load and only a placeholder for its requests, which may be many.
fn frame(plan: &Plan, load: LoadPlan) -> Plan {
    Plan {
        targets: plan.targets.clone(),
        ratio: plan.ratio,
        load,
        requests: PlanRequests::one(Request::plain("GET")),
        location: plan.location,
        cookies: plan.cookies,
        accept_status: plan.accept_status,
        http: plan.http,
        connection: plan.connection.clone(),
        tls: plan.tls.clone(),
        sources: plan.sources.clone(),
        seed: plan.seed,
    }
}

impl WireRequest {
    fn of(request: &Request, files: &mut WireFiles) -> WireRequest {
        let Request { name, method, path, headers, body, weight, checks, secret } = request;
        let path = path.as_ref().map(|path| WireTemplate::of(path, files));
        let field =
            |(name, value): &(String, _)| (name.clone(), WireTemplate::of(value, &mut *files));
        let headers = headers.iter().map(field).collect();
        WireRequest {
            name: name.clone(),
            method: method.clone(),
            path,
            headers,
            body: body.as_ref().map(|body| match body {
                Body::Constant(bytes) => WireBody::Constant(STANDARD.encode(bytes.as_slice())),
                Body::Template(body) => WireBody::Template(WireTemplate::of(body, files)),
            }),
            weight: *weight,
            expect: checks.clone().into(),
            secret: secret.clone(),
        }
    }

    fn request(self, files: &WireFiles) -> Result<Request, String> {
        let WireRequest { name, method, path, headers, body, weight, expect, secret } = self;
        if name.chars().any(char::is_control) {
            return Err("the name of a request contains control characters".to_owned());
        }
        let of_request = |error| format!("request '{name}': {error}");
        check_method(&method).map_err(of_request)?;
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(of_request(format!("weight {weight} is not a number above 0")));
        }
        let path = path.map(|path| path.template(TemplatePlace::Path, files)).transpose();
        let headers = headers.into_iter().map(|(name, value)| {
            parse_own_header(&format!("{name}:"))?;
            Ok((name, value.template(TemplatePlace::Header, files)?))
        });
        let body = body.map(|body| body.body(files)).transpose();
        let expect = expect.iter().map(|text| text.parse::<Expect>());
        Ok(Request {
            path: path.map_err(of_request)?,
            headers: headers.collect::<Result<_, String>>().map_err(of_request)?,
            body: body.map_err(of_request)?,
            checks: Checks::new(expect.collect::<Result<_, _>>().map_err(of_request)?),
            name,
            method,
            weight,
            secret,
        })
    }
}

impl WireBody {
    fn body(self, files: &WireFiles) -> Result<Body, String> {
        match self {
            WireBody::Template(body) => {
                body.template(TemplatePlace::Body, files).map(Body::Template)
            }
            WireBody::Constant(text) => match STANDARD.decode(text) {
                Ok(bytes) => Ok(Body::Constant(Arc::new(bytes))),
                Err(error) => Err(format!("the content is not base64: {error}")),
            },
        }
    }
}

/// Returns the pace with its timetable, whose entries refer to `requests` requests.
fn pace(pace: Pace, table: Option<WireTimetable>, requests: usize) -> Result<Pace, String> {
    match (pace, table) {
        (Pace::Closed, None) => Ok(Pace::Closed),
        (Pace::Closed, Some(_)) => Err("a closed loop has no timetable".to_owned()),
        (Pace::Open(OpenLoop { stages, arrivals, overload, spin, .. }), table) => {
            let open = match table {
                None => OpenLoop::new(stages)?,
                Some(_) if !stages.is_empty() => {
                    return Err("a pace has both stages and a timetable".to_owned());
                }
                Some(table) => OpenLoop::replay(table.timetable(requests)?),
            };
            Ok(Pace::Open(OpenLoop { arrivals, overload, spin, ..open }))
        }
    }
}

/// Checks what the code that runs a plan relies on.
fn check(plan: &Plan) -> Result<(), String> {
    plan.targets.iter().try_for_each(check_target)?;
    for family in plan.families() {
        if plan.endpoints(family).is_empty() {
            return Err(format!("the plan has no {family} address"));
        }
    }
    let endpoints = plan.all_endpoints().len();
    if endpoints > MOST_ENDPOINTS {
        return Err(format!("the plan has {endpoints} addresses, not {MOST_ENDPOINTS} at most"));
    }
    let threads = plan.load.threads.get();
    if threads > MOST_THREADS {
        return Err(format!("the plan has {threads} threads, not {MOST_THREADS} at most"));
    }
    let secure = plan.targets.iter().any(Target::secure);
    if secure && plan.tls.is_none() {
        return Err("the plan has https targets, but no settings of TLS".to_owned());
    }
    for family in Family::BOTH {
        let wrong = |of: &&SourceAddresses| {
            let most = if family == Family::Ipv6 { 128 } else { 32 };
            Family::of(of.address) != family || of.prefix > most
        };
        if let Some(SourceAddresses { address, prefix, .. }) =
            plan.sources[family].iter().find(wrong)
        {
            return Err(format!("{address}/{prefix} is no {family} address to connect from"));
        }
    }
    check_connection(&plan.connection, plan.load.connections.get())
}

fn check_connection(connection: &Connection, in_use: u32) -> Result<(), String> {
    if connection.most_open.get() < in_use {
        Err("fewer connections may be open than are in use".to_owned())
    } else {
        Ok(())
    }
}

fn check_target(target: &Target) -> Result<(), String> {
    let Target { url, authority, path, weight, .. } = target;
    let visible =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte > b' ' && byte != 0x7f);
    if !(visible(authority) && visible(path) && path.starts_with('/')) || *weight == 0 {
        return Err(format!("the target {url:?} is not valid"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

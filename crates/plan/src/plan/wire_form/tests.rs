//! Plans of all kinds are carried through JSON.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::fixture::secure_plan;
use crate::import::Wanted;
use crate::import::har::parse_har;
use crate::pace::{ArrivalProcess, Overload, RateStage, RequestRate, Timetable};
use crate::plan::requests::parse_requests;
use crate::plan::tls::{Millionths, PlanTls};
use crate::template::{Template, TemplateValues};

/// A mix with everything that a request can have.
const MIX: &str = r#"
[[request]]
path = "/users/{{rand -3 9223372036854775807}}/{{line users.csv}}"
weight = 0.1
expect = ["status=200", "body~é+", "json:/a=1"]
headers = { Authorization = "Bearer {{uuid}}", "X-Line" = "{{line users.csv 2}}", X-Own = "secret" }
secret = ["x-own"]

[[request]]
method = "PUT"
path = "{{line paths}}"
body = "{{{{ {{seq}} {{line users.csv 1}}"

[[request]]
name = "bytes"
method = "POST"
path = "/{{not-a-template}}"
body_file = "bytes"
templates = false

[[request]]
json = { a = "{{line users.csv 1}}" }

[[request]]
body = ""
"#;

fn mix() -> PlanRequests {
    let mut open = |name: &str| match name {
        "users.csv" => Ok(b"\xef\xbb\xbfann,\"Aachen, DE\"\r\n\nb&b,x\n".to_vec()),
        "paths" => Ok(b"/a\n/\xc3\xa4\n".to_vec()),
        _ => Ok((0..=255).collect()),
    };
    let mut list = parse_requests(MIX, &mut open).unwrap().to_vec();
    list.iter_mut().for_each(Request::redact);
    PlanRequests::new(list).unwrap()
}

fn plan() -> Plan {
    secure_plan(PlanTls { resume: Millionths::ALL, ..PlanTls::default() })
}

fn open(open: OpenLoop) -> Plan {
    let mut plan = plan();
    plan.load.pace = Pace::Open(open);
    plan
}

/// Returns the plans of all kinds.
fn plans() -> [Plan; 5] {
    let rate = |per_s| RequestRate::new(per_s).unwrap();
    let ramp =
        RateStage { from: rate(0.0), to: rate(1.0 / 3.0), duration: Some(Duration::new(7, 9)) };
    let ramp = OpenLoop {
        arrivals: ArrivalProcess::Poisson,
        overload: Overload::Drop,
        spin: Duration::from_nanos(3),
        ..OpenLoop::new(vec![ramp]).unwrap()
    };
    let entries = (0..1_000).map(|k| (k * k * 1_001, (k % 5) as u32)).collect();
    let replay = OpenLoop::replay(Timetable::new(entries, 1.7).unwrap());
    let mut many = plan();
    let list = (0..250).map(|n| Request { name: n.to_string(), ..Request::plain("GET") });
    many.requests = PlanRequests::new(list.collect()).unwrap();
    many.targets[0].addresses.push("[fe80::1%7]:443".parse().unwrap());
    many.accept_status = "200,404,5xx".parse().unwrap();
    many.sources.ipv6 =
        vec![SourceAddresses { address: "fe80::".parse().unwrap(), prefix: 64, scope: 7 }];
    [
        plan(),
        Plan { requests: mix(), ..plan() },
        Plan { requests: mix(), ..open(ramp) },
        Plan { requests: mix(), ..open(replay) },
        many,
    ]
}

fn carry(plan: &Plan) -> Value {
    serde_json::to_value(WirePlan::of(plan)).unwrap()
}

fn read(value: Value) -> Result<Plan, String> {
    serde_json::from_value::<WirePlan>(value).map_err(|error| error.to_string())?.plan()
}

#[test]
fn transfers_a_plan_without_loss() {
    for plan in plans() {
        let text = serde_json::to_string(&WirePlan::of(&plan)).unwrap();
        let found = serde_json::from_str::<WirePlan>(&text).unwrap().plan().unwrap();
        assert_eq!(found.requests, plan.requests);
        assert_eq!(found.load.pace, plan.load.pace);
        assert_eq!(found.targets[0].addresses, plan.targets[0].addresses);
        assert_eq!(found.sources, plan.sources);
        // The rest, and what documents contain of these.
        assert_eq!(serde_json::to_value(&found).unwrap(), serde_json::to_value(&plan).unwrap());
        assert_eq!(carry(&found), carry(&plan));
    }
}

#[test]
fn a_transferred_plan_sends_the_same_requests() {
    let plan = Plan { requests: mix(), ..plan() };
    let found = read(carry(&plan)).unwrap();
    let [mut one, mut other] = [(); 2].map(|()| TemplateValues::new(3, 0, 2));
    for (request, same) in plan.requests.iter().zip(found.requests.iter()).cycle().take(50) {
        one.next_request();
        other.next_request();
        let filled = |request: &Request, values: &mut TemplateValues| {
            crate::plan::FilledRequest::new(request, "/", values)
        };
        let (sent, same) = (filled(request, &mut one), filled(same, &mut other));
        assert_eq!(sent.http1("a", true), same.http1("a", true));
        assert_eq!(sent.body(), same.body());
    }
    let secret = &found.requests[0].headers;
    assert!(secret.iter().any(|(_, value)| value.as_constant() == Some("secret")), "not redacted");
    assert!(secret.iter().any(|(_, value)| value.source() == "[redacted]"));
}

#[test]
fn transfers_an_imported_recording_without_loss() {
    let entry = json!({"startedDateTime": "2026-01-01T00:00:00Z", "request": {
        "method": "GET", "url": "https://a.example/ü?q=a b#c",
        "headers": [{"name": "Accept", "value": "é\t*"}]}});
    let text = json!({"log": {"entries": [entry]}}).to_string();
    let imported =
        parse_har(text.as_bytes(), &["a.example".to_owned()], &Wanted::default()).unwrap();
    let requests = PlanRequests::new(imported.requests).unwrap();
    let plan = Plan { requests, ..plan() };
    assert_eq!(read(carry(&plan)).unwrap().requests, plan.requests);
}

#[test]
fn transfers_a_line_file_separately_for_lines_and_for_columns() {
    let carried = carry(&Plan { requests: mix(), ..plan() });
    let files = carried["files"].as_array().unwrap();
    let columns: Vec<_> = files.iter().map(|file| &file["columns"]).collect();
    assert_eq!(columns, [&Value::Null, &Value::Bool(true), &Value::Null]);
}

#[test]
fn rejects_transferred_plans_that_no_options_could_produce() {
    let [closed, with_mix, ramp, replay, many] = plans().each_ref().map(carry);
    let path = |text: &str| json!({"text": text});
    for (plan, place, wrong, part) in [
        (&closed, "/requests", json!([]), "no requests"),
        (&closed, "/requests/0/method", json!("G T"), "not an HTTP method"),
        (&closed, "/requests/0/name", json!("a\u{1b}"), "control"),
        (&closed, "/requests/0/weight", json!(0.0), "above 0"),
        (&closed, "/plan/targets/0/path", json!("a b"), "not valid"),
        (&closed, "/plan/targets/0/authority", json!("a\r\nb"), "not valid"),
        (&closed, "/plan/targets/0/addresses", json!(["127.0.0.1:1"]), "no IPv6 address"),
        (&closed, "/plan/targets", json!([]), "no IPv6 address"),
        (&closed, "/plan/tls", Value::Null, "settings of TLS"),
        (&closed, "/plan/load/threads", json!(5_000), "5000 threads"),
        (&closed, "/plan/load/connections", json!(5_000), "fewer connections"),
        (&with_mix, "/files", json!([]), "the plan lacks"),
        (&with_mix, "/files/0/text", json!("?"), "can’t be read"),
        (&with_mix, "/files/1/columns", json!(false), "columns"),
        (&with_mix, "/requests/0/expect/0", json!("status=9"), "status"),
        (&with_mix, "/requests/0/path", path("a"), "begin with /"),
        (&with_mix, "/requests/0/headers/0/0", json!("a b"), "name"),
        (&with_mix, "/requests/0/headers/0/1", path("a\r\nb"), "control"),
        (&with_mix, "/requests/2/body/constant", json!("?"), "base64"),
        (&ramp, "/plan/load/pace/stages", json!([]), "sends nothing"),
        (&replay, "/timetable/requests/0", json!(5), "beyond the 5"),
        (&replay, "/plan/load/pace/mode", json!("closed"), "no timetable"),
        (&many, "/plan/sources/ipv6/0/prefix", json!(129), "connect from"),
        (&many, "/plan/sources/ipv6/0/address", json!("1.2.3.4"), "connect from"),
    ] {
        let mut plan = plan.clone();
        *plan.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = wrong;
        let error = read(plan).unwrap_err();
        assert!(error.contains(part) && !error.contains('\n'), "{place}: {error}");
    }
}

#[test]
fn transfers_a_template_with_a_different_displayed_text() {
    let mut files = WireFiles::default();
    for template in [Template::constant(""), Template::constant("a").shown_as("b")] {
        let carried = WireTemplate::of(&template, &mut files);
        assert_eq!(carried.template(TemplatePlace::Body, &files), Ok(template));
    }
}

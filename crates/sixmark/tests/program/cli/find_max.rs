//! The search for the highest rate, against servers whose capacity is known.

use serde_json::Value;
use sixmark_testkit::{Origin, Server, command, document, finish, json, refusing, signal, sixmark};
use sixmark_units::family::Family;

const FAMILIES: [&str; 2] = ["ipv6", "ipv4"];

/// Searches `path` of the origin over both families.
fn search(origin: &Origin, path: &str, options: &[&str]) -> Value {
    let [v6, v4] = origin.urls(path);
    json(&[options, &[&v6, &v4]].concat())
}

fn found<'a>(result: &'a Value, family: &str) -> &'a Value {
    &result["find_max"]["families"][family]
}

fn trials<'a>(result: &'a Value, family: &str) -> &'a [Value] {
    found(result, family)["trials"].as_array().unwrap()
}

fn warned(result: &Value, code: &str) -> bool {
    result["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == code)
}

/// What it sends beyond the capacity waits ever longer, on any machine: too much is never found. A
/// busy one may make any rate fail, so that too little is found; then trials show what failed.
#[test]
fn finds_no_rate_beyond_a_known_capacity_in_either_family() {
    const CAPACITY: f64 = 400.0;
    let origin = Origin::start();
    let options =
        ["--find-max", "response.p50 < 10ms", "--rate", "300/s", "-d", "150ms", "--at-most", "12s"];
    let result = search(&origin, "/capacity/400", &options);
    for family in FAMILIES {
        let (of, trials) = (found(&result, family), trials(&result, family));
        let [holds, fails] = ["holds", "fails"].map(|side| of[side].as_f64());
        assert!(holds < fails && holds.unwrap_or(0.0) <= CAPACITY * 1.2, "{of}");
        let beyond = |trial: &&Value| trial["rate"].as_f64() > Some(CAPACITY * 1.2);
        assert!(trials.iter().filter(beyond).all(|trial| trial["held"] == false), "{of}");
        let failed = |trial: &&Value| trial["rate"].as_f64() == fails && trial["held"] == false;
        assert!(fails.is_none() || trials.iter().any(|trial| failed(&trial)), "{of}");
        let slow = |trial: &Value| trial["values"][0].as_f64() >= Some(10_000.0);
        let excused = |trial: &Value| trial["reason"] != "condition" && !trial["reason"].is_null();
        assert!(trials.iter().filter(failed).all(|trial| slow(trial) || excused(trial)), "{of}");
        assert!(of["ended"].is_string() && of["steady"].is_boolean(), "{of}");
    }
}

/// No rate can hold. A trial in which nothing was answered at all may end the search early.
#[test]
fn a_first_rate_that_does_not_hold_is_followed_by_lower_ones() {
    let origin = Origin::start();
    let options = ["--find-max", "response.max <= 1ns", "--rate", "2000", "-d", "200ms"];
    let result = search(&origin, "/bytes/10", &options);
    for family in FAMILIES {
        let (of, trials) = (found(&result, family), trials(&result, family));
        let rate = |trial: &Value| trial["rate"].as_f64().unwrap();
        assert!(trials.iter().all(|trial| trial["held"] == false), "{of}");
        assert!(trials.is_sorted_by(|one, next| rate(one) >= rate(next)), "{of}");
        let mut rates: Vec<f64> = trials.iter().map(rate).collect();
        rates.dedup();
        // The last one is ten exchanges in 200 ms.
        let all = [2000.0, 500.0, 125.0, 50.0];
        assert!(all.starts_with(&rates), "{of}");
        // On a machine that is busy all the time each exchange begins late.
        if of["ended"] == "generator" {
            continue;
        }
        assert!(rates.len() == all.len() || has_silent_trials(trials), "{of}");
        assert_eq!((&of["holds"], of["fails"].as_f64()), (&Value::Null, rates.last().copied()));
        assert_ne!(of["limited_by"], Value::Null);
    }
}

/// More than one trial had no complete response, as on a machine that is all but stopped.
fn has_silent_trials(trials: &[Value]) -> bool {
    trials.iter().filter(|trial| trial["requests"]["completed"] == 0).count() > 1
}

#[test]
fn requires_all_conditions_and_records_their_values() {
    let origin = Origin::start();
    let options =
        ["--find-max", "failures < 1%", "--find-max", "response.max <= 1ns", "-d", "100ms"];
    let result = search(&origin, "/bytes/10", &options);
    let conditions = &result["find_max"]["conditions"];
    assert_eq!(*conditions, serde_json::json!(["failures < 1%", "response.max <= 1ns"]));
    for family in FAMILIES {
        assert_eq!(found(&result, family)["holds"], Value::Null);
        for trial in trials(&result, family) {
            let [failures, longest] = [0, 1].map(|at| trial["values"][at].as_f64());
            let [sent, completed] =
                ["sent", "completed"].map(|what| trial["requests"][what].as_f64().unwrap());
            // Where all were answered, none failed.
            let failed = failures.unwrap_or(0.0) * sent;
            assert!(failed < sent - completed + 0.5, "{trial}");
            assert!(completed == 0.0 || longest > Some(0.0), "{trial}");
        }
    }
    assert_eq!(result["plan"]["load"]["warmup"]["nanos"], 10_000_000);
}

/// What limits a rate is decided in `find` and in the simulation, where no machine is slow. Here two
/// connections can't carry what falls due: that is counted, and the warning is there if that was
/// the limit.
#[test]
fn warns_when_the_number_of_connections_limits_the_rate() {
    let origin = Origin::start();
    // Each answer takes at least 20 ms, whatever the rate; two at a time are a hundred a second.
    let condition = ["--find-max", "response.p50 < 200ms", "--at-most", "8s"];
    let options = [&condition[..], &["--rate", "500", "-d", "500ms", "-c", "2"]].concat();
    let result = search(&origin, "/delay/20", &options);
    for family in FAMILIES {
        let first = &trials(&result, family)[0];
        let [sent, unsent, waited] =
            ["sent", "unsent", "waited"].map(|what| first["requests"][what].as_u64().unwrap());
        assert!(sent < 100 && sent + unsent == 250, "{first}");
        assert!(waited > 0 || sent <= 2, "{first}");
        assert_eq!(first["held"], false, "{first}");
        assert!(found(&result, family)["holds"].as_f64().unwrap_or(0.0) < 500.0);
    }
    let limits = FAMILIES.map(|family| found(&result, family)["limited_by"].clone());
    let ran_out = limits.iter().any(|limit| limit == "connections" || limit == "unsent");
    assert_eq!(warned(&result, "connections_limited"), ran_out, "{limits:?}");
}

/// The first four trials, two of each family, send at most 14 requests each. When 60 have come they
/// are done, and there are many more to go.
#[test]
fn an_interrupted_search_keeps_its_finished_trials() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let options = ["run", "-q", "--json", "-", "--find-max", "response.p99 < 100s", "--rate", "40"];
    let child = command(&[&options[..], &["-d", "300ms", &v6, &v4]].concat()).spawn().unwrap();
    server.next(60);
    signal(child.id(), "INT");
    let output = finish(child);
    let result = document(&output);
    assert_eq!(result["ended"], "interrupted");
    assert!(warned(&result, "interrupted"));
    for family in FAMILIES {
        let (of, trials) = (found(&result, family), trials(&result, family));
        assert!(trials.len() >= 2, "{of}");
        let shown = &trials[of["shown"].as_u64().unwrap() as usize];
        assert_ne!(shown["reason"], "interrupted", "{of}");
        assert_eq!(result["families"][family]["requests"], shown["requests"], "{of}");
    }
}

#[test]
fn a_family_that_refuses_is_given_up_and_the_other_one_is_searched() {
    let origin = Origin::start();
    let (_held, address) = refusing(Family::Ipv6);
    let url6 = format!("http://{address}/");
    let url4 = origin.url(Family::Ipv4, "/bytes/10");
    let options = ["run", "-q", "--json", "-", "--find-max", "response.max <= 1ns", "-d", "200ms"];
    let output = sixmark(&[&options[..], &[&url6, &url4]].concat());
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no answer over IPv6"), "{said}");
    let result = document(&output);
    assert_eq!(trials(&result, "ipv6").len(), 2);
    assert_eq!(found(&result, "ipv6")["limited_by"], "failures");
    let others = trials(&result, "ipv4");
    assert!(others.len() > 2 || has_silent_trials(others), "{others:?}");
}

#[test]
fn one_family_is_searched_alone() {
    let origin = Origin::start();
    for (option, family) in [("-6", Family::Ipv6), ("-4", Family::Ipv4)] {
        let url = origin.url(family, "/bytes/10");
        let name = family.to_string().to_lowercase();
        let options = [option, "--find-max", "response.max < 1ns", "-d", "100ms", &url];
        let families = json(&options)["find_max"]["families"].clone();
        assert_eq!(families.as_object().unwrap().keys().collect::<Vec<_>>(), [&name]);
    }
}

#[test]
fn the_report_shows_the_found_rates_within_80_columns() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let options =
        ["run", "--find-max", "response.max < 1ns", "--arrivals", "poisson", "-d", "100ms"];
    let output = sixmark(&[&options[..], &[&v6, &v4]].concat());
    let (table, said) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    for expected in [
        "Highest rate with response.max < 1ns, each family alone, trials of 0.1",
        "Requests/s  Did not hold  Because",
        "IPv6                 100  ",
        "IPv4                 100  ",
        "Other figures are of one trial each, IPv6 at 100 requests/s, IPv4 at",
        "open loop, poisson, at most 50 in flight, ",
    ] {
        assert!(table.lines().any(|line| line.starts_with(expected)), "{expected}: {table}");
    }
    let long = table.lines().filter(|line| !line.contains("http://"));
    long.for_each(|line| assert!(line.chars().count() <= 80, "{line}"));
    // Standard error, which is no terminal here, has a line for each trial.
    assert!(String::from_utf8(said).unwrap().contains("did not hold ("));
}

#[test]
fn a_search_that_runs_out_of_time_has_no_ratio() {
    let origin = Origin::start();
    let options = ["--find-max", "response.p50 < 10s", "-d", "100ms", "--at-most", "1500ms"];
    let result = search(&origin, "/bytes/10", &options);
    assert_eq!(result["find_max"]["at_most_s"], 1.5);
    assert_eq!(result["find_max"]["ratio"], Value::Null);
    for family in FAMILIES {
        let of = found(&result, family);
        assert!(of["ended"] == "budget" || of["ended"] == "generator", "{of}");
    }
}

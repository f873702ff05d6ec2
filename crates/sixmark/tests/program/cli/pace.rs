//! The open loop: what falls due is sent or accounted for, and the result says how it was loaded.

use serde_json::{Value, json as value};
use sixmark_testkit::{Origin, json, sixmark, words_of};

const FAMILIES: [&str; 2] = ["ipv6", "ipv4"];

/// What of `total` fell due, as the result accounts for it: sent, dropped, unsent.
fn due(result: &Value) -> [u64; 3] {
    let requests = &result["total"]["requests"];
    ["sent", "dropped", "unsent"].map(|what| requests[what].as_u64().unwrap())
}

fn warned(result: &Value, code: &str) -> bool {
    result["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == code)
}

/// Loads `path` over both families with these options.
fn load(origin: &Origin, path: &str, options: &[&str]) -> Value {
    let [v6, v4] = origin.urls(path);
    json(&[options, &[&v6, &v4]].concat())
}

#[test]
fn a_rate_sends_every_due_request_at_the_exact_ratio() {
    let origin = Origin::start();
    for threads in ["1", "3"] {
        let options = ["--rate", "1k/s", "-n", "300", "-c", "60", "-t", threads, "--ratio", "2:1"];
        let result = load(&origin, "/bytes/10", &options);
        assert_eq!(result["ratio"]["sent"], value!([200, 100]));
        assert_eq!(due(&result), [300, 0, 0]);
        let load = &result["plan"]["load"];
        assert_eq!(load["pace"]["mode"], "open");
        assert_eq!(
            load["pace"]["stages"],
            value!([{"from": 1000.0, "to": 1000.0, "duration": null}])
        );
        for family in FAMILIES {
            let figures = &result["families"][family];
            // Of those that have all three. Slips are also of what was in flight while the machine stood still.
            if figures["slip_us"]["count"] != figures["service_us"]["count"] {
                continue;
            }
            let [response, service, slip] = ["response_us", "service_us", "slip_us"]
                .map(|what| figures[what]["mean"].as_f64().unwrap());
            assert!((response - service - slip).abs() < 0.01, "{response} {service} {slip}");
        }
    }
}

#[test]
fn the_plan_marks_a_run_without_a_rate_as_closed_loop() {
    let origin = Origin::start();
    let result = load(&origin, "/bytes/10", &["-n", "20"]);
    assert_eq!(result["plan"]["load"]["pace"], value!({"mode": "closed"}));
    assert_eq!(due(&result), [20, 0, 0]);
}

#[test]
fn accounts_for_every_due_request_of_a_timed_run() {
    let origin = Origin::start();
    for (options, expected) in [
        (&["--rate", "12000/m", "-d", "500ms"][..], 100),
        (&["--ramp", "0:400/s:500ms"], 100),
        (&["--steps", "100:200ms,400:200ms"], 100),
        (&["--rate", "100", "-d", "300ms", "--warmup", "200ms", "--spin", "20us"], 30),
    ] {
        let result = load(&origin, "/bytes/10", options);
        assert_eq!(due(&result).iter().sum::<u64>(), expected, "{options:?}: {:?}", due(&result));
        assert_eq!(due(&result)[1], 0);
        assert_eq!(result["ended"], "complete");
    }
    let ramp = load(&origin, "/bytes/10", &["--ramp", "0:400/s:500ms"]);
    assert_eq!(ramp["plan"]["load"]["duration"], value!({"secs": 0, "nanos": 500_000_000}));
}

#[test]
fn poisson_arrivals_repeat_with_their_seed() {
    let origin = Origin::start();
    let due_of = |seed| {
        let options =
            ["--rate", "400/s", "-d", "500ms", "--arrivals", "poisson", "--seed", seed, "-c", "99"];
        let result = load(&origin, "/bytes/10", &options);
        assert_eq!(result["plan"]["load"]["pace"]["arrivals"], "poisson");
        due(&result).iter().sum::<u64>()
    };
    // 200 of them, within six standard deviations.
    assert!(due_of("7").abs_diff(200) < 85);
    assert_eq!(due_of("7"), due_of("7"));
}

#[test]
fn poisson_arrivals_keep_the_ratio_exactly_for_a_request_count() {
    let origin = Origin::start();
    let poisson = ["--rate", "1k/s", "--arrivals", "poisson", "-c", "200", "--ratio", "3:1"];
    for threads in ["1", "3"] {
        let counted = ["-n", "400", "-t", threads];
        let result = load(&origin, "/bytes/10", &[&poisson[..], &counted].concat());
        assert_eq!(result["ratio"]["sent"], value!([300, 100]));
        assert_eq!(due(&result), [400, 0, 0]);
        let lasting = ["-d", "400ms", "-t", threads, "--seed", "3"];
        let result = load(&origin, "/bytes/10", &[&poisson[..], &lasting].concat());
        let of = |family: &str| {
            let requests = &result["families"][family]["requests"];
            ["sent", "unsent"].map(|what| requests[what].as_u64().unwrap()).iter().sum::<u64>()
        };
        // 300 and 100, within five standard deviations.
        assert!(of("ipv6").abs_diff(300) < 87 && of("ipv4").abs_diff(100) < 50, "{result}");
    }
}

/// Four places, each taken for a tenth of a second at least, are no more than 24 exchanges in half a
/// second. Only where the machine stood still most of that time were there none after the first four.
#[test]
fn drops_or_queues_requests_without_a_free_connection_and_warns() {
    let origin = Origin::start();
    let stall = ["--rate", "200/s", "-d", "500ms", "-c", "4", "--timeout", "100ms"];
    let result = load(&origin, "/stall", &[&stall[..], &["--overload", "drop"]].concat());
    let [sent, dropped, unsent] = due(&result);
    assert!(sent <= 24 && sent + dropped + unsent == 100, "{sent} {dropped} {unsent}");
    assert!(dropped > 0 || sent <= 4, "{sent} {dropped} {unsent}");
    assert_eq!(warned(&result, "dropped"), dropped > 0);
    let result = load(&origin, "/stall", &stall);
    let [sent, dropped, unsent] = due(&result);
    assert!(sent <= 24 && dropped == 0 && sent + unsent == 100, "{sent} {dropped} {unsent}");
    assert!(warned(&result, "unsent"));
    let waited = result["total"]["requests"]["waited"].as_u64().unwrap();
    assert!(waited > 0 || sent <= 4, "{sent} {waited}");
    assert_eq!(warned(&result, "overloaded"), waited > 0);
}

#[test]
fn the_table_describes_the_load_within_80_columns() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    for (options, expected) in [
        (
            &["--rate", "1k/s", "-n", "50", "-c", "1000"][..],
            "open loop, 1,000/s constant, at most 1,000 in flight",
        ),
        (
            &["--ramp", "1/s:1M/s:1s", "-n", "50"],
            "open loop, 1/s to 1,000,000/s in 1 s, constant, at most 50 in flight",
        ),
        (
            &["--steps", "100:1s,200:1s", "-n", "2", "--arrivals", "poisson"],
            "open loop, 2 steps in 2 s, poisson, at most 50 in flight",
        ),
        (&["-n", "50"], "closed loop, 50 in flight, IPv6 : IPv4 = 1:1"),
    ] {
        let output = sixmark(&[&["run", "--full"], options, &[&v6, &v4]].concat());
        let table = String::from_utf8(output.stdout).unwrap();
        let words = words_of(&table);
        assert!(words.contains(expected), "{expected}: {table}");
        let open = options[0].len() > 2;
        for group in ["Slip", "Service"] {
            assert_eq!(table.lines().any(|line| line == group), open, "{group}: {table}");
        }
        let long = table.lines().filter(|line| !line.contains("http://"));
        long.for_each(|line| assert!(line.chars().count() <= 80, "{line}"));
    }
}

#[test]
fn each_step_of_a_rate_has_figures_of_its_own() {
    let origin = Origin::start();
    for arrivals in ["constant", "poisson"] {
        let options = [
            "--steps",
            "200:300ms,1000:300ms",
            "--arrivals",
            arrivals,
            "-t",
            "2",
            "--warmup",
            "100ms",
        ];
        let result = load(&origin, "/bytes/10", &options);
        for of in [&result["families"]["ipv6"], &result["families"]["ipv4"], &result["total"]] {
            let steps = of["by_step"].as_array().unwrap();
            let rates: Vec<_> = steps.iter().map(|step| step["from"].clone()).collect();
            assert_eq!(rates, [200.0, 1000.0]);
            for field in ["sent", "dropped", "unsent", "completed", "unaccepted"] {
                let all: u64 = steps.iter().map(|step| step[field].as_u64().unwrap()).sum();
                assert_eq!(all, of["requests"][field].as_u64().unwrap(), "{field}");
            }
            let times: u64 =
                steps.iter().map(|step| step["response_us"]["count"].as_u64().unwrap()).sum();
            assert_eq!(times, of["response_us"]["count"].as_u64().unwrap());
            for step in steps {
                let [lasts, rate] =
                    ["lasts_s", "responses_per_s"].map(|of| step[of].as_f64().unwrap());
                assert!((lasts - 0.3).abs() < 1e-9, "{step}");
                let responses = step["responses"].as_u64().unwrap() as f64;
                assert!((rate - responses / lasts).abs() < 1e-6, "{step}");
            }
        }
        let due: Vec<_> =
            result["total"]["by_step"].as_array().unwrap().iter().map(|of| &of["due"]).collect();
        if arrivals == "constant" {
            assert_eq!(due, [60, 300]);
        }
    }
    let one = load(&origin, "/bytes/10", &["--rate", "100", "-n", "10"]);
    assert_eq!(one["total"]["by_step"], value!([]));
}

#[test]
fn counts_dropped_requests_in_their_own_step() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/delay/50");
    let options = ["-c", "2", "--steps", "4:500ms,400:500ms", "--overload", "drop"];
    let result = json(&[&options[..], &[&v6, &v4]].concat());
    let steps = result["total"]["by_step"].as_array().unwrap();
    let of = |step: usize, field: &str| steps[step][field].as_u64().unwrap();
    assert_eq!((of(0, "due"), of(1, "due")), (2, 200));
    assert!(of(1, "dropped") > 100, "{steps:?}");
    assert!(steps[1]["responses_per_s"].as_f64().unwrap() < 100.0, "{steps:?}");
    let text = sixmark(&[&["run"], &options[..], &[&v6, &v4]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    for said in ["STEPS OF THE RATE", "Step 2: 400/s for 500 ms", "dropped: "] {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

//! A study with instruments beside its client.

use serde_json::{Value, json};
use sixmark_design::study_result::StudyResult;

/// Reduces a study to its cells of one combination, with the figures of instruments at both ends of
/// a link, and without anything else.
pub(crate) fn with_instruments(study: StudyResult) -> StudyResult {
    let mut study = serde_json::to_value(study).unwrap();
    let at = study["cells"][0]["cell"].clone();
    let cells = study["cells"].as_array_mut().unwrap();
    cells.retain(|cell| cell["cell"] == at);
    for cell in cells.iter_mut() {
        let repetition = cell["repetition"].as_f64().unwrap();
        let family = cell["families"].as_object().unwrap().keys().next().unwrap().clone();
        cell["instruments"] = instruments(&family, repetition, repetition == 2.0);
    }
    for name in ["tables", "figures", "comparisons", "claims"] {
        study[name] = json!([]);
    }
    study["published"] = Value::Null;
    serde_json::from_value(study).unwrap()
}

fn instruments(family: &str, repetition: f64, last: bool) -> Value {
    let connections = |establishment_us: f64, continuation_us: f64| {
        json!({family: {"connections": 2_000, "establishment_us": establishment_us * repetition,
            "continuation_us": continuation_us * repetition}})
    };
    json!({
        "client": connections(2_100.0, 14_000.0),
        "packets": {
            "document": format!("instruments/c001-r{repetition}-packets.json"),
            "interfaces": ["lo", "client"],
            "packets": 18_000,
            "dropped": 0,
            "cpu_share": 0.08,
            "families": connections(2_010.0, 17_000.0),
        },
        "kernel": [kernel("client", family, last), kernel("server", family, last)],
    })
}

fn kernel(end: &str, family: &str, last: bool) -> Value {
    let is_server = end == "server";
    let of_family = |name: &str| {
        if name == family {
            json!({"packets_in": 9_000, "packets_out": 9_100,
            "sockets": {"established": 190, "time_wait": 1_900}})
        } else {
            json!({"packets_in": 0, "packets_out": 0, "sockets": {}})
        }
    };
    let opened = if is_server { [0, 2_000] } else { [2_000, 0] };
    json!({
        "end": end,
        "host": end,
        "document": format!("instruments/c001-r1-kernel-{end}.json"),
        "cpu_share": 0.03,
        "covered_s": 0.4,
        "opened": opened[0],
        "accepted": opened[1],
        "connections": {family: {"connections": 2_000, "establishment_us": null,
            "continuation_us": null}},
        "busy_share": 0.9,
        "softirq_share": 0.2,
        "server_share": is_server.then_some(0.3),
        "server_memory_bytes": is_server.then_some(22_000_000),
        "memory_bytes": 2_000_000_000,
        "families": {"ipv6": of_family("ipv6"), "ipv4": of_family("ipv4")},
        "over_time": last.then(|| over_time(is_server)),
    })
}

fn over_time(is_server: bool) -> Value {
    let family = json!({
        "packets_in_per_s": [20_000.0, 21_000.0, 500.0],
        "packets_out_per_s": [20_100.0, 21_100.0, 510.0],
        "established": [190, null, 3],
        "time_wait": [10, null, 1_900],
    });
    let server = if is_server { json!([0.3, 0.35, 0.1]) } else { json!([null, null, null]) };
    json!({
        "begins_s": [0.0, 0.05, 0.1],
        "busy_share": [0.9, 1.0, 0.4],
        "softirq_share": [0.2, 0.25, 0.05],
        "server_share": server,
        "memory_bytes": [2_000_000_000, 2_000_000_000, 1_990_000_000],
        "families": {"ipv6": family, "ipv4": family},
    })
}

//! What the doctor finds in a network that lacks something, and whether its commands mend it.

use serde_json::Value;
use sixmark_testkit::forms::DOCTOR;
use sixmark_testkit::{script, skipped};

/// Runs a script in a network of its own, in which `doctor NAME` writes a document to the file NAME in
/// `$2`, and `mend CHECK` executes the commands that the doctor prints for a check. Returns the documents.
fn documents(wrapper: &[&str], text: &str, names: &[&str]) -> Vec<Value> {
    let print: String = names.iter().map(|name| format!("cat \"$2/{name}\"; echo; ")).collect();
    let functions = r#"program=$1; folder=$2
        doctor() { "$program" doctor --require ipv6 --json "$folder/$1" >/dev/null; }
        mend() {
            "$program" doctor >"$folder/text"
            awk -v check="$1" '$1 == check ":" { on = 1; next } /^$/ { on = 0 } on && sub(/^[$] /, "")' \
                "$folder/text" >"$folder/mend" && . "$folder/mend" >/dev/null
        }"#;
    let output = script(wrapper, &format!("{functions}\n{text}\n{print}exit 0"));
    let said = String::from_utf8(output.stdout).unwrap();
    let all = serde_json::Deserializer::from_str(&said).into_iter::<Value>();
    let all: Vec<Value> =
        all.map(|one| one.unwrap_or_else(|error| panic!("{error}: {said}"))).collect();
    assert_eq!(all.len(), names.len(), "{said}");
    all.iter().for_each(|one| DOCTOR.check(one));
    all
}

fn state(document: &Value, name: &str) -> String {
    let checks = document["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    check.unwrap_or_else(|| panic!("no {name}"))["state"].as_str().unwrap().to_owned()
}

fn commands(document: &Value, name: &str) -> Vec<String> {
    let checks = document["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name).unwrap();
    let mend = check["mend"].as_array().unwrap().iter();
    mend.filter_map(|mend| mend["command"].as_str()).map(str::to_owned).collect()
}

#[test]
fn suggests_a_command_that_enables_disabled_ipv6() {
    if skipped("netns") {
        return;
    }
    let text = "ip link set lo up && echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 || exit 99
                doctor before; mend ipv6; doctor after";
    let all = documents(&["unshare", "-n", "sh"], text, &["before", "after"]);
    assert_eq!(state(&all[0], "ipv6"), "missing");
    assert_eq!(commands(&all[0], "ipv6"), ["sysctl -w net.ipv6.conf.all.disable_ipv6=0"]);
    assert_eq!((&all[0]["unmet"][0], state(&all[0], "ipv4").as_str()), (&"ipv6".into(), "ok"));
    assert_eq!(state(&all[1], "ipv6"), "ok");
    assert_eq!(all[1]["unmet"].as_array().unwrap().len(), 0);
    assert!(commands(&all[1], "ipv6").is_empty());
}

#[test]
fn suggests_a_command_that_brings_up_loopback() {
    if skipped("netns") {
        return;
    }
    let text = "doctor before; mend ipv4; doctor after";
    let all = documents(&["unshare", "-n", "sh"], text, &["before", "after"]);
    for family in ["ipv6", "ipv4"] {
        assert_eq!(state(&all[0], family), "missing", "{family}");
        assert_eq!(commands(&all[0], family), ["ip link set lo up"], "{family}");
        assert_eq!(state(&all[1], family), "ok", "{family}");
        assert_eq!(state(&all[1], &format!("{family}-route")), "missing", "{family}");
        assert_eq!(state(&all[1], &format!("{family}-addresses")), "missing", "{family}");
    }
    assert_eq!(state(&all[0], "namespaces"), "ok", "a lab has a network of its own");
}

#[test]
fn suggests_a_command_that_widens_a_narrow_port_range() {
    if skipped("netns") {
        return;
    }
    let text =
        "ip link set lo up && echo 40000 40019 >/proc/sys/net/ipv4/ip_local_port_range || exit 99
                doctor before; mend ports; doctor after";
    let all = documents(&["unshare", "-n", "sh"], text, &["before", "after"]);
    assert_eq!(
        (state(&all[0], "ports").as_str(), state(&all[1], "ports").as_str()),
        ("limited", "ok")
    );
}

/// An account without rights, to which nothing may be given either.
#[test]
fn names_what_an_unprivileged_user_lacks() {
    if skipped("setpriv") {
        return;
    }
    let wrapper = [
        "setpriv",
        "--reuid=65534",
        "--clear-groups",
        "--inh-caps=-all",
        "--bounding-set=-all",
        "sh",
    ];
    let output = script(&wrapper, "\"$1\" doctor --json -; exit 0");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    DOCTOR.check(&document);
    assert_eq!(document["user"], 65_534);
    assert_eq!(state(&document, "capture"), "missing");
    assert_eq!(state(&document, "capabilities"), "limited");
    assert_eq!(state(&document, "ipv6"), "ok");
    let advice =
        &document["checks"].as_array().unwrap().iter().find(|one| one["name"] == "capture");
    let advice = advice.unwrap()["mend"][0]["advice"].as_str().unwrap().to_owned();
    assert!(advice.contains("CapabilityBoundingSet"), "setcap would not help: {advice}");
}

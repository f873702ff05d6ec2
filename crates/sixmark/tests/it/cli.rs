//! The command line from outside.
#![cfg(test)]

use std::process::{Command, Stdio};

use crate::support::{Origin, finish, json, skipped};

#[test]
fn both_families_are_loaded_side_by_side() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/100");
    let result = json(&["-n", "20", "-c", "2", &v6, &v4]);
    assert_eq!(result["ratio"]["sent"], serde_json::json!([10, 10]));
}

#[test]
fn a_family_that_the_host_lacks_is_one_line() {
    if skipped("netns") {
        return;
    }
    let script = "ip link set lo up && echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 || exit 99
                  exec \"$1\" run -6 -n 1 'http://[::1]:1/'";
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_sixmark")]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = finish(command.spawn().unwrap());
    let said = String::from_utf8_lossy(&output.stderr);
    let status = output.status.code();
    assert!(
        !matches!(status, Some(1 | 99)),
        "a network namespace needs root, unshare and ip (SIXMARK_SKIP=netns): {said}"
    );
    assert_eq!((status, said.lines().count()), (Some(3), 1), "{said}");
    assert!(said.contains("over IPv6"), "{said}");
}

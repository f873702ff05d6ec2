//! What a process used is what is counted.

use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use sixmark_testkit::DEADLINE;
use sixmark_testkit::vitals::Watching;

use super::Busy;

#[test]
fn counts_the_cpu_time_of_a_busy_process() {
    let (busy, idle) =
        (Busy::start(), Command::new("cat").stdin(std::process::Stdio::piped()).spawn());
    let mut idle = idle.unwrap();
    let (pid, other) = (busy.pid(), idle.id().to_string());
    let mut watching = Watching::start(&["--interval", "50ms", "--pid", &pid, "--pid", &other]);
    let began = Instant::now();
    let used = |sample: &Value, at: usize| {
        let group = &sample["groups"][at];
        group["user_us"].as_u64().unwrap() + group["system_us"].as_u64().unwrap()
    };
    // Samples count from the process's start, the change from the first sample on. However busy the
    // machine is, it gets there.
    let first = used(&watching.next_line(), 0);
    while used(&watching.next_line(), 0) - first < 200_000 {
        assert!(began.elapsed() < DEADLINE);
    }
    let document = watching.end();
    let change = &document["change"];
    assert!(used(change, 0) >= 200_000);
    assert_eq!(used(change, 1), 0);
    assert_eq!(change["groups"][0]["name"], pid.as_str());
    assert_eq!(change["groups"][0]["processes"], 1);
    assert!(change["groups"][0]["memory_bytes"].as_u64().unwrap() > 0);
    let of_host = |name: &str| change["host"]["cpu"][name].as_u64().unwrap();
    // Whoever runs this may have made it nice.
    let host = of_host("user_us") + of_host("nice_us");
    // The two are not read at the same moment, and on a busy machine much may lie between.
    assert!(host >= used(change, 0) / 2, "{host} us of all");
    let _ = idle.kill();
    let _ = idle.wait();
}

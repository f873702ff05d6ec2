//! Completions that are batched: a run with `--linger` loses none and says that times are late.

use serde_json::{Value, json as value};
use sixmark_testkit::{Origin, json};

fn warned(result: &Value) -> bool {
    result["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == "linger")
}

fn wait(result: &Value, family: &str) -> f64 {
    result["families"][family]["wait_us"]["p50"].as_f64().unwrap()
}

#[test]
fn a_run_with_linger_completes_with_a_warning_on_both_drivers() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    for driver in ["epoll", "uring"] {
        for more in [&["-c", "8"][..], &["-c", "2", "--http2-prior-knowledge", "--streams", "8"]] {
            for (linger, marked) in [("1ms", true), ("0", false)] {
                let load = ["-n", "400", "--driver", driver, "--linger", linger];
                let result = json(&[&load[..], more, &[&v6, &v4]].concat());
                assert_eq!(warned(&result), marked, "{driver} {linger}");
                for family in ["ipv6", "ipv4"] {
                    assert_eq!(result["families"][family]["status"], value!({"200": 200}));
                }
            }
        }
    }
}

/// With io_uring, a wait ends when all connections have an event.
#[test]
fn linger_lengthens_the_measured_wait_on_epoll() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/delay/5");
    let load = |linger| {
        let load = ["-n", "40", "-c", "4", "--driver", "epoll", "--linger", linger];
        json(&[&load[..], &[&v6, &v4]].concat())
    };
    let (late, soon) = (load("50ms"), load("0"));
    for family in ["ipv6", "ipv4"] {
        assert!(wait(&late, family) > 2.0 * wait(&soon, family), "{family}");
    }
}

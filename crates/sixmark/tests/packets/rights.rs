//! Who may not watch.

use sixmark_testkit::{complaint, script, skipped};

#[test]
fn names_cap_net_raw_when_the_user_may_not_capture() {
    if skipped("setpriv") {
        return;
    }
    let as_nobody = ["setpriv", "--reuid=65534", "--clear-groups", "sh"];
    let line = complaint(&script(&as_nobody, "exec $1 watch -i lo"), 3);
    assert!(line.contains("run as root, or with the capability CAP_NET_RAW"), "{line}");
}

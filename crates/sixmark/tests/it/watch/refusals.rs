//! What can't be watched.

use crate::support::{complaint, script, sixmark, skipped};

#[test]
fn what_does_not_fit_together_is_refused_in_one_line() {
    for (arguments, said) in [
        (&["-i", "lo", "-r", "x"][..], "cannot be used with"),
        (&["-r", "no-such-file"], "can't read 'no-such-file'"),
        (&["-r", "x", "-w", "y"], "cannot be used with"),
        (&["-r", "x", "--in", "host"], "leave one of them out"),
        (&["--port", "0"], "1..=65535"),
        (&["--snap", "9"], "64..=262144"),
    ] {
        let line = complaint(&sixmark(&[&["watch"], arguments].concat()), 2);
        assert!(line.contains(said), "{line}");
    }
    let line = complaint(&sixmark(&["watch", "-i", "no-such-interface"]), 3);
    assert!(line.contains("there is no interface 'no-such-interface'"), "{line}");
}

#[test]
fn without_the_right_to_it_the_line_names_it() {
    if skipped("setpriv") {
        return;
    }
    let as_nobody = ["setpriv", "--reuid=65534", "--clear-groups", "sh"];
    let line = complaint(&script(&as_nobody, "exec $1 watch -i lo"), 3);
    assert!(line.contains("it needs root, or the right CAP_NET_RAW"), "{line}");
}

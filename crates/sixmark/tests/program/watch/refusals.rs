//! What can't be watched.

use sixmark_testkit::{complaint, sixmark};

#[test]
fn rejects_invalid_watch_options_in_one_line() {
    for (arguments, said) in [
        (&["-i", "lo", "-r", "x"][..], "cannot be used with"),
        (&["-r", "no-such-file"], "can't read 'no-such-file'"),
        (&["-r", "x", "-w", "y"], "cannot be used with"),
        (&["-r", "x", "--in", "host"], "omit one of them"),
        (&["--port", "0"], "1..=65535"),
        (&["--snap", "9"], "64..=262144"),
    ] {
        let line = complaint(&sixmark(&[&["watch"], arguments].concat()), 2);
        assert!(line.contains(said), "{line}");
    }
    let line = complaint(&sixmark(&["watch", "-i", "no-such-interface"]), 3);
    assert!(line.contains("there is no interface 'no-such-interface'"), "{line}");
}

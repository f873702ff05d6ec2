//! What can't be done is told in one line.

use crate::support::{complaint, refusing, sixmark};
use sixmark_core::family::Family;

#[test]
fn wrong_usage_is_told_in_a_line() {
    for (arguments, why) in [
        (&["--to", "[::1]:5777"][..], "needs a --rate"),
        (&["--to", "[::1]", "--rate", "1M"], "not HOST:PORT"),
        (&["--to", "[::1]:5777", "--rate", "1MB"], "'1MB' is not a rate"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--ipv6", "50"], "no IPv4 address"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--flows", "1"], "1 is too few flows"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--payload", "ipv6-udp=39"], "40 to 65,527"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--payload", "udp-tcp=99"], "is not a size"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--arrivals", "burst=2s/1s"], "no longer than"),
        (&["--listen", "host"], "is not a port or ADDR:PORT"),
        (&["--listen", "0", "--rate", "1M"], "cannot be used with"),
        (&["no-such-script"], "can't read 'no-such-script'"),
        (&[], "required"),
    ] {
        let said = complaint(&sixmark(&[&["traffic"], arguments].concat()), 2);
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}

#[test]
fn a_script_that_is_not_understood_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mgn");
    for (text, why) in [
        ("0 LISTEN UDP 5000\n0 JOIN 224.0.0.9\n", "a.mgn: line 2: the event JOIN is not supported"),
        ("# nothing\n", "neither sends nor listens"),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = complaint(&sixmark(&["traffic", file.to_str().unwrap()]), 2);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_far_side_that_is_not_there_is_named() {
    for family in Family::BOTH {
        let (_held, address) = refusing(family);
        let address = address.to_string();
        let said = complaint(&sixmark(&["traffic", "--to", &address, "--rate", "1M"]), 3);
        assert!(said.contains(&address) && said.contains("refused"), "{said}");
    }
}

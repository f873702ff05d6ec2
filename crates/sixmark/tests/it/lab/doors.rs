//! Who gets into a lab.

use std::process::Command;

use super::up::{Lab, without};

/// Asks a lab to go, by its socket, as another account.
const ASK: &str = r#"
use Socket;
socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
connect($s, pack_sockaddr_un("\0sixmark-lab/0/$ARGV[0]")) or die "can't connect: $!";
syswrite($s, "\"$ARGV[1]\"\n");
print while <$s>;
"#;

#[test]
fn others_than_its_user_get_no_word_from_a_lab() {
    if without(&["setpriv"]) {
        return;
    }
    let lab = Lab::up("door", "name = \"door\"\n[hosts]\na = {}\n", &[]);
    let ask = |who: &[&str], what: &str| {
        let words = [who, &["perl", "-e", ASK, lab.name(), what]].concat();
        let output = Command::new("setpriv").args(&words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let other = ["--reuid=64646", "--regid=64646", "--clear-groups"];
    for what in ["status", "down"] {
        assert_eq!(ask(&other, what), "");
    }
    assert!(ask(&["--"], "status").contains("door"));
}

//! Who gets into a lab.

use std::process::Command;

use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::script;

/// Asks a lab to go, by its socket, as another account.
const ASK: &str = r#"
use Socket;
# A lab may have closed the door before the question is written.
$SIG{PIPE} = 'IGNORE';
socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
connect($s, pack_sockaddr_un("\0sixmark-lab/0/$ARGV[0]")) or die "can't connect: $!";
syswrite($s, "\"$ARGV[1]\"\n");
print while <$s>;
"#;

#[test]
fn a_lab_answers_no_other_user() {
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

/// Anybody may take the name of a lab's socket, and may take one that no lab has.
#[test]
fn lists_no_foreign_sockets_and_times_out_on_a_silent_one() {
    if without(&["setpriv"]) {
        return;
    }
    // Names in a network of its own, so that no other test meets them.
    let text = r#"
        hold() {
            $3 perl -e 'use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
                bind($s, pack_sockaddr_un("\0sixmark-lab/0/$ARGV[0]")) or die; listen($s, 9) or die;
                $| = 1; print "up\n"; sleep' "$1" >>"$2/up"
        }
        hold "$(printf 'x\033[2J')" "$2" & one=$!
        other="setpriv --reuid=64646 --regid=64646 --clear-groups"
        hold foreign "$2" "$other" & three=$!
        until [ "$(wc -l <"$2/up")" = 2 ]; do kill -0 $one && kill -0 $three || exit 99; done
        "$1" lab status
        hold mute "$2" & two=$!
        until [ "$(wc -l <"$2/up")" = 3 ]; do kill -0 $two || exit 99; done
        "$1" lab status mute
        status=$?
        for shell in $one $two $three; do pkill -P $shell; done
        exit $status
    "#;
    let output = script(&["unshare", "-n", "sh"], text);
    let [said, shown] = [&output.stderr, &output.stdout].map(|b| String::from_utf8_lossy(b));
    assert_eq!(shown, "No lab is up.\n", "{said}");
    assert!(said.contains("can't ask the lab 'mute': it does not answer within"), "{said}");
    assert_eq!(output.status.code(), Some(3), "{said}");
}

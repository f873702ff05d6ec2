//! Labs of a user who is not root.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sixmark_eyes::eyes_result::EyesResult;
use sixmark_testkit::lab::without;
use sixmark_testkit::{complaint, document, finish};
use tempfile::TempDir;

/// An account that no list has.
const ACCOUNT: u32 = 64_646;

/// Commands without a lab's name look at all labs of the account: one test at a time has it.
static TURN: Mutex<()> = Mutex::new(());

const LAB: &str = r#"
name = "own"
[hosts]
client = {}
router = { forwards = true }
server = {}
[links]
near = ["client", "router"]
far = ["router", "server"]
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[::]:80", "--listen", "0.0.0.0:80"]
urls = ["http://[{server.ipv6}]", "http://{server.ipv4}"]
"#;

const STUDY: &str = r#"
name = "own"
repetitions = 3
[lab]
file = "lab.toml"
[options]
from = "client"
count = 3
concurrency = 1
[factors]
family = ["ipv6", "ipv4"]
"#;

/// The user, with the program and files of their own.
struct User {
    dir: TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// A lab of a test that failed must not stand in the way of its second try.
impl Drop for User {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for name in ["own", "emulated"] {
                drop(self.run(&["lab", "down", name]));
            }
        }
    }
}

impl User {
    fn new() -> User {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = TempDir::new().unwrap();
        let own = |path: PathBuf| chown(&path, Some(ACCOUNT), Some(ACCOUNT)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_sixmark"), dir.path().join("sixmark")).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(dir.path().join("lab.toml"), LAB).unwrap();
        fs::write(dir.path().join("study.toml"), STUDY).unwrap();
        ["", "lab.toml", "study.toml"].iter().for_each(|name| own(dir.path().join(name)));
        User { dir, _turn: turn }
    }

    fn run(&self, words: &[&str]) -> Output {
        let account = [format!("--reuid={ACCOUNT}"), format!("--regid={ACCOUNT}")];
        let mut command = Command::new("setpriv");
        command.args(account).args(["--clear-groups", "./sixmark"]).args(words);
        command
            .current_dir(self.dir.path())
            .env("TMPDIR", self.dir.path())
            .env("SIXMARK_STORE", "none");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().expect("this needs setpriv"))
    }

    /// A file of root's that the user may read only.
    fn may_read(&self, name: &str, text: &[u8]) {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    fn says(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Nobody listens there: had the load begun, the line would be another one.
#[test]
fn rejects_an_unwritable_store_before_the_load() {
    if without(&["setpriv"]) {
        return;
    }
    let user = User::new();
    let begun =
        ["run", "-q", "-n", "1", "--store", "own", "http://[::1]:9/", "http://127.0.0.1:9/"];
    complaint(&user.run(&begun), 3);
    user.may_read("store", &fs::read(user.dir.path().join("own")).unwrap());
    let load = ["run", "-n", "1", "--store", "store", "http://[::1]:9/", "http://127.0.0.1:9/"];
    let said = complaint(&user.run(&load), 2);
    assert!(said.contains("can't write to the store 'store': this user may not"), "{said}");
}

#[test]
fn a_lab_works_without_root() {
    if without(&["setpriv"]) {
        return;
    }
    let user = User::new();
    let said = user.says(&["lab", "up", "--detach", "lab.toml"]);
    assert!(said.contains("client") && said.contains("service web"), "{said}");
    assert_eq!(user.says(&["lab", "status", "own"]), said);
    let routes = user.says(&["lab", "exec", "client", "ip", "route"]);
    assert!(routes.contains("default via 10.0.1.2"), "{routes}");
    let again = complaint(&user.run(&["lab", "up", "--detach", "lab.toml"]), 2);
    assert!(again.contains("'own' is up"), "{again}");
    for url in ["http://[fd00:0:0:2::2]/", "http://10.0.2.2/"] {
        let words = ["run", "--quiet", "--json", "-", "-n", "5", "--in", "client", url];
        let result = document(&user.run(&words));
        assert_eq!(result["total"]["outcomes"]["NORMAL"], 5, "{url}");
    }
    assert!(user.says(&["lab", "down"]).contains("own is down"));
    assert!(user.says(&["lab", "status"]).contains("No lab is up"));
}

/// Whether or not the file that gives TAP devices out is everybody's.
#[test]
fn an_emulated_link_works_without_root() {
    if without(&["setpriv"]) {
        return;
    }
    let user = User::new();
    let emulated = LAB
        .replace(
            "[\"router\", \"server\"]",
            "{ between = [\"router\", \"server\"], delay = \"1ms\", mechanism = \"emulator\" }",
        )
        .replace("\"own\"", "\"emulated\"");
    fs::write(user.dir.path().join("lab.toml"), emulated).unwrap();
    user.says(&["lab", "up", "--detach", "lab.toml"]);
    for url in ["http://[fd00:0:0:2::2]/bytes/100000", "http://10.0.2.2/bytes/100000"] {
        let run = [
            "run", "--quiet", "--json", "-", "-n", "5", "--in", "client", "--lab", "emulated", url,
        ];
        let result = document(&user.run(&run));
        assert_eq!(result["total"]["outcomes"]["NORMAL"], 5, "{url}");
        let least = &result["total"]["connect_us"]["min"];
        assert!(least.as_f64() >= Some(2_000.0), "{url}: {least}");
    }
    user.says(&["lab", "down", "emulated"]);
}

#[test]
fn a_study_in_a_lab_works_without_root() {
    if without(&["setpriv"]) {
        return;
    }
    let user = User::new();
    user.says(&["study", "run", "study.toml", "--out", "out", "--quiet"]);
    let text = fs::read_to_string(user.dir.path().join("out/study.json")).unwrap();
    let study: Value = serde_json::from_str(&text).unwrap();
    sixmark_testkit::forms::STUDY.check(&study);
    assert_eq!(study["ended"], "complete");
    assert_eq!(study["lab"]["root"], false);
}

#[test]
fn a_client_is_watched_without_root() {
    if without(&["setpriv", "curl"]) {
        return;
    }
    let user = User::new();
    let words = ["eyes", "--repeat", "1", "--json", "-", "--cases", "healthy,dead-ipv6"];
    // The second process outlives the first one, and is ended with it.
    let client = "setsid sleep 1000 & exec curl -s -o /dev/null {url}";
    let output = user.run(&[&words[..], &["--", "sh", "-c", client]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("left 2 processes"), "{said}");
    let result: EyesResult = serde_json::from_slice(&output.stdout).unwrap();
    let [healthy, dead] = &result.cases[..] else { panic!("{result:?}") };
    assert_eq!((healthy.figures.survived, healthy.figures.over_ipv6), (1, 1));
    assert_eq!((dead.figures.survived, dead.figures.over_ipv4), (1, 1));
    let silent = user.run(&["eyes", "--cases", "healthy", "--", "true"]);
    assert!(complaint(&silent, 3).contains("before it tried to connect"));
    let absent = user.run(&["eyes", "--cases", "healthy", "--", "no-such-client"]);
    assert!(complaint(&absent, 2).contains("no program"));
}

#[test]
fn a_program_is_tested_without_root() {
    if without(&["setpriv", "curl", "unbound"]) {
        return;
    }
    let user = User::new();
    let scenarios = ["--scenarios", "ipv6-to-dual,ipv4-to-dual,refused-to-dual"];
    let client = ["only6", "--client", "curl -sSf -o /dev/null"];
    let output = user.run(&[&client[..], &scenarios].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("works in 3 of 3"), "{said}{output:?}");
}

#[test]
fn names_the_sysctl_that_forbids_user_namespaces() {
    if without(&["setpriv"]) {
        return;
    }
    let user = User::new();
    // Within a user namespace, which alone is told to have none below.
    let none = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let file = user.dir.path().join("lab.toml").display().to_string();
    let words = ["-Ur", "sh", "-c", none, "sh", env!("CARGO_BIN_EXE_sixmark"), "lab", "up", &file];
    let mut command = Command::new("unshare");
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let line = complaint(&finish(command.spawn().unwrap()), 3);
    assert!(line.contains("namespaces") && line.contains("user.max_user_namespaces"), "{line}");
}

#[test]
fn treats_root_of_a_single_account_namespace_as_unprivileged() {
    if without(&["setpriv"]) {
        return;
    }
    let user = User::new();
    // Of the one account that there is; it has no rights over what others have.
    let own = TempDir::new().unwrap();
    let out = own.path().join("out").display().to_string();
    let file = user.dir.path().join("study.toml").display().to_string();
    let program = env!("CARGO_BIN_EXE_sixmark");
    let mut command = Command::new("unshare");
    command.args(["-Urn", program, "study", "run", &file, "--out", &out, "--quiet"]);
    command.env("SIXMARK_STORE", "none").stdin(Stdio::null());
    let output = finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(own.path().join("out/study.json")).unwrap();
    let study: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(study["lab"]["root"], false);
}

//! The CI action: its scripts are run as a runner runs them, in a workspace with two checkouts of a small
//! service, by a user who is not root.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};

use sixmark_testkit::lab::without;
use sixmark_testkit::{finish, skipped};
use tempfile::TempDir;

/// An account that no list has, other than that of the tests of ordinary users.
const ACCOUNT: u32 = 64_647;

/// What serves every checkout: `wait` milliseconds over each family.
const SERVE: &str = r#"#!/bin/sh
mkdir -p run
cat >run/conf <<END
user root;
daemon off;
master_process off;
pid run/pid;
error_log stderr;
events { worker_connections 512; }
http {
    client_body_temp_path run/body; proxy_temp_path run/proxy; fastcgi_temp_path run/fastcgi;
    uwsgi_temp_path run/uwsgi; scgi_temp_path run/scgi;
    access_log off;
    keepalive_requests 1000000;
    upstream own { server 127.0.0.1:9; keepalive 16; }
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    server { listen [::]:$PORT ipv6only=on; location / { proxy_pass http://own/delay/$(cat ipv6); } }
    server { listen $PORT; location / { proxy_pass http://own/delay/$(cat ipv4); } }
}
END
"$SIXMARK" origin --listen 127.0.0.1:9 >run/origin &
until [ -s run/origin ]; do sleep 0.01; done
PATH="$PATH:/usr/sbin" exec nginx -p "$PWD" -e stderr -c run/conf
"#;

/// What stands in the place of `location /` of IPv6 in a service that answers errors over it.
const BROKEN: &str = "ipv6only=on; location / { return 503; } location /unused";

/// A service without files.
const ORIGIN: &str =
    r#"exec "$SIXMARK" origin --listen "[{ipv6}]:{port}" --listen "{ipv4}:{port}""#;

/// A runner: its folders, and the variables of the step.
struct Runner {
    dir: TempDir,
    variables: BTreeMap<String, String>,
    wrapper: Vec<String>,
}

impl Runner {
    /// A runner with the checkouts `base` and `head`, whose service waits so many milliseconds over IPv6.
    fn new([base, head]: [u32; 2]) -> Runner {
        let dir = TempDir::new().unwrap();
        let path = dir.path();
        fs::copy(env!("CARGO_BIN_EXE_sixmark"), path.join("sixmark")).unwrap();
        fs::create_dir(path.join("action")).unwrap();
        for file in fs::read_dir(action()).unwrap() {
            let file = file.unwrap().path();
            fs::copy(&file, path.join("action").join(file.file_name().unwrap())).unwrap();
        }
        for (side, ipv6) in [("base", base), ("head", head)] {
            fs::create_dir(path.join(side)).unwrap();
            for (name, text) in [("serve", SERVE), ("ipv6", &ipv6.to_string()), ("ipv4", "0")] {
                fs::write(path.join(side).join(name), text).unwrap();
            }
        }
        fs::create_dir(path.join("temp")).unwrap();
        let event = r#"{"pull_request": {"number": 42, "title": "`$(touch pwned)`"}}"#;
        fs::write(path.join("event.json"), event).unwrap();
        for name in ["output", "summary"] {
            fs::write(path.join(name), "").unwrap();
        }
        let account =
            ["setpriv".to_owned(), format!("--reuid={ACCOUNT}"), format!("--regid={ACCOUNT}")];
        let wrapper = account.into_iter().chain(["--clear-groups".to_owned()]).collect();
        let mut runner = Runner { dir, variables: BTreeMap::new(), wrapper };
        runner.set_usual();
        runner.own();
        runner
    }

    fn set_usual(&mut self) {
        let at = |name: &str| self.dir.path().join(name).display().to_string();
        let usual = [
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_OUTPUT", at("output")),
            ("GITHUB_STEP_SUMMARY", at("summary")),
            ("GITHUB_EVENT_PATH", at("event.json")),
            ("GITHUB_WORKSPACE", at("")),
            ("GITHUB_REPOSITORY", "someone/service".to_owned()),
            ("GITHUB_SERVER_URL", "https://github.example.net".to_owned()),
            ("GITHUB_RUN_ID", "77".to_owned()),
            ("RUNNER_TEMP", at("temp")),
            ("TMPDIR", at("temp")),
            ("HOME", at("")),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("SECRET", "a secret of the job".to_owned()),
            ("INPUT_BINARY", at("sixmark")),
            ("INPUT_START", "sh ./serve".to_owned()),
            ("INPUT_ENV", format!("SIXMARK={}\n", at("sixmark"))),
            ("INPUT_BLOCK", "60ms".to_owned()),
            ("INPUT_OPTIONS", "--warmup 10ms -c 4".to_owned()),
        ];
        for (name, value) in usual {
            self.set(name, &value);
        }
    }

    /// Gives the files to the account.
    fn own(&self) {
        fn give(path: &Path) {
            chown(path, Some(ACCOUNT), Some(ACCOUNT)).unwrap();
            if path.is_dir() {
                fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path()));
            }
        }
        give(self.dir.path());
        fs::set_permissions(self.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Runs a script of the action to its end.
    fn run(&self, script: &str) -> Output {
        let path = self.dir.path().join("action").join(script);
        let mut command = match self.wrapper.as_slice() {
            [] => Command::new(path),
            [first, more @ ..] => {
                let mut command = Command::new(first);
                command.args(more).arg(path);
                command
            }
        };
        command.env_clear().envs(&self.variables).current_dir(self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().expect("this needs bash and setpriv"))
    }

    /// The comparison: its exit status, the comment, and everything that it printed.
    fn measure(&self) -> (i32, String, String) {
        let output = self.run("measure");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let comment = self.output("comment").map_or(String::new(), |path| {
            fs::read_to_string(path).unwrap_or_default().replace('\u{a0}', " ")
        });
        assert!(!self.dir.path().join("pwned").exists(), "a text was run: {said}");
        (output.status.code().unwrap(), comment, said)
    }

    /// The last value of an output of the step.
    fn output(&self, name: &str) -> Option<String> {
        let text = self.read("output");
        let begin = format!("{name}=");
        text.lines().rev().find_map(|line| Some(line.strip_prefix(&begin)?.to_owned()))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap()
    }
}

/// The folder of the action.
fn action() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action")
}

#[test]
fn a_head_that_is_slower_over_ipv6_fails_and_the_comment_says_so() {
    if without(&["setpriv", "nginx"]) {
        return;
    }
    let runner = Runner::new([0, 3]);
    let (status, comment, said) = runner.measure();
    assert_eq!(status, 1, "{said}");
    let parts: Vec<&str> = comment.split("### Comparison: ").collect();
    let [top, ipv6, ipv4, families] = parts.as_slice() else { panic!("{comment}\n{said}") };
    assert!(
        top.starts_with("<!-- sixmark action: sixmark -->\n## sixmark: worse, a gate failed\n"),
        "{top}"
    );
    assert!(top.contains("in a lab of sixmark") && !top.contains('⚠'), "{top}");
    assert!(ipv6.starts_with("head vs base over IPv6\n\n**FAILED** – gate `verdict("), "{ipv6}");
    assert!(ipv6.contains("**WORSE** – head takes ") && ipv6.contains("| worse | "), "{ipv6}");
    assert!(ipv4.starts_with("head vs base over IPv4\n\n**"), "{ipv4}");
    assert!(!ipv4.contains("FAILED") && !ipv4.contains("| worse |"), "{ipv4}");
    assert!(
        families.starts_with("IPv6 vs IPv4, http://localhost:8080/\n\n**FAILED**"),
        "{families}"
    );
    assert!(families.contains("**WORSE** – IPv6 takes "), "{families}");
    let rate = "False alarms: at most 1 in 100 such reports (1 %) calls equal sides better, worse or not \
                comparable in any of its 3 comparisons.";
    assert!(families.contains(rate), "{families}");
    assert!(
        families.contains("(https://github.example.net/someone/service/actions/runs/77#artifacts)")
    );
    // What the job shows, its outputs, and its files.
    assert_eq!(runner.read("summary").replace('\u{a0}', " "), comment);
    assert_eq!(runner.output("verdict").as_deref(), Some("worse"));
    assert_eq!(runner.output("status").as_deref(), Some("1"));
    assert!(
        said.contains("::error title=sixmark::gate `verdict(response.p50) == worse`"),
        "{said}"
    );
    let folder = PathBuf::from(runner.output("folder").unwrap());
    let page = fs::read_to_string(runner.output("report").unwrap()).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.matches("<article").count() == 3);
    let failed = |name: &str| {
        let junit = fs::read_to_string(folder.join(name)).unwrap();
        junit.matches("<failure ").count()
    };
    assert_eq!(
        ["head-base-ipv6.xml", "head-base-ipv4.xml", "head-ipv6-ipv4.xml"].map(failed),
        [1, 0, 1]
    );
    // The lab is gone, and so are the temporary files.
    let own = runner.dir.path().join("sixmark");
    let running = fs::read_dir("/proc").unwrap().filter(|of| {
        let exe = fs::read_link(of.as_ref().unwrap().path().join("exe"));
        exe.is_ok_and(|exe| exe == own)
    });
    assert_eq!(running.count(), 0);
    let left: Vec<_> = fs::read_dir(runner.dir.path().join("temp")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn equal_checkouts_raise_no_alarm() {
    if without(&["setpriv", "nginx"]) {
        return;
    }
    let mut runner = Runner::new([0, 0]);
    // A margin beyond what a busy machine does to equal sides.
    runner.set("INPUT_OPTIONS", "--warmup 10ms -c 4 --margin 60%");
    let (status, comment, said) = runner.measure();
    assert_eq!(status, 0, "{said}");
    assert!(comment.contains(", no gate failed\n"), "{comment}");
    assert!(!comment.contains("FAILED") && !comment.contains("| worse |"), "{comment}");
    assert!(!said.contains("::error"), "{said}");
    let verdict = runner.output("verdict").unwrap();
    assert!(["equivalent", "inconclusive"].contains(&&*verdict), "{verdict}");
}

/// Which is said in one place, and marked by one line for each comparison.
#[test]
fn reports_a_head_with_only_ipv6_errors_as_not_comparable() {
    if without(&["setpriv", "nginx"]) {
        return;
    }
    let mut runner = Runner::new([0, 0]);
    runner.set("INPUT_READY", "/ready");
    let ready = "ipv6only=on; location /ready { return 200; } location /";
    for (side, answer) in [("base", "ipv6only=on; location /"), ("head", BROKEN)] {
        let serve = SERVE.replace("ipv6only=on; location /", answer);
        let serve = serve.replace("ipv6only=on; location /", ready);
        let serve = serve
            .replace("listen $PORT; location /", &ready.replace("ipv6only=on", "listen $PORT"));
        fs::write(runner.dir.path().join(side).join("serve"), serve).unwrap();
    }
    let (status, comment, said) = runner.measure();
    assert_eq!(status, 3, "{said}");
    let parts: Vec<&str> = comment.split("### Comparison: ").collect();
    let [top, ipv6, ipv4, families] = parts.as_slice() else { panic!("{comment}\n{said}") };
    assert!(top.contains("not comparable, not everything could be measured"), "{top}");
    for (part, sentence) in [
        (ipv6, "head answers 503 to every request; base 200."),
        (families, "IPv6 answers 503 to every request; IPv4 200."),
    ] {
        assert!(part.contains(&format!("\n**NOT COMPARABLE** – {sentence}\n")), "{part}");
        assert!(!part.contains("FAILED"), "{part}");
        assert!(part.contains("\nFailed gates: `verdict(response.p50) == worse`"), "{part}");
        assert!(said.contains(&format!("::error title=sixmark::{sentence}\n")), "{said}");
    }
    assert!(!ipv4.contains("NOT COMPARABLE") && !ipv4.contains("FAILED"), "{ipv4}");
    assert_eq!(said.matches("::error").count(), 2, "{said}");
    assert_eq!(runner.output("verdict").as_deref(), Some("not_comparable"));
}

/// Root of a user namespace that may have no network namespaces: containers of CI systems are like that.
#[test]
fn falls_back_to_loopback_with_a_warning_without_namespaces() {
    if without(&["setpriv"]) {
        return;
    }
    let mut runner = Runner::new([0, 0]);
    let forbid = "echo 0 >/proc/sys/user/max_net_namespaces && exec \"$@\"";
    let words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", forbid, "sh"];
    runner.wrapper.extend(words.map(str::to_owned));
    runner.set("INPUT_START", ORIGIN);
    runner.set("INPUT_PATH", "/bytes/100");
    runner.set("INPUT_READY", "/health");
    runner.set("INPUT_OPTIONS", "--warmup 10ms -c 4 --margin 60%");
    let (status, comment, said) = runner.measure();
    assert_eq!(status, 0, "{said}");
    assert!(
        said.contains("::warning title=sixmark::no lab, so both services share loopback"),
        "{said}"
    );
    assert!(said.contains("user.max_net_namespaces"), "{said}");
    assert!(
        comment.contains("on loopback") && comment.contains("> ⚠ There was no lab"),
        "{comment}"
    );
    assert_eq!(comment.matches("### Comparison: ").count(), 3, "{comment}");
    // Who insists on a lab is told why there is none.
    runner.set("INPUT_NETWORK", "lab");
    let (status, comment, said) = runner.measure();
    assert_eq!(status, 3, "{said}");
    assert!(comment.contains("could not measure\n\nno lab can be built here: "), "{comment}");
}

/// GitHub's runners: namespaces are root's, and sudo asks for nothing.
#[test]
fn builds_the_lab_through_sudo_when_only_root_can() {
    if without(&[]) {
        return;
    }
    let mut runner = Runner::new([0, 0]);
    let at = |name: &str| runner.dir.path().join(name).display().to_string();
    let sudo = format!("#!/bin/sh\nshift\necho \"$@\" >>{}\nROOT=1 exec \"$@\"\n", at("sudone"));
    let refusing = format!(
        "#!/bin/sh\n[ -n \"$ROOT\" ] || [ \"$1 $2\" != 'lab up' ] || {{ echo 'not you' >&2; exit 3; }}\n\
         exec {} \"$@\"\n",
        at("sixmark")
    );
    for (name, text) in [("sudo", sudo), ("refusing", refusing)] {
        fs::write(at(name), text).unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (path, refusing) = (format!("{}:/usr/bin:/bin", at("")), at("refusing"));
    runner.wrapper.clear();
    for (name, value) in [
        ("PATH", &*path),
        ("INPUT_BINARY", &*refusing),
        ("INPUT_START", ORIGIN),
        ("INPUT_READY", "/health"),
        ("INPUT_PATH", "/bytes/100"),
        ("INPUT_FAIL_IF", "none"),
        ("INPUT_FAIL_IF_FAMILIES", "none"),
        ("RUNNER_ENVIRONMENT", "github-hosted"),
    ] {
        runner.set(name, value);
    }
    let (status, comment, said) = runner.measure();
    assert_eq!(status, 0, "{said}");
    assert!(
        comment.contains("in a lab of sixmark") && !said.contains("::warning"),
        "{comment}\n{said}"
    );
    let done = runner.read("sudone");
    for command in ["lab up", "compare --in client", "lab down"] {
        assert!(done.contains(&format!("refusing {command}")), "{done}");
    }
    runner.set("INPUT_SUDO", "false");
    runner.set("INPUT_NETWORK", "lab");
    let (status, comment, _) = runner.measure();
    assert_eq!(status, 3);
    assert!(comment.contains("no lab can be built here: not you"), "{comment}");
}

#[test]
fn reports_a_service_that_fails_to_start_with_its_log() {
    if without(&["setpriv"]) {
        return;
    }
    let hostile = "echo '::add-mask::x'; echo '```'; echo '<b>'; echo SECRET=$SECRET; echo no database >&2; exit 7";
    for network in ["auto", "loopback"] {
        let mut runner = Runner::new([0, 0]);
        runner.set("INPUT_NETWORK", network);
        runner.set("INPUT_START", ORIGIN);
        runner.set("INPUT_READY", "/health");
        runner.set("INPUT_HEAD_START", hostile);
        let (status, comment, said) = runner.measure();
        assert_eq!(status, 3, "{said}");
        let line = said
            .lines()
            .find(|line| line.starts_with("sixmark action: the service head did not start"));
        assert!(line.is_some_and(|line| line.contains("no database")), "{said}");
        assert!(
            comment.contains("could not measure\n\nhead did not start (exit status"),
            "{comment}"
        );
        // The log is code, and none of it a command to the runner or a secret of the job.
        for line in ["    ::add-mask::x", "    ```", "    <b>", "    SECRET=", "    no database"] {
            assert!(comment.contains(&format!("{line}\n")), "{line}: {comment}");
        }
        let after = said.split("::stop-commands::").nth(1).unwrap_or_default();
        assert!(said.matches("::add-mask::x").count() <= 1 && !after.is_empty(), "{said}");
        assert_eq!(runner.output("verdict").as_deref(), Some("not_measured"));
    }
}

#[test]
fn rejects_invalid_inputs_and_names_the_problem() {
    if skipped("setpriv") {
        return;
    }
    for (name, value, why) in [
        ("INPUT_START", "", "start is missing"),
        ("INPUT_HEAD", "$(touch pwned)", "head: there is no folder '$(touch pwned)'"),
        ("INPUT_PATH", "index.html", "path: 'index.html' is not a path"),
        ("INPUT_READY", "/'; touch pwned; '", "ready: "),
        ("INPUT_PORT", "80a", "port: '80a' is not a port"),
        ("INPUT_NAME", "a\nb", "name: "),
        ("INPUT_ENV", "a b", "env: 'a b' is not NAME=VALUE"),
        ("INPUT_OPTIONS", "-H 'x", "options: a quote is not closed"),
        ("INPUT_BLOCKS", "many", "blocks: 'many' is not a number"),
        ("INPUT_FALSE_ALARMS", "few", "false-alarms: 'few' is not a percentage"),
        ("INPUT_NETWORK", "moon", "network: 'moon' is not auto, lab or loopback"),
        ("INPUT_LAB", "none.toml", "lab: 'none.toml' can't be used"),
        ("INPUT_BINARY", "none", "there is no program 'none'"),
    ] {
        let mut runner = Runner::new([0, 0]);
        runner.set(name, value);
        let (status, _, said) = runner.measure();
        assert_eq!(status, 2, "{name}: {said}");
        assert!(said.contains(&format!("sixmark action: {why}")), "{name}: {said}");
    }
}

/// What the API was asked: method and path, the authorisation, and the body.
type Asked = (String, String, String);

/// Starts an API that gives each of these answers, a status and a body, to one request.
fn api(answers: Vec<(u16, String)>) -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for (status, body) in answers {
            let (mut stream, _) = listener.accept().unwrap();
            sender.send(read_request(&stream)).unwrap();
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    (url, receiver)
}

fn read_request(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let (mut first, mut token, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim().split_once(": ") {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                value.clone_into(&mut token)
            }
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap()
            }
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let what = first.trim().trim_end_matches(" HTTP/1.1").to_owned();
    (what, token, String::from_utf8(body).unwrap())
}

/// A runner whose comment is to be written to this API.
fn commenting(url: &str) -> Runner {
    let mut runner = Runner::new([0, 0]);
    let comment = "<!-- sixmark action: sixmark -->\n## \"quoted\" $(touch pwned)\n";
    fs::write(runner.dir.path().join("comment.md"), comment).unwrap();
    runner.own();
    let file = runner.dir.path().join("comment.md").display().to_string();
    for (name, value) in
        [("GITHUB_API_URL", url), ("INPUT_TOKEN", "t0ken"), ("COMMENT_FILE", &file)]
    {
        runner.set(name, value);
    }
    runner
}

fn comment_of(login: &str, id: u32, body: &str) -> String {
    serde_json::json!({"id": id, "user": {"login": login}, "body": body}).to_string()
}

#[test]
fn the_comment_is_written_once_and_then_replaced() {
    if ["setpriv", "curl", "jq"].into_iter().any(skipped) {
        return;
    }
    let marker = "<!-- sixmark action: sixmark -->\nold";
    let stranger = comment_of("stranger", 1, marker);
    let other = comment_of("github-actions[bot]", 2, "<!-- sixmark action: other -->\n");
    let own = comment_of("github-actions[bot]", 3, marker);
    let page = format!("[{}]", vec![stranger.clone(); 100].join(","));
    let comments = "GET /repos/someone/service/issues/42/comments?per_page=100&page=";
    for (lists, asked) in [
        (vec![format!("[{stranger},{other}]")], "POST /repos/someone/service/issues/42/comments"),
        (vec![page, format!("[{other},{own}]")], "PATCH /repos/someone/service/issues/comments/3"),
    ] {
        let pages = lists.len();
        let answers = lists.into_iter().map(|list| (200, list)).chain([(201, "{}".to_owned())]);
        let (url, requests) = api(answers.collect());
        let output = commenting(&url).run("comment");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{said}");
        for page in 1..=pages {
            let (what, token, _) = requests.recv().unwrap();
            assert_eq!((what, &*token), (format!("{comments}{page}"), "Bearer t0ken"));
        }
        let (what, _, body) = requests.recv().unwrap();
        assert_eq!(what, asked);
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert!(
            body["body"].as_str().unwrap().ends_with("## \"quoted\" $(touch pwned)\n"),
            "{body}"
        );
    }
}

#[test]
fn a_comment_that_can_not_be_written_is_a_warning() {
    if ["setpriv", "curl", "jq"].into_iter().any(skipped) {
        return;
    }
    let refused = r#"{"message": "Resource not accessible by integration"}"#;
    let (url, _requests) = api(vec![(200, "[]".into()), (403, refused.into())]);
    let fork = commenting(&url);
    let mut push = commenting(&url);
    fs::write(push.dir.path().join("event.json"), "{}").unwrap();
    let mut without_token = commenting(&url);
    without_token.set("INPUT_TOKEN", "");
    push.set("GITHUB_ACTIONS", "false");
    for (runner, why) in [
        (
            fork,
            "not accessible by integration (the token of a pull request from a fork may only read)",
        ),
        (push, "this run belongs to no pull request"),
        (without_token, "there is no token"),
    ] {
        let output = runner.run("comment");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(said.starts_with("sixmark action: warning: no comment was written: "), "{said}");
        assert!(said.contains(why) && !said.contains("t0ken"), "{said}");
    }
}

/// A cargo that leaves a program where the real one does, and says how it was called.
const CARGO: &str = r#"#!/bin/sh
echo "::warning::cargo $*"
[ -z "$FAIL" ] || exit 101
while [ "$1" != --target-dir ]; do shift; done
mkdir -p "$2/release"
cp "$HOME/sixmark" "$2/release/sixmark"
"#;

#[test]
fn the_program_is_built_from_a_checkout_of_its_source() {
    if skipped("setpriv") {
        return;
    }
    let mut runner = Runner::new([0, 0]);
    let path = runner.dir.path().to_owned();
    fs::create_dir_all(path.join("source/crates/sixmark")).unwrap();
    fs::write(path.join("source/crates/sixmark/Cargo.toml"), "").unwrap();
    fs::create_dir(path.join("bin")).unwrap();
    runner.set("INPUT_BINARY", "");
    runner.set("INPUT_BUILD_FROM", path.join("source").to_str().unwrap());
    runner.own();
    let refused = |runner: &Runner, status: i32, why: &str| {
        let output = runner.run("install");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(why), "{said}");
    };
    refused(&runner, 3, "build-from needs Rust");
    let cargo = path.join("bin/cargo");
    fs::write(&cargo, CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    runner.own();
    let bin = format!("{}:/usr/local/bin:/usr/bin:/bin", path.join("bin").display());
    runner.set("PATH", &bin);
    let output = runner.run("install");
    let [out, said] = [output.stdout, output.stderr].map(|of| String::from_utf8(of).unwrap());
    assert!(output.status.success(), "{said}");
    let built = path.join("source/target/release/sixmark");
    assert_eq!(runner.output("binary").as_deref(), built.to_str());
    assert_eq!(out.lines().last(), built.to_str(), "{out}");
    assert!(said.contains("cargo build --locked --release --package sixmark"), "{said}");
    // The runner takes nothing that Cargo prints for a command.
    let before = said.split("::warning::cargo").next().unwrap();
    assert!(before.contains("::stop-commands::"), "{said}");
    runner.set("FAIL", "1");
    refused(&runner, 3, "could not be built from");
    runner.set("INPUT_BINARY", "sixmark");
    refused(&runner, 2, "give `binary` or `build-from`, not both");
    runner.set("INPUT_BINARY", "");
    runner.set("INPUT_BUILD_FROM", path.join("head").to_str().unwrap());
    refused(&runner, 2, "is not the source of sixmark");
}

#[test]
fn refuses_a_release_whose_checksum_or_version_is_wrong() {
    if ["setpriv", "curl"].into_iter().any(skipped) {
        return;
    }
    let mut runner = Runner::new([0, 0]);
    let release = runner.dir.path().join("releases/v9.8.7");
    fs::create_dir_all(&release).unwrap();
    let name = format!("sixmark-9.8.7-{}-linux", std::env::consts::ARCH);
    let file = format!("{name}.tar.xz");
    fs::create_dir(release.join(&name)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_sixmark"), release.join(&name).join("sixmark")).unwrap();
    let mut pack = Command::new("tar");
    pack.args(["-cJf", &file, &name]).current_dir(&release).env("XZ_OPT", "-0");
    assert!(pack.status().unwrap().success(), "this needs xz");
    let sums = Command::new("sha256sum").arg(&file).current_dir(&release).output().unwrap();
    fs::write(release.join("SHA256SUMS"), &sums.stdout).unwrap();
    runner.own();
    let releases = format!("file://{}", runner.dir.path().join("releases").display());
    runner.set("DOWNLOAD", &releases);
    runner.set("INPUT_BINARY", "");
    runner.set("ACTION_REF", "v9.8.7");
    let said = |runner: &Runner| {
        let output = runner.run("install");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
    };
    let (status, text) = said(&runner);
    assert_eq!(status, 0, "{text}");
    let binary = runner.output("binary").unwrap();
    assert_eq!(fs::read(binary).unwrap(), fs::read(release.join(&name).join("sixmark")).unwrap());
    for (name, value, expected, why) in [
        ("INPUT_SHA256", "0".repeat(64), 3, "not run"),
        ("INPUT_VERSION", "1.2.3".to_owned(), 3, "is there such a release?"),
        ("INPUT_VERSION", "main; touch pwned".to_owned(), 2, "is no version"),
    ] {
        runner.set(name, &value);
        let (status, text) = said(&runner);
        assert_eq!(status, expected, "{text}");
        assert!(text.contains(why), "{text}");
        runner.set(name, "");
    }
    fs::write(release.join("SHA256SUMS"), format!("{}  {file}\n", "0".repeat(64))).unwrap();
    let (status, text) = said(&runner);
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("has the checksum") && text.contains("not run"), "{text}");
}

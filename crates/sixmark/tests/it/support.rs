//! What black-box tests share: the program, its result document, an origin, and saying no.
#![cfg(test)]

pub(crate) mod authority;
pub(crate) mod client;
pub(crate) mod documents;
pub(crate) mod forms;
mod raw;
mod server;
pub(crate) mod site;

pub(crate) use raw::Raw;
pub(crate) use server::Server;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use sixmark_origin::{Identity, Options};
use sixmark_units::family::Family;
use socket2::{Domain, Socket, Type};
use tempfile::NamedTempFile;

/// Only a broken build takes this long.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// The program with these arguments, not started yet; its streams are pipes, its input is empty. It
/// keeps nothing: the store of whoever runs the tests is none of theirs.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixmark"));
    command.env("SIXMARK_STORE", "none");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program to its end.
pub(crate) fn sixmark(arguments: &[&str]) -> Output {
    finish(command(arguments).spawn().unwrap())
}

/// What a child with piped streams says until its end; one that never ends is killed.
pub(crate) fn finish(child: Child) -> Output {
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiter = std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output = receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| {
        signal(pid, "KILL");
        panic!("process {pid} did not end within {DEADLINE:?}");
    });
    waiter.join().unwrap().unwrap();
    output.unwrap()
}

/// Sends a signal to a child that has not been waited for.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(sent.unwrap().success(), "no {name} to process {pid}");
}

/// The result of `sixmark run` with these arguments, whether it could measure (status 0) or not
/// (status 3), or was interrupted (status 130).
pub(crate) fn json(arguments: &[&str]) -> Value {
    let all = [&["run", "--quiet", "--json", "-"], arguments].concat();
    document(&sixmark(&all))
}

/// The result document on a run's standard output.
pub(crate) fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no document ({error}): {said}"));
    let statuses = if document["ended"] == "interrupted" { [130, 130] } else { [0, 3] };
    let status = output.status.code();
    assert!(statuses.iter().any(|known| status == Some(*known)), "{:?}: {said}", output.status);
    check(&document);
    document
}

/// What holds for every result: it has the published form, and each request that was sent ended in
/// exactly one way and in exactly one second.
pub(crate) fn check(document: &Value) {
    forms::RESULT.check(document);
    let families = document["families"].as_object().unwrap().iter();
    let open = document["plan"]["load"]["pace"]["mode"] == "open";
    let mut sums = [0, 0];
    for (name, figures) in families {
        let [sent, completed] = accounted(name, figures);
        if open {
            let counts = ["slip_us", "service_us"].map(|what| &figures[what]["count"]);
            let untimed = figures["requests"]["untimed"].as_u64().unwrap();
            assert_eq!(counts, [&Value::from(sent), &Value::from(completed - untimed)], "{name}");
        }
        let of_seconds = |what: &str| -> u64 {
            let seconds = document["intervals"].as_array().unwrap().iter();
            seconds.map(|second| second["families"][name][what].as_u64().unwrap()).sum()
        };
        let in_seconds = ["sent", "completed", "failed"].map(of_seconds);
        assert_eq!(in_seconds, [sent, completed, sent - completed], "{name} by seconds");
        sums = [sums[0] + sent, sums[1] + completed];
    }
    assert_eq!(accounted("total", &document["total"]), sums);
}

fn accounted(name: &str, figures: &Value) -> [u64; 2] {
    let count = |value: &Value| value.as_u64().unwrap();
    let [sent, completed] = ["sent", "completed"].map(|which| count(&figures["requests"][which]));
    let outcomes = figures["outcomes"].as_object().unwrap();
    assert_eq!(outcomes.values().map(count).sum::<u64>(), sent, "{name}: {outcomes:?}");
    assert_eq!(outcomes["NORMAL"], completed, "{name}: {outcomes:?}");
    let failures = figures["failures"].as_array().unwrap();
    let failed = failures.iter().map(|failure| count(&failure["count"])).sum::<u64>();
    assert_eq!(failed, sent - completed, "{name}: {failures:?}");
    [sent, completed]
}

/// The one line that a command which could not do its work leaves on standard error.
pub(crate) fn complaint(output: &Output, status: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].starts_with("sixmark: ") && !said.contains("panicked"), "{said}");
    lines[0].to_owned()
}

/// What a shell script says, run with the program as `$1` and a folder of its own as `$2`.
pub(crate) fn script(wrapper: &[&str], text: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(wrapper[0]);
    command
        .args(&wrapper[1..])
        .args(["-c", text, "sh", env!("CARGO_BIN_EXE_sixmark")])
        .arg(folder.path())
        .env("SIXMARK_STORE", "none");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = finish(command.spawn().unwrap());
    let said = String::from_utf8_lossy(&output.stderr);
    let lacking = !matches!(output.status.code(), Some(0 | 2 | 3));
    assert!(!lacking, "{wrapper:?}: this needs root, unshare and ip, or setpriv: {said}");
    output
}

/// An address that refuses connections for as long as the socket lives.
pub(crate) fn refusing(family: Family) -> (Socket, SocketAddr) {
    let (domain, address) = match family {
        Family::Ipv6 => (Domain::IPV6, SocketAddr::from((Ipv6Addr::LOCALHOST, 0))),
        Family::Ipv4 => (Domain::IPV4, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
    };
    let socket = Socket::new(domain, Type::STREAM, None).unwrap();
    socket.bind(&address.into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

/// True where `SIXMARK_SKIP=name,name` leaves the test out. A test that needs a privilege or a
/// package asks, and fails with a clear line where it is not left out and lacks what it needs.
pub(crate) fn skipped(name: &str) -> bool {
    std::env::var("SIXMARK_SKIP").is_ok_and(|names| names.split(',').any(|n| n.trim() == name))
}

/// sixmark's own server, on loopback of both families.
#[derive(Debug)]
pub(crate) struct Origin {
    origin: sixmark_origin::Origin,
    scheme: &'static str,
    /// What clients have to trust, a PEM file.
    authority: Option<NamedTempFile>,
}

impl Origin {
    /// One that speaks plain text.
    pub(crate) fn start() -> Origin {
        Origin::with(Options::default())
    }

    /// One that speaks TLS, with HTTP/3 too.
    pub(crate) fn secure() -> Origin {
        Origin::secure_with(Options::default())
    }

    /// The same with other limits or addresses.
    pub(crate) fn secure_with(options: Options) -> Origin {
        let identity = Identity::made(&[]).unwrap();
        Origin::with(Options { identity: Some(identity), http3: true, ..options })
    }

    /// With one thread.
    pub(crate) fn with(options: Options) -> Origin {
        let options = Options { threads: 1, ..options };
        let scheme = if options.identity.is_some() { "https" } else { "http" };
        let authority = options.identity.as_ref().and_then(Identity::authority).map(|pem| {
            let file = NamedTempFile::new().unwrap();
            std::fs::write(file.path(), pem).unwrap();
            file
        });
        let origin = sixmark_origin::Origin::start(options).unwrap();
        Origin { origin, scheme, authority }
    }

    /// The file for `--cacert`.
    pub(crate) fn authority(&self) -> &str {
        self.authority.as_ref().unwrap().path().to_str().unwrap()
    }

    pub(crate) fn address(&self, family: Family) -> SocketAddr {
        let mut addresses = self.origin.addresses().iter();
        *addresses.find(|address| Family::of(address.ip()) == family).unwrap()
    }

    /// The URL of `path`, which begins with `/`.
    pub(crate) fn url(&self, family: Family, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address(family))
    }

    /// The URLs of `path`, IPv6 first.
    pub(crate) fn urls(&self, path: &str) -> [String; 2] {
        Family::BOTH.map(|family| self.url(family, path))
    }
}

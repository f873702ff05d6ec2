//! `sixmark check` again: what changed, on the screen, in the document and in `sixmark history`.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::Value;
use sixmark_testkit::forms::CHECK;
use sixmark_testkit::name_server::serve_loopback_names;
use sixmark_testkit::{command, complaint, finish, words_of};
use tempfile::TempDir;

/// The name of the site: the name server has both loopback addresses for it.
const NAME: &str = "ok-ok.example";

const RESPONSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nok";

/// A server at one address. Its port refuses connections once it is closed.
struct OneFamily {
    listener: Arc<TcpListener>,
    ends: Arc<AtomicBool>,
    serving: JoinHandle<()>,
}

impl OneFamily {
    fn start(listener: TcpListener) -> OneFamily {
        let (listener, ends) = (Arc::new(listener), Arc::new(AtomicBool::new(false)));
        let (accepting, over) = (Arc::clone(&listener), Arc::clone(&ends));
        let serving = thread::spawn(move || {
            for stream in accepting.incoming().flatten() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                respond(stream);
            }
        });
        OneFamily { listener, ends, serving }
    }

    fn close(self) {
        self.ends.store(true, Ordering::SeqCst);
        TcpStream::connect(self.listener.local_addr().unwrap()).unwrap();
        self.serving.join().unwrap();
    }
}

/// Reads a request to the end of its head, and responds.
fn respond(mut stream: TcpStream) {
    let (mut read, mut part) = (Vec::<u8>::new(), [0; 1_024]);
    while !read.windows(4).any(|of| of == b"\r\n\r\n") {
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(length) => read.extend(&part[..length]),
        }
    }
    stream.write_all(RESPONSE).ok();
}

/// Returns listeners on loopback of both families, IPv6 first, with the same port.
fn listen_on_both() -> [TcpListener; 2] {
    loop {
        let of_ipv6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
        let port = of_ipv6.local_addr().unwrap().port();
        if let Ok(of_ipv4) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return [of_ipv6, of_ipv4];
        }
    }
}

/// A store, and the options for the name server.
struct Desk {
    folder: TempDir,
    resolver: String,
    url: String,
}

impl Desk {
    fn new(port: u16) -> Desk {
        Desk {
            folder: tempfile::tempdir().unwrap(),
            resolver: serve_loopback_names().to_string(),
            url: format!("http://{NAME}:{port}/"),
        }
    }

    /// Runs a command that uses the store, and returns what it says.
    fn says(&self, words: &[&str]) -> String {
        let output = self.does(words);
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {wrong}");
        assert!(wrong.is_empty(), "{words:?}: {wrong}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn does(&self, words: &[&str]) -> std::process::Output {
        let mut command = command(words);
        command.env("SIXMARK_STORE", self.folder.path().join("results.sqlite"));
        finish(command.current_dir(self.folder.path()).spawn().unwrap())
    }

    fn check(&self, options: &[&str]) -> String {
        let words = ["check", "--repeat", "3", "--resolver", &self.resolver];
        self.says(&[&words, options, &[&self.url]].concat())
    }

    /// Checks, and returns what changed.
    fn since(&self, options: &[&str]) -> Value {
        let document: Value =
            serde_json::from_str(&self.check(&[&["--json", "-"], options].concat())).unwrap();
        CHECK.check(&document);
        document["sites"][0]["since"].clone()
    }
}

#[test]
fn a_second_check_says_what_changed_since_the_first() {
    let [of_ipv6, of_ipv4] = listen_on_both();
    let desk = Desk::new(of_ipv6.local_addr().unwrap().port());
    let [of_ipv6, of_ipv4] = [of_ipv6, of_ipv4].map(OneFamily::start);
    let refusal = complaint(&desk.does(&["history", "checks"]), 2);
    assert!(refusal.contains("does not exist"), "{refusal}");
    // Without noise of times, which may differ by chance.
    let steady = ["--only", "connect,complete,status,content"];
    assert_eq!(desk.since(&steady), Value::Null);
    let text = desk.check(&steady);
    assert!(text.contains(" UTC: nothing changed."), "{text}");
    of_ipv6.close();
    let since = desk.since(&steady);
    assert_eq!(
        (&since["verdict"], &since["appeared"]),
        (&"as_good".into(), &["connect"].as_slice().into())
    );
    // Other options, such as fields that were sent, may be what differs.
    assert_eq!(desk.since(&["-H", "X-Other: 1"]), Value::Null);
    let second = desk.says(&["history", "show", "3"]);
    let line = "verdict was AS GOOD; new: connections to every address.";
    assert!(words_of(&second).contains(line), "{second}");
    of_ipv4.close();
    see_history(&desk, line);
}

/// The change is the first line of the history when that check was the last one.
fn see_history(desk: &Desk, line: &str) {
    let list = desk.says(&["history", "--kind", "check", "--json"]);
    let entries: Vec<Value> = list.lines().map(|of| serde_json::from_str(of).unwrap()).collect();
    let verdicts: Vec<&Value> = entries.iter().map(|of| &of["site_verdict"]).collect();
    assert_eq!(verdicts, ["broken", "broken", "as_good", "as_good"]);
    assert!(desk.says(&["history"]).contains("check: broken"));
    desk.says(&["history", "delete", "4"]);
    let history = desk.says(&["history", "checks", "--target", NAME, "--html", "page.html"]);
    let (tables, last) = history.rsplit_once("\n\n").unwrap();
    assert!(last.starts_with("Since 20") && words_of(last).contains(line), "{history}");
    assert!(words_of(last).contains("BROKEN: users of IPv6 do not get"), "{history}");
    assert_eq!(tables.matches("AS GOOD").count(), 2 + 1, "{history}");
    assert!(history.lines().all(|line| line.chars().count() <= 80), "{history}");
    let page = std::fs::read_to_string(desk.folder.path().join("page.html")).unwrap();
    assert!(page.contains(line), "{page}");
    // What is exported and imported is known again.
    desk.says(&["history", "export", "1", "2", "3", "--out", "all/"]);
    let files = [1, 2, 3].map(|at| format!("all/{at}.json"));
    let other = ["--store", "other.sqlite"];
    let import = ["history", "import", &files[0], &files[1], &files[2]];
    desk.says(&[&import[..], &other].concat());
    let again = desk.says(&[&["history", "checks"][..], &other].concat());
    assert!(again.ends_with(last), "{again}");
    let unknown = complaint(&desk.does(&["history", "checks", "--target", "nowhere"]), 2);
    assert!(unknown.contains("no such check"), "{unknown}");
}

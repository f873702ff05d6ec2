//! Servers that serve few connections at once: what waits for a slot must not look like a family's
//! defect.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use sixmark_result::result::RunResult;
use sixmark_testkit::figures::{assert_normal, of, run};
use sixmark_testkit::process::{Process, program};
use sixmark_testkit::skipped;
use sixmark_units::family::Family;
use tempfile::TempDir;

/// How a server with so many slots is started that listens on this port of both families, its files
/// in this folder.
type SlotServerCommand = fn(&Path, u16, u32) -> Command;

/// A server with few slots.
struct SlotServer {
    package: &'static str,
    skip: &'static str,
    prepare: SlotServerCommand,
}

const HAPROXY: SlotServer = SlotServer { package: "haproxy", skip: "haproxy", prepare: haproxy };
const PUMA: SlotServer = SlotServer { package: "puma", skip: "puma", prepare: puma };
const PREFORK: SlotServer = SlotServer { package: "apache2-bin", skip: "apache", prepare: prefork };
const GUNICORN: SlotServer =
    SlotServer { package: "gunicorn", skip: "gunicorn", prepare: gunicorn };

/// A running one.
struct RunningSlotServer {
    _process: Process,
    _dir: TempDir,
    urls: [String; 2],
}

impl SlotServer {
    /// None where its tests are to be left out.
    fn start(&self, slots: u32) -> Option<RunningSlotServer> {
        if skipped(self.skip) {
            return None;
        }
        // Another program may take a port before the server does.
        (0..10).find_map(|_| self.try_start(slots)).or_else(|| panic!("{} won't start", self.skip))
    }

    fn try_start(&self, slots: u32) -> Option<RunningSlotServer> {
        let dir = tempfile::tempdir().unwrap();
        // Apache gives its privileges away.
        let readable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path(), readable).unwrap();
        std::fs::write(dir.path().join("f"), "hello").unwrap();
        let port = free_port();
        let mut command = (self.prepare)(dir.path(), port, slots);
        command.current_dir(dir.path()).stdout(std::process::Stdio::null());
        // Apache ends its whole group with itself.
        command.process_group(0);
        let mut process = Process::start(&mut command, dir.path(), self.package, self.skip);
        let listens = |host| TcpStream::connect((host, port)).is_ok();
        let up = process.wait_until(|| listens("::1") && listens("127.0.0.1"));
        let urls = [format!("http://[::1]:{port}/f"), format!("http://127.0.0.1:{port}/f")];
        up.then_some(RunningSlotServer { _process: process, _dir: dir, urls })
    }
}

impl RunningSlotServer {
    /// Loads both families.
    fn run(&self, options: &[&str]) -> RunResult {
        let [v6, v4] = &self.urls;
        // On a busy machine what waits for a slot may wait for long.
        let result = run(&[options, &["--timeout", "600s", v6, v4]].concat());
        let most = f64::from(result.plan.load.connections.get());
        let open = Family::BOTH.map(|family| of(&result, family).connections.mean_open);
        // Not all are there from the first moment to the last.
        assert!(open.iter().sum::<f64>() <= most + 1e-6, "{open:?} of {most}");
        result
    }
}

/// A port that is free of both families.
fn free_port() -> u16 {
    let free = || {
        let six = TcpListener::bind(("::1", 0)).unwrap();
        let port = six.local_addr().unwrap().port();
        TcpListener::bind(("127.0.0.1", port)).ok().map(|_| port)
    };
    (0..100).find_map(|_| free()).expect("no port is free of both families")
}

fn haproxy(dir: &Path, port: u16, slots: u32) -> Command {
    let text = format!(
        "global\n maxconn {slots}\n nbthread 1\n\
         defaults\n mode http\n timeout client 120s\n timeout http-keep-alive 120s\n\
         frontend f\n bind [::1]:{port}\n bind 127.0.0.1:{port}\n \
         http-request return status 200 content-type text/plain string hello\n"
    );
    std::fs::write(dir.join("conf"), text).unwrap();
    let mut command = program("haproxy");
    command.args(["-db", "-f"]).arg(dir.join("conf"));
    command
}

fn puma(dir: &Path, port: u16, slots: u32) -> Command {
    let text = "run ->(_) { [200, { 'content-type' => 'text/plain' }, ['hello']] }\n";
    std::fs::write(dir.join("config.ru"), text).unwrap();
    let mut command = program("puma");
    command.args(["-q", "-e", "production", "-t", &format!("{slots}:{slots}")]);
    command.args(["-b", &format!("tcp://[::1]:{port}"), "-b", &format!("tcp://127.0.0.1:{port}")]);
    command.arg(dir.join("config.ru"));
    command
}

fn gunicorn(dir: &Path, port: u16, slots: u32) -> Command {
    let text = "def app(_, start):\n    start('200 OK', [('Content-Length', '5')])\n    \
                return [b'hello']\n";
    std::fs::write(dir.join("app.py"), text).unwrap();
    let mut command = program("gunicorn");
    command.args(["-k", "sync", "-w", &slots.to_string(), "--chdir"]).arg(dir);
    command.args(["--bind", &format!("[::1]:{port}"), "--bind", &format!("127.0.0.1:{port}")]);
    command.arg("app:app");
    command
}

fn prefork(dir: &Path, port: u16, slots: u32) -> Command {
    let modules: String = ["mpm_prefork", "authz_core"]
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .concat();
    let dir_name = dir.display();
    let text = format!(
        "{modules}
         ServerName localhost
         User www-data
         Group www-data
         DefaultRuntimeDir {dir_name}
         PidFile {dir_name}/pid
         ErrorLog {dir_name}/errors
         Listen [::1]:{port}
         Listen 127.0.0.1:{port}
         StartServers {slots}
         MinSpareServers {slots}
         MaxSpareServers {slots}
         ServerLimit {slots}
         MaxRequestWorkers {slots}
         KeepAliveTimeout 120
         MaxKeepAliveRequests 0
         DocumentRoot {dir_name}
         <Directory {dir_name}>
             Require all granted
         </Directory>"
    );
    std::fs::write(dir.join("conf"), text).unwrap();
    let mut command = program("apache2");
    command.arg("-DFOREGROUND").arg("-d").arg(dir).arg("-f").arg(dir.join("conf"));
    command
}

/// Both families' requests are answered, all of them.
fn all_are_answered(server: &SlotServer, slots: u32, options: &[&str]) {
    let Some(server) = server.start(slots) else { return };
    let result = server.run(&[&["-n", "600"], options].concat());
    for family in Family::BOTH {
        assert_normal(of(&result, family), 300);
    }
}

#[test]
fn haproxy_with_two_slots_answers_up_to_20_connections() {
    for options in [
        &["-c", "20"][..],
        &["-c", "20", "-t", "1"],
        &["-c", "3", "--driver", "epoll"],
        &["-c", "2"],
        &["-c", "1"],
        &["-c", "20", "--no-keep-alive"],
        &["-c", "20", "--rate", "3000/s"],
    ] {
        all_are_answered(&HAPROXY, 2, options);
    }
}

#[test]
fn one_slot_is_enough_for_both_families() {
    // A connection of each family, of which the server has only one at a time.
    let Some(server) = HAPROXY.start(1) else { return };
    let result = server.run(&["-n", "100", "-c", "2"]);
    for family in Family::BOTH {
        assert_normal(of(&result, family), 50);
    }
}

#[test]
fn preopens_ten_connections_to_haproxy_with_ten_slots() {
    let Some(server) = HAPROXY.start(10) else { return };
    let result = server.run(&["-n", "4000", "-c", "10", "-t", "1", "--preopen"]);
    for family in Family::BOTH {
        assert_normal(of(&result, family), 2_000);
        assert_eq!(of(&result, family).connections.unopened, 0);
    }
}

#[test]
fn puma_prefork_and_gunicorn_with_four_slots_answer_both_families() {
    for server in [PUMA, PREFORK, GUNICORN] {
        for options in [&["-c", "10"][..], &["-c", "10", "--ratio", "1:1", "-t", "1"]] {
            all_are_answered(&server, 4, options);
        }
    }
}

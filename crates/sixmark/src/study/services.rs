//! The programs that run while a study does.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_core::plan::braces::fill;
use sixmark_core::plan::storage::server;
use sixmark_core::plan::study::{Ready, Service};
use sixmark_core::plan::url::{Host, Url};
use sixmark_sys::process::Running;

use super::folder::Folder;
use super::program::{command, find};
use super::work::Work;
use crate::Error;

/// Between two looks whether a service is ready.
const LOOK: Duration = Duration::from_millis(10);
/// How long a service that is asked to end may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// A port that was free a moment ago may be taken: another try then asks for others.
const TRIES: u32 = 5;
/// How long one look at a URL may take.
const ANSWER: Duration = Duration::from_secs(2);

/// All services of a study. They end when dropped, whatever the reason.
#[derive(Debug, Default)]
pub(super) struct Services {
    started: Vec<Started>,
}

#[derive(Debug)]
struct Started {
    name: String,
    urls: Vec<String>,
    /// None of one that was there before.
    running: Option<Running>,
    log: PathBuf,
}

/// Where services are started, and what ends that early.
pub(super) struct Ground<'a> {
    pub(super) folder: &'a Folder,
    pub(super) work: &'a Work,
    pub(super) stop: &'a AtomicBool,
}

impl Services {
    /// Starts all of them, and waits until each is ready. None where the study is to stop.
    pub(super) fn start(
        services: &[Service],
        ground: &Ground<'_>,
    ) -> Result<Option<Services>, Error> {
        let mut all = Services::default();
        for service in services {
            match ground.start(service)? {
                Some(started) => all.started.push(started),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// The URLs of one.
    pub(super) fn urls(&self, name: &str) -> Option<Vec<String>> {
        self.started.iter().find(|service| service.name == name).map(|service| service.urls.clone())
    }

    /// Fails where one has ended.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        for service in &mut self.started {
            let ended = match &mut service.running {
                Some(running) => running.wait(Duration::ZERO).map_err(|e| service.cannot(&e))?,
                None => None,
            };
            if let Some(exit) = ended {
                let said = said(&service.log);
                let (name, status) = (&service.name, exit.status);
                let line = format!("the service {name} ended by itself ({status}){said}");
                return Err(Error::Measure(line));
            }
        }
        Ok(())
    }

    /// Ends them, the last one first.
    pub(super) fn stop(&mut self) -> Result<(), Error> {
        while let Some(mut service) = self.started.pop() {
            if let Some(running) = &mut service.running {
                running.stop(PATIENCE).map_err(|error| {
                    Error::Measure(format!("can't stop the service {}: {error}", service.name))
                })?;
            }
        }
        Ok(())
    }
}

impl Started {
    fn cannot(&self, error: &std::io::Error) -> Error {
        Error::Measure(format!("can't tell how the service {} is: {error}", self.name))
    }
}

/// The end of what a service said, for the one line that is left of it.
fn said(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    match text.lines().map(str::trim).rfind(|line| !line.is_empty()) {
        Some(line) => format!(": {line} (more in '{}')", log.display()),
        None => String::new(),
    }
}

impl Ground<'_> {
    fn start(&self, service: &Service) -> Result<Option<Started>, Error> {
        let log = self.folder.log(&service.name);
        if service.command.is_empty() {
            let (name, urls) = (service.name.clone(), service.urls.clone());
            let mut there = Started { name, urls, running: None, log };
            return match self.wait(service, &mut there)? {
                Waited::Ready => Ok(Some(there)),
                Waited::Stopped => Ok(None),
                Waited::Ended(why) => Err(Error::Measure(why)),
            };
        }
        let mut why = String::new();
        for _ in 0..TRIES {
            let mut started = self.try_start(service, &log)?;
            match self.wait(service, &mut started)? {
                Waited::Ready => return Ok(Some(started)),
                Waited::Stopped => return Ok(None),
                Waited::Ended(line) => why = line,
            }
        }
        Err(Error::Measure(why))
    }

    fn try_start(&self, service: &Service, log: &Path) -> Result<Started, Error> {
        let values = self.values(service)?;
        let value = |name: &str| values.get(name).cloned();
        let dir = PathBuf::from(values.get("dir").cloned().unwrap_or_default());
        for (name, text) in &service.files {
            write(&dir.join(name), &fill(text, value))?;
        }
        let words: Vec<String> = service.command.iter().map(|word| fill(word, value)).collect();
        let name = service.name.clone();
        let urls = service.urls.iter().map(|url| fill(url, value)).collect();
        let running = self.launch(&name, &words, log)?;
        Ok(Started { name, urls, running: Some(running), log: log.to_owned() })
    }

    /// What stands in braces: ports that are free now, folders, this program.
    fn values(&self, service: &Service) -> Result<BTreeMap<&'static str, String>, Error> {
        let dir = self.work.folder(&format!("service-{}", service.name))?;
        let port = |host: &str| -> Result<(TcpListener, String), Error> {
            let cannot = |error| Error::Measure(format!("can't get a port of {host}: {error}"));
            let listener = TcpListener::bind((host, 0)).map_err(cannot)?;
            let port = listener.local_addr().map_err(cannot)?.port().to_string();
            Ok((listener, port))
        };
        let mut values = BTreeMap::new();
        let texts = || service.command.iter().chain(&service.urls).chain(service.files.values());
        let wants = |name: &str| texts().any(|text| text.contains(&format!("{{{name}}}")));
        // Both are held until both are known. A host without IPv6 need not have one it won't use.
        let mut held = Vec::new();
        for (name, host) in [("port", "127.0.0.1"), ("port6", "::1")] {
            if wants(name) {
                let (listener, number) = port(host)?;
                held.push(listener);
                values.insert(name, number);
            }
        }
        values.insert("dir", dir.display().to_string());
        values.insert("www", self.work.www().display().to_string());
        let own = std::env::current_exe().map(|path| path.display().to_string());
        values.insert("sixmark", own.unwrap_or_else(|_| "sixmark".to_owned()));
        Ok(values)
    }

    fn launch(&self, name: &str, words: &[String], log: &Path) -> Result<Running, Error> {
        let cannot = |why: &str| Error::Measure(format!("can't start the service {name}: {why}"));
        let [program, arguments @ ..] = words else { return Err(cannot("it has no command")) };
        let program = find(program).ok_or_else(|| cannot(&format!("no program '{program}'")))?;
        let out = File::create(log).map_err(|e| cannot(&e.to_string()))?;
        let err = out.try_clone().map_err(|e| cannot(&e.to_string()))?;
        let mut command = command(&program);
        command.args(arguments).stdout(out).stderr(err).current_dir(self.work.www());
        Running::start(&mut command).map_err(|error| cannot(&error.to_string()))
    }

    fn wait(&self, service: &Service, started: &mut Started) -> Result<Waited, Error> {
        let end = Instant::now() + service.patience;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Waited::Stopped);
            }
            let ended = match &mut started.running {
                Some(running) => {
                    running.wait(LOOK).map_err(|error| Error::Measure(error.to_string()))?
                }
                None => None,
            };
            let name = &service.name;
            if let Some(exit) = ended {
                let (status, said) = (exit.status, said(&started.log));
                return Ok(Waited::Ended(format!(
                    "the service {name} did not start ({status}){said}"
                )));
            }
            if is_ready(&service.ready, started) {
                return Ok(Waited::Ready);
            }
            if Instant::now() >= end {
                let (after, said) = (service.patience.as_secs_f64(), said(&started.log));
                let lacks = lacks(&service.ready, started);
                let line =
                    format!("the service {name} was not ready after {after} s: {lacks}{said}");
                return Err(Error::Measure(line));
            }
            if started.running.is_none() {
                std::thread::sleep(LOOK);
            }
        }
    }
}

enum Waited {
    Ready,
    Stopped,
    Ended(String),
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| Error::Measure(format!("can't write '{}': {error}", path.display())))
}

fn is_ready(ready: &Ready, started: &Started) -> bool {
    let urls = || started.urls.iter().filter_map(|url| server(url).ok());
    match ready {
        Ready::Connect => urls().all(|url| connect(&url).is_some()),
        Ready::Get(path) => urls().all(|url| get(&url, path).is_some_and(|status| status < 400)),
        Ready::Line(line) => {
            let said = fs::read(&started.log).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            // The last line may be half a one.
            said.rsplit_once('\n').is_some_and(|(whole, _)| whole.lines().any(|l| l.contains(line)))
        }
    }
}

/// What a service that is not ready lacks, for people.
fn lacks(ready: &Ready, started: &Started) -> String {
    let Ready::Line(line) = ready else {
        let path = if let Ready::Get(path) = ready { path } else { "" };
        let bad = |text: &&String| {
            let url = server(text).ok();
            let status = url.as_ref().and_then(|url| get(url, path));
            match ready {
                Ready::Get(_) => status.is_none_or(|status| status >= 400),
                _ => url.is_none_or(|url| connect(&url).is_none()),
            }
        };
        let Some(url) = started.urls.iter().find(bad) else { return "it is now".to_owned() };
        let status = server(url).ok().and_then(|url| get(&url, path));
        return match status.filter(|_| matches!(ready, Ready::Get(_))) {
            Some(status) => format!("{url}{path} answers {status}"),
            None => format!("{url}{path} does not answer"),
        };
    };
    format!("it has not said '{line}'")
}

fn connect(url: &Url) -> Option<TcpStream> {
    let addresses: Vec<SocketAddr> = match &url.host {
        Host::Address(address, _) => vec![SocketAddr::new(*address, url.port)],
        Host::Name(name) => (name.as_str(), url.port).to_socket_addrs().ok()?.collect(),
    };
    let open = |address: &SocketAddr| TcpStream::connect_timeout(address, ANSWER).ok();
    addresses.iter().find_map(open)
}

/// The status of an answer.
fn get(url: &Url, path: &str) -> Option<u16> {
    let mut stream = connect(url)?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", url.authority());
    stream.write_all(request.as_bytes()).ok()?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    std::str::from_utf8(&head).ok()?.strip_prefix("HTTP/1.")?.get(2..)?.parse().ok()
}

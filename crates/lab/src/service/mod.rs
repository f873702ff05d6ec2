//! The programs that run while a study or a lab does.

pub mod generated;
mod ready;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_model::plan::braces::fill;
use sixmark_model::plan::services::Service;
use sixmark_sys::process::Running;

use crate::Hosts;
use ready::Look;
use sixmark_machine::CommandError;
use sixmark_machine::program::{find_program, plain_command};
use sixmark_machine::usage;

/// Between two looks whether a service is ready.
const LOOK: Duration = Duration::from_millis(10);
/// How long a service that is asked to end may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// A port that was free a moment ago may be taken: another try then asks for others.
const TRIES: u32 = 5;
/// Services that were started. They end when dropped, whatever the reason.
#[derive(Debug, Default)]
pub struct Services {
    started: Vec<Started>,
}

#[derive(Debug)]
struct Started {
    name: String,
    urls: Vec<String>,
    /// None of one that was there before.
    running: Option<Running>,
    log: PathBuf,
    /// How it ended by itself, once that was told.
    ended: Option<String>,
}

/// Where services are started, and what ends that early.
#[derive(Clone, Copy)]
pub struct ServiceGround<'a> {
    /// The folder for what they say.
    pub logs: &'a Path,
    /// The folder in which each has one of its own, for as long as it runs.
    pub dirs: &'a Path,
    /// The folder of generated files.
    pub www: &'a Path,
    /// The hosts that they run in; none where there is no lab.
    pub hosts: Option<&'a Hosts>,
    /// Ends the waiting for them.
    pub stop: &'a AtomicBool,
}

impl Services {
    /// Starts all of them, and waits until each is ready. None where the study is to stop.
    pub fn start(
        services: &[Service],
        ground: &ServiceGround<'_>,
    ) -> Result<Option<Services>, CommandError> {
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
    pub fn urls(&self, name: &str) -> Option<Vec<String>> {
        self.started.iter().find(|service| service.name == name).map(|service| service.urls.clone())
    }

    /// Processor seconds that the processes of one used so far; none of one that was there before.
    pub(crate) fn cpu_of(&self, name: &str) -> Option<f64> {
        let service = self.started.iter().find(|service| service.name == name)?;
        Some(usage::of_group(service.running.as_ref()?.id()))
    }

    /// Fails where one has ended.
    pub fn check(&mut self) -> Result<(), CommandError> {
        for service in &mut self.started {
            if let Some(status) = service.end()? {
                return Err(CommandError::Measure(service.line_of_end(&status)));
            }
        }
        Ok(())
    }

    /// A line for each that has ended since this was asked last.
    pub(crate) fn newly_ended(&mut self) -> Result<Vec<String>, CommandError> {
        let mut lines = Vec::new();
        for service in self.started.iter_mut().filter(|service| service.ended.is_none()) {
            if let Some(status) = service.end()? {
                lines.push(service.line_of_end(&status));
                service.ended = Some(status);
            }
        }
        Ok(lines)
    }

    /// Those of which [`newly_ended`](Services::newly_ended) has told, and how they ended.
    pub(crate) fn ended(&self) -> impl Iterator<Item = (&str, &str)> {
        self.started.iter().filter_map(|of| Some((of.name.as_str(), of.ended.as_deref()?)))
    }

    /// Ends them, the last one first.
    pub fn stop(&mut self) -> Result<(), CommandError> {
        while let Some(mut service) = self.started.pop() {
            if let Some(running) = &mut service.running {
                running.stop(PATIENCE).map_err(|error| {
                    CommandError::Measure(format!(
                        "can't stop the service {}: {error}",
                        service.name
                    ))
                })?;
            }
        }
        Ok(())
    }
}

impl Started {
    /// How it ended, if it has.
    fn end(&mut self) -> Result<Option<String>, CommandError> {
        let Some(running) = &mut self.running else { return Ok(None) };
        let exit = running.wait(Duration::ZERO).map_err(|error| self.cannot(&error))?;
        Ok(exit.map(|exit| exit.status.to_string()))
    }

    fn line_of_end(&self, status: &str) -> String {
        format!("the service {} ended by itself ({status}){}", self.name, last_lines_of(&self.log))
    }

    fn cannot(&self, error: &std::io::Error) -> CommandError {
        CommandError::Measure(format!("can't read the state of the service {}: {error}", self.name))
    }
}

/// The end of what a service said, for the one line that is left of it.
fn last_lines_of(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    match text.lines().map(str::trim).rfind(|line| !line.is_empty()) {
        Some(line) => format!(": {line} (more in '{}')", log.display()),
        None => String::new(),
    }
}

impl ServiceGround<'_> {
    fn start(&self, service: &Service) -> Result<Option<Started>, CommandError> {
        let log = self.logs.join(format!("{}.log", service.name));
        if service.command.is_empty() {
            let (name, urls) = (service.name.clone(), service.urls.clone());
            let mut there = Started { name, urls, running: None, log, ended: None };
            return match self.wait(service, &mut there)? {
                Waited::Ready => Ok(Some(there)),
                Waited::Stopped => Ok(None),
                Waited::Ended(why) => Err(CommandError::Measure(why)),
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
        Err(CommandError::Measure(why))
    }

    fn try_start(&self, service: &Service, log: &Path) -> Result<Started, CommandError> {
        let values = self.values(service)?;
        let value = |name: &str| values.get(name).cloned();
        let dir = PathBuf::from(values.get("dir").cloned().unwrap_or_default());
        for (name, text) in &service.files {
            write_file(&dir.join(name), &fill(text, value))?;
        }
        let words: Vec<String> = service.command.iter().map(|word| fill(word, value)).collect();
        let name = service.name.clone();
        let urls = service.urls.iter().map(|url| fill(url, value)).collect();
        let running = self.launch(service, &words, log)?;
        Ok(Started { name, urls, running: Some(running), log: log.to_owned(), ended: None })
    }

    /// What stands in braces: ports that are free now, folders, this program, addresses of hosts.
    fn values(&self, service: &Service) -> Result<BTreeMap<String, String>, CommandError> {
        let dir = self.dir(service)?;
        let texts = || service.command.iter().chain(&service.urls).chain(service.files.values());
        let wants = |name: &str| texts().any(|text| text.contains(&format!("{{{name}}}")));
        let mut values = self.within(service, || free_ports(&wants))?;
        values.insert("dir".to_owned(), dir.display().to_string());
        values.insert("www".to_owned(), self.www.display().to_string());
        let own = std::env::current_exe().map(|path| path.display().to_string());
        values.insert("sixmark".to_owned(), own.unwrap_or_else(|_| "sixmark".to_owned()));
        values.extend(self.hosts.map(Hosts::values).into_iter().flatten());
        Ok(values)
    }

    /// A service's own folder, for the account that it runs as.
    fn dir(&self, service: &Service) -> Result<PathBuf, CommandError> {
        let path = self.dirs.join(format!("service-{}", service.name));
        let cannot = |error: std::io::Error| {
            CommandError::Measure(format!("can't make the folder '{}': {error}", path.display()))
        };
        fs::create_dir_all(&path).map_err(cannot)?;
        // Whatever a strict umask says: a service that is another account must get in.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(cannot)?;
        if let (Some(name), Some(hosts)) = (&service.account, self.hosts) {
            hosts.give(&path, name).map_err(cannot)?;
        }
        Ok(path)
    }

    /// In the network of the service's host.
    fn within<T: Send>(
        &self,
        service: &Service,
        work: impl FnOnce() -> Result<T, CommandError> + Send,
    ) -> Result<T, CommandError> {
        match (self.hosts, &service.host) {
            (Some(hosts), Some(name)) => hosts.get(name)?.within(work),
            _ => work(),
        }
    }

    fn launch(
        &self,
        service: &Service,
        words: &[String],
        log: &Path,
    ) -> Result<Running, CommandError> {
        let name = &service.name;
        let cannot =
            |why: &str| CommandError::Measure(format!("can't start the service {name}: {why}"));
        let [program, arguments @ ..] = words else { return Err(cannot("it has no command")) };
        let program = find_program(program).ok_or_else(|| cannot(&missing(service, program)))?;
        let out = File::create(log).map_err(|e| cannot(&e.to_string()))?;
        let err = out.try_clone().map_err(|e| cannot(&e.to_string()))?;
        let mut command = plain_command(&program);
        command.args(arguments).stdout(out).stderr(err).current_dir(self.www);
        let started = match (self.hosts, &service.host) {
            (Some(hosts), Some(host)) => {
                hosts.get(host)?.start(&mut command, service.account.as_deref())
            }
            _ => Running::start(&mut command),
        };
        started.map_err(|error| cannot(&error.to_string()))
    }

    fn wait(&self, service: &Service, started: &mut Started) -> Result<Waited, CommandError> {
        let end = Instant::now() + service.patience;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Waited::Stopped);
            }
            let ended = match &mut started.running {
                Some(running) => {
                    running.wait(LOOK).map_err(|error| CommandError::Measure(error.to_string()))?
                }
                None => None,
            };
            let name = &service.name;
            if let Some(exit) = ended {
                let (status, said) = (exit.status, last_lines_of(&started.log));
                return Ok(Waited::Ended(format!(
                    "the service {name} did not start ({status}){said}"
                )));
            }
            let look = Look { ready: &service.ready, urls: &started.urls, log: &started.log };
            if self.within(service, || Ok(look.is_ready()))? {
                return Ok(Waited::Ready);
            }
            if Instant::now() >= end {
                let (after, said) = (service.patience.as_secs_f64(), last_lines_of(&started.log));
                let lacks = self.within(service, || Ok(look.lacks()))?;
                let line =
                    format!("the service {name} was not ready after {after} s: {lacks}{said}");
                return Err(CommandError::Measure(line));
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

fn write_file(path: &Path, text: &str) -> Result<(), CommandError> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| {
        CommandError::Measure(format!("can't write '{}': {error}", path.display()))
    })
}

fn missing(service: &Service, program: &str) -> String {
    match &service.package {
        Some(package) => format!("no program '{program}': install the Debian package {package}"),
        None => format!("no program '{program}'"),
    }
}

/// Ports of loopback that are free now, by the names that stand for them.
fn free_ports(
    wants: &(dyn Fn(&str) -> bool + Sync),
) -> Result<BTreeMap<String, String>, CommandError> {
    let mut values = BTreeMap::new();
    // Both are held until both are known. A host without IPv6 need not have one it won't use.
    let mut held = Vec::new();
    for (name, host) in [("port", "127.0.0.1"), ("port6", "::1")] {
        if wants(name) {
            let cannot =
                |error| CommandError::Measure(format!("can't get a port of {host}: {error}"));
            let listener = TcpListener::bind((host, 0)).map_err(cannot)?;
            let number = listener.local_addr().map_err(cannot)?.port();
            values.insert(name.to_owned(), number.to_string());
            held.push(listener);
        }
    }
    Ok(values)
}

//! The programs that run during a study or a lab.

mod account;
pub mod generated;
pub mod probe;
mod ready;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::plan::services::Service;
use sixmark_document::braces::fill;
use sixmark_sys::process::Running;

use crate::Hosts;
use ready::Look;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::group_usage as usage;
use sixmark_sys::program::{find_program, plain_command};

/// The interval between two checks whether a service is ready.
const LOOK: Duration = Duration::from_millis(10);
/// The maximum time for a service to end after it is asked to.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of attempts to start a service. A port that was free a moment ago may have been
/// taken; the next attempt uses other ports.
const TRIES: u32 = 5;
/// The services that were started. They end when this is dropped, whatever the reason.
#[derive(Debug, Default)]
pub struct Services {
    started: Vec<Started>,
}

#[derive(Debug)]
struct Started {
    name: String,
    urls: Vec<String>,
    /// `None` for a service that was running before.
    running: Option<Running>,
    log: PathBuf,
    /// The exit status, once it has been reported that the service ended by itself.
    ended: Option<String>,
}

/// The environment that services are started in.
#[derive(Clone, Copy)]
pub struct ServiceGround<'a> {
    /// The folder for their logs.
    pub logs: &'a Path,
    /// The folder that contains one folder for each service, as long as the service runs.
    pub dirs: &'a Path,
    /// The folder of generated files.
    pub www: &'a Path,
    /// The hosts that they run in; `None` without a lab.
    pub hosts: Option<&'a Hosts>,
    /// Stops the wait for services when set.
    pub stop: &'a AtomicBool,
}

impl Services {
    /// Starts all services and waits until each is ready. Returns `None` if `stop` was set first.
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

    /// Returns the URLs of a service.
    pub fn urls(&self, name: &str) -> Option<Vec<String>> {
        self.started.iter().find(|service| service.name == name).map(|service| service.urls.clone())
    }

    /// Returns the CPU time that the processes of a service have used so far, in seconds. Returns
    /// `None` for a service that was running before.
    pub(crate) fn cpu_of(&self, name: &str) -> Option<f64> {
        let service = self.started.iter().find(|service| service.name == name)?;
        Some(usage::of_group(service.running.as_ref()?.id()))
    }

    /// Returns the process id of a service. Returns `None` for a service that was running before.
    pub fn pid_of(&self, name: &str) -> Option<u32> {
        let service = self.started.iter().find(|service| service.name == name)?;
        Some(service.running.as_ref()?.id())
    }

    /// Fails if a service has ended.
    pub fn check(&mut self) -> Result<(), CommandError> {
        for service in &mut self.started {
            if let Some(status) = service.end()? {
                return Err(CommandError::Measure(service.line_of_end(&status)));
            }
        }
        Ok(())
    }

    /// Returns one line for each service that has ended since the last call.
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

    /// Returns the services that [`newly_ended`](Services::newly_ended) has reported, with their
    /// exit statuses.
    pub(crate) fn ended(&self) -> impl Iterator<Item = (&str, &str)> {
        self.started.iter().filter_map(|of| Some((of.name.as_str(), of.ended.as_deref()?)))
    }

    /// Stops the services, the last one first.
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
    /// Returns the exit status if the service has ended.
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

/// Returns the last line of a service's log as an addition to an error message.
fn last_lines_of(log: &Path) -> String {
    last_line(log).map_or(String::new(), |line| format!(": {line} (more in '{}')", log.display()))
}

/// Returns the last line of a log that is not empty.
fn last_line(log: &Path) -> Option<String> {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
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

    /// Returns the values of the placeholders in braces: free ports, folders, this program, and the
    /// addresses of hosts.
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

    /// Creates the folder of a service, for the account that it runs as.
    fn dir(&self, service: &Service) -> Result<PathBuf, CommandError> {
        let path = self.dirs.join(format!("service-{}", service.name));
        let cannot = |error: std::io::Error| {
            CommandError::Measure(format!("can't make the folder '{}': {error}", path.display()))
        };
        fs::create_dir_all(&path).map_err(cannot)?;
        // Overrides a strict umask, because a service that runs as another account must have
        // access.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(cannot)?;
        match (&service.account, self.hosts) {
            (Some(name), Some(hosts)) => hosts.give(&path, name),
            _ => account::give_folder(&path, service),
        }
        .map_err(cannot)?;
        Ok(path)
    }

    /// Runs a function in the network of the service's host.
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
            _ => account::put_account(&mut command, service)
                .and_then(|()| Running::start(&mut command)),
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

/// Returns free ports of the loopback addresses, by the names of their placeholders.
fn free_ports(
    wants: &(dyn Fn(&str) -> bool + Sync),
) -> Result<BTreeMap<String, String>, CommandError> {
    let mut values = BTreeMap::new();
    // Both ports are held until both are known. A port that is not used is not requested, because a
    // host may lack IPv6.
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

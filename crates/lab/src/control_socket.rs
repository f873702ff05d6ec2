//! The control socket of a lab that is up. It is a Unix socket through which other commands of the
//! same user find the lab, query it and enter its hosts.
//!
//! The socket is in the abstract namespace (unix(7)), so it has no file and disappears with the
//! process. A question is one line of JSON, and so is the answer. Descriptors of the namespaces to
//! which an answer refers follow it.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use crate::plan::is_lab_name;
use serde::{Deserialize, Serialize};
use sixmark_sys::{handover, join};

use super::Hosts;
use sixmark_sys::command_error::CommandError;
use sixmark_units::family::Family;

/// The maximum time for a client to send its question.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum time for a lab to answer, and the maximum length of the answer in bytes.
pub const ANSWER: Duration = Duration::from_secs(10);
const LONGEST: usize = 1 << 20;

/// The kernel's list of Unix sockets.
const LIST: &str = "/proc/net/unix";

/// A question to a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Requests the status.
    Status,
    /// Requests access to a host, by name.
    Enter(String),
    /// Requests that the lab be removed.
    Down,
}

/// The answer of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The status as text for people.
    Status(String),
    /// The name files of a host. Descriptors of its namespaces follow, in the order of the fields
    /// of [`HostNamespaces`].
    Enter {
        /// The content of `/etc/hosts`.
        hosts: String,
        /// The content of `/etc/resolv.conf`.
        resolv_conf: String,
        /// True if the first descriptor is that of a user namespace.
        user: bool,
        /// The family of which programs of the host have no stack.
        #[serde(default)]
        missing_stack: Option<Family>,
    },
    /// The lab is about to be removed.
    Down,
    /// The request failed, for this reason.
    No(String),
}

/// The namespaces and name files of a host.
#[derive(Debug)]
pub struct HostNamespaces {
    /// The user namespace, or `None` if the lab uses that of its surroundings.
    pub user: Option<OwnedFd>,
    /// The PID namespace of the lab.
    pub processes: OwnedFd,
    /// The network namespace of the host.
    pub network: OwnedFd,
    /// The mount namespace of the host.
    pub mounts: OwnedFd,
    /// The content of the host's `/etc/hosts`.
    pub hosts: String,
    /// The content of the host's `/etc/resolv.conf`.
    pub resolv_conf: String,
    /// The family of which programs of the host have no stack.
    pub missing_stack: Option<Family>,
}

/// The listening control socket of a lab.
#[derive(Debug)]
pub struct ControlSocket(UnixListener);

/// The result of checking for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// No client was waiting.
    Nobody,
    /// A question was answered.
    Answered,
    /// The lab was told to end.
    Leave,
}

fn address_of(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{}{name}", prefix()))
}

/// Returns the prefix of the names of this user's sockets.
fn prefix() -> String {
    format!("sixmark-lab/{}/", join::account())
}

impl ControlSocket {
    /// Opens the socket. Call this outside the enclosure, where other commands can connect.
    ///
    /// # Errors
    /// Fails if a lab of this name is up.
    pub fn open(name: &str) -> Result<ControlSocket, CommandError> {
        let opened = address_of(name).and_then(|address| UnixListener::bind_addr(&address));
        let opened = opened.and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
        opened.map(ControlSocket).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => CommandError::Usage(format!(
                "a lab '{name}' is up: take it down with `sixmark lab down {name}`, or name this \
                 one with --name"
            )),
            _ => CommandError::Measure(format!("can't open a socket for the lab: {error}")),
        })
    }

    /// Answers a client if one is waiting, without blocking.
    ///
    /// # Errors
    /// Fails if the socket is broken.
    pub fn answer(
        &self,
        mut look: impl FnMut(&Question) -> (Answer, Vec<OwnedFd>),
    ) -> Result<Visit, CommandError> {
        match self.0.accept() {
            // A client that disconnects early does not affect the lab.
            Ok((stream, _)) => match answer_one(&stream, &mut look) {
                Ok(true) => Ok(Visit::Leave),
                _ => Ok(Visit::Answered),
            },
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Visit::Nobody),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Visit::Answered),
            Err(error) => {
                Err(CommandError::Measure(format!("the lab's socket is broken: {error}")))
            }
        }
    }
}

/// Answers one question. Returns true if the lab is to end. Clients of other users get no answer:
/// an abstract socket has no permissions, so the user is checked here.
fn answer_one(
    stream: &UnixStream,
    look: &mut impl FnMut(&Question) -> (Answer, Vec<OwnedFd>),
) -> io::Result<bool> {
    if handover::peer(stream)?.account != join::account() {
        return Ok(false);
    }
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let question: Question = serde_json::from_str(&line)?;
    let (answer, files) = look(&question);
    let mut stream = stream;
    stream.write_all((serde_json::to_string(&answer)? + "\n").as_bytes())?;
    if !files.is_empty() {
        let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
        handover::send(stream, &files)?;
    }
    Ok(question == Question::Down)
}

/// Returns the namespaces of a host that is up. Must be called inside the lab.
pub(super) fn open_namespaces(hosts: &Hosts, name: &str) -> (Answer, Vec<OwnedFd>) {
    match files(hosts, name) {
        Ok(found) => found,
        Err(error) => (Answer::No(error.to_string()), Vec::new()),
    }
}

fn files(hosts: &Hosts, name: &str) -> Result<(Answer, Vec<OwnedFd>), CommandError> {
    let host = hosts.get(name)?;
    let cannot =
        |error: io::Error| CommandError::Measure(format!("can't open the host {name}: {error}"));
    let space = |kind: &str| fs::File::open(format!("/proc/self/ns/{kind}")).map(OwnedFd::from);
    let user = host.is_in_user_namespace();
    let mut files = Vec::new();
    if user {
        files.push(space("user").map_err(cannot)?);
    }
    files.push(space("pid").map_err(cannot)?);
    files.push(host.net().as_fd().try_clone_to_owned().map_err(cannot)?);
    files.push(host.mounts().as_fd().try_clone_to_owned().map_err(cannot)?);
    let missing_stack = host.missing_stack();
    let [hosts, resolv_conf] = super::build::own_texts(name).map_err(cannot)?;
    Ok((Answer::Enter { hosts, resolv_conf, user, missing_stack }, files))
}

/// Returns the names of the user's labs that are up, from the sockets with the name of a lab that
/// belong to this user.
///
/// # Errors
/// Fails if the kernel's list of sockets cannot be read.
pub fn names_of_labs() -> Result<Vec<String>, CommandError> {
    let mut names = listed()?;
    names.retain(|name| is_ours(name));
    Ok(names)
}

/// Returns whether a socket with this name exists.
///
/// # Errors
/// Fails if the kernel's list of sockets cannot be read.
pub fn is_there(name: &str) -> Result<bool, CommandError> {
    listed().map(|names| names.iter().any(|listed| listed == name))
}

fn listed() -> Result<Vec<String>, CommandError> {
    let list = fs::read_to_string(LIST)
        .map_err(|error| CommandError::Measure(format!("can't read {LIST}: {error}")))?;
    let prefix = format!("@{}", prefix());
    let named = list.lines().filter_map(|line| line.split_whitespace().last());
    let named =
        named.filter_map(|name| name.strip_prefix(&prefix)).filter(|name| is_lab_name(name));
    let mut names: Vec<String> = named.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Returns whether the socket with this name belongs to this user. An abstract socket has no
/// permissions, so any user may have taken the name.
fn is_ours(name: &str) -> bool {
    let stream = address_of(name).and_then(|address| UnixStream::connect_addr(&address));
    let peer = stream.and_then(|stream| handover::peer(&stream));
    peer.is_ok_and(|peer| peer.account == join::account())
}

/// Returns the name of the selected lab: the one given, or the only one that is up.
///
/// # Errors
/// Fails if none is given and no lab or more than one lab is up.
pub fn choose(name: Option<&str>) -> Result<String, CommandError> {
    if let Some(name) = name {
        return Ok(name.to_owned());
    }
    let mut names = names_of_labs()?;
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok(name),
        (None, _) => Err(CommandError::Usage(
            "no lab is up: start one with `sixmark lab up FILE`".to_owned(),
        )),
        (Some(last), false) => {
            names.push(last);
            let line = format!("several labs are up ({}): name one", names.join(", "));
            Err(CommandError::Usage(line))
        }
    }
}

/// Sends a question to a lab and returns the answer.
///
/// # Errors
/// Fails if no lab of this name is up, or if it refuses the request.
pub fn ask(name: &str, question: &Question) -> Result<Answer, CommandError> {
    talk(name, question, None).map(|(answer, _)| answer)
}

/// Sends a question to a lab only if it belongs to the process with this ID.
///
/// # Errors
/// Fails if the lab is not up yet, or if it refuses the request.
pub fn ask_process(name: &str, process: u32, question: &Question) -> Result<Answer, CommandError> {
    talk(name, question, Some(process)).map(|(answer, _)| answer)
}

/// Returns the process that opened the socket of a lab, the outermost of the lab's.
///
/// # Errors
/// Fails if no lab of this name is up.
pub fn owner(name: &str) -> Result<u32, CommandError> {
    let cannot = |error| cannot_ask(name, error);
    let stream = address_of(name).and_then(|a| UnixStream::connect_addr(&a)).map_err(cannot)?;
    handover::peer(&stream).map(|peer| peer.process).map_err(cannot)
}

/// Returns a stopped process of a lab, as after Ctrl-Z or under a debugger: the one that opened its
/// socket, or one below it. Each waits for the next one, so that the lab can't end.
pub fn stopped_process(owner: u32) -> Option<u32> {
    let mut left = vec![owner];
    while let Some(process) = left.pop() {
        if is_stopped(process) {
            return Some(process);
        }
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        let children = children.unwrap_or_default();
        left.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    None
}

/// Reports whether a process is in the state T or t (proc_pid_stat(5)). Its name, in parentheses
/// before that, may contain anything.
fn is_stopped(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

/// Requests the namespaces of a host from a lab.
///
/// # Errors
/// Fails if no lab of this name is up, or if it has no such host.
pub fn ask_namespaces(name: &str, host: &str) -> Result<HostNamespaces, CommandError> {
    let (answer, stream) = talk(name, &Question::Enter(host.to_owned()), None)?;
    let odd = || CommandError::Measure(format!("the lab '{name}' sent an invalid answer"));
    let Answer::Enter { hosts, resolv_conf, user, missing_stack } = answer else {
        return Err(odd());
    };
    let mut files = handover::receive_files(&stream).map_err(|_| odd())?.into_iter();
    let user = if user { Some(files.next().ok_or_else(odd)?) } else { None };
    let mut next = || files.next().ok_or_else(odd);
    Ok(HostNamespaces {
        user,
        processes: next()?,
        network: next()?,
        mounts: next()?,
        hosts,
        resolv_conf,
        missing_stack,
    })
}

fn talk(
    name: &str,
    question: &Question,
    process: Option<u32>,
) -> Result<(Answer, UnixStream), CommandError> {
    let absent = |error: io::Error| cannot_ask(name, error);
    let mut stream = address_of(name).and_then(|a| UnixStream::connect_addr(&a)).map_err(absent)?;
    // Any user may have taken the name.
    let peer = handover::peer(&stream).map_err(absent)?;
    if peer.account != join::account() {
        return Err(CommandError::Measure(format!("the lab '{name}' belongs to another user")));
    }
    if process.is_some_and(|process| peer.process != process) {
        return Err(CommandError::Measure(format!("another lab '{name}' is up")));
    }
    stream.set_write_timeout(Some(ANSWER)).map_err(absent)?;
    let question = serde_json::to_string(question).map_err(|error| absent(error.into()))? + "\n";
    stream.write_all(question.as_bytes()).map_err(absent)?;
    match serde_json::from_str(&read_line(&stream).map_err(absent)?) {
        Ok(Answer::No(why)) => Err(CommandError::Usage(why)),
        Ok(answer) => Ok((answer, stream)),
        Err(error) => Err(absent(error.into())),
    }
}

fn cannot_ask(name: &str, error: io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => CommandError::Usage(format!(
            "no lab '{name}' is up: `sixmark lab status` lists those that are"
        )),
        _ => CommandError::Measure(format!("can't ask the lab '{name}': {error}")),
    }
}

/// Reads one line byte by byte, because descriptors come with the data that follows it.
fn read_line(mut stream: &UnixStream) -> io::Result<String> {
    let until = Instant::now() + ANSWER;
    let mut line = Vec::new();
    let mut byte = [0];
    let late = || {
        let seconds = ANSWER.as_secs();
        io::Error::other(format!("it does not answer within {seconds} s; is its process stopped?"))
    };
    while line.len() < LONGEST {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(late());
        }
        stream.set_read_timeout(Some(left))?;
        match io::Read::read_exact(&mut stream, &mut byte) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(late()),
            done => done?,
        }
        if byte[0] == b'\n' {
            // Descriptors may follow.
            stream.set_read_timeout(Some(ANSWER))?;
            return String::from_utf8(line).map_err(io::Error::other);
        }
        line.push(byte[0]);
    }
    Err(io::Error::other("its answer is too long"))
}

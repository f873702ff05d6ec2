//! The door of a lab that is up: a Unix socket by which other commands of the same user find it, look
//! at it and get into its hosts.
//!
//! The socket has no file (unix(7), abstract): it goes with the process. A question is a line of JSON,
//! its answer another; the files of the namespaces that an answer speaks of follow.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sixmark_model::plan::lab::is_lab_name;
use sixmark_sys::{handover, join};

use super::Hosts;
use sixmark_machine::CommandError;

/// How long the other side may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a lab may take to answer, with the longest line that it may say, bytes.
const ANSWER: Duration = Duration::from_secs(10);
const LONGEST: usize = 1 << 20;

/// Where the kernel lists sockets.
const LIST: &str = "/proc/net/unix";

/// What is wanted of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// How it is.
    Status,
    /// Into a host.
    Enter(String),
    /// It is to go.
    Down,
}

/// What a lab answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How it is, for people.
    Status(String),
    /// A host's files of names, as `/etc/hosts` and `/etc/resolv.conf` are there. Its namespaces follow,
    /// as [`Way`] has them.
    Enter {
        /// `/etc/hosts`.
        hosts: String,
        /// `/etc/resolv.conf`.
        resolv_conf: String,
        /// A user namespace comes first.
        user: bool,
    },
    /// It goes.
    Down,
    /// It can't.
    No(String),
}

/// The namespaces of a host.
#[derive(Debug)]
pub struct Way {
    /// Accounts; none where they are those of outside.
    pub user: Option<OwnedFd>,
    /// Processes of the lab.
    pub processes: OwnedFd,
    /// The host's network.
    pub network: OwnedFd,
    /// The host's mounts.
    pub mounts: OwnedFd,
    /// `/etc/hosts` there.
    pub hosts: String,
    /// `/etc/resolv.conf` there.
    pub resolv_conf: String,
}

/// Where a lab waits for questions.
#[derive(Debug)]
pub struct Door(UnixListener);

/// What became of looking who is at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Nobody was there.
    Nobody,
    /// A question was answered.
    Answered,
    /// The lab was told to go.
    Leave,
}

fn address_of(name: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{}{name}", prefix()))
}

/// What the names of a user's labs begin with.
fn prefix() -> String {
    format!("sixmark-lab/{}/", join::account())
}

impl Door {
    /// Opens it, outside of the enclosure: other commands are there.
    ///
    /// # Errors
    /// A lab of this name is up.
    pub fn open(name: &str) -> Result<Door, CommandError> {
        let opened = address_of(name).and_then(|address| UnixListener::bind_addr(&address));
        let opened = opened.and_then(|door| door.set_nonblocking(true).map(|()| door));
        opened.map(Door).map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => CommandError::Usage(format!(
                "a lab '{name}' is up: take it down with `sixmark lab down {name}`, or give this one \
                 another name with --name"
            )),
            _ => CommandError::Measure(format!("can't open a socket for the lab: {error}")),
        })
    }

    /// Answers whoever is there, and waits for nobody.
    ///
    /// # Errors
    /// The socket is broken.
    pub fn answer(
        &self,
        mut look: impl FnMut(&Question) -> (Answer, Vec<OwnedFd>),
    ) -> Result<Visit, CommandError> {
        match self.0.accept() {
            // Whoever asks and goes is no concern of the lab's.
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

/// Answers one question; true where the lab is to go. Others than its own user get no answer: a socket
/// without a file has no permissions.
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

/// The namespaces of a host that is up, from inside its lab.
pub(super) fn open_way(hosts: &Hosts, name: &str) -> (Answer, Vec<OwnedFd>) {
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
    let [hosts, resolv_conf] = super::build::own_texts(name).map_err(cannot)?;
    Ok((Answer::Enter { hosts, resolv_conf, user }, files))
}

/// The names of the user's labs that are up: of sockets that a lab could have, which this user holds.
///
/// # Errors
/// The kernel does not list its sockets.
pub fn names_of_labs() -> Result<Vec<String>, CommandError> {
    let mut names = listed()?;
    names.retain(|name| is_ours(name));
    Ok(names)
}

/// True while a socket of this name is there.
///
/// # Errors
/// The kernel does not list its sockets.
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

/// A socket without a file has no permissions: anybody may have taken the name.
fn is_ours(name: &str) -> bool {
    let stream = address_of(name).and_then(|address| UnixStream::connect_addr(&address));
    let peer = stream.and_then(|stream| handover::peer(&stream));
    peer.is_ok_and(|peer| peer.account == join::account())
}

/// The lab that is meant: the one named, or the only one.
///
/// # Errors
/// None is up, or there are several and none was named.
pub fn choose(name: Option<&str>) -> Result<String, CommandError> {
    if let Some(name) = name {
        return Ok(name.to_owned());
    }
    let mut names = names_of_labs()?;
    match (names.pop(), names.is_empty()) {
        (Some(name), true) => Ok(name),
        (None, _) => Err(CommandError::Usage("no lab is up: `sixmark lab up FILE`".to_owned())),
        (Some(last), false) => {
            names.push(last);
            let line = format!("several labs are up ({}): say which", names.join(", "));
            Err(CommandError::Usage(line))
        }
    }
}

/// Asks a lab.
///
/// # Errors
/// None of that name is up, or it can't.
pub fn ask(name: &str, question: &Question) -> Result<Answer, CommandError> {
    talk(name, question, None).map(|(answer, _)| answer)
}

/// Asks a lab that a process of this number holds up, and no other of the same name.
///
/// # Errors
/// It is not up yet, or can't.
pub fn ask_process(name: &str, process: u32, question: &Question) -> Result<Answer, CommandError> {
    talk(name, question, Some(process)).map(|(answer, _)| answer)
}

/// Asks a lab for the way into one of its hosts.
///
/// # Errors
/// None of that name is up, or it has no such host.
pub fn way(name: &str, host: &str) -> Result<Way, CommandError> {
    let (answer, stream) = talk(name, &Question::Enter(host.to_owned()), None)?;
    let odd =
        || CommandError::Measure(format!("the lab '{name}' answers what can't be understood"));
    let Answer::Enter { hosts, resolv_conf, user } = answer else { return Err(odd()) };
    let mut files = handover::receive_files(&stream).map_err(|_| odd())?.into_iter();
    let user = if user { Some(files.next().ok_or_else(odd)?) } else { None };
    let mut next = || files.next().ok_or_else(odd);
    Ok(Way { user, processes: next()?, network: next()?, mounts: next()?, hosts, resolv_conf })
}

fn talk(
    name: &str,
    question: &Question,
    process: Option<u32>,
) -> Result<(Answer, UnixStream), CommandError> {
    let absent = |error: io::Error| match error.kind() {
        io::ErrorKind::ConnectionRefused => CommandError::Usage(format!(
            "no lab '{name}' is up: `sixmark lab status` names those that are"
        )),
        _ => CommandError::Measure(format!("can't ask the lab '{name}': {error}")),
    };
    let mut stream = address_of(name).and_then(|a| UnixStream::connect_addr(&a)).map_err(absent)?;
    // Anybody may have taken the name.
    let peer = handover::peer(&stream).map_err(absent)?;
    if peer.account != join::account() {
        return Err(CommandError::Measure(format!("the lab '{name}' is somebody else's")));
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

/// One line, byte by byte: what follows it comes with files.
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
            // Files may follow.
            stream.set_read_timeout(Some(ANSWER))?;
            return String::from_utf8(line).map_err(io::Error::other);
        }
        line.push(byte[0]);
    }
    Err(io::Error::other("its answer is longer than any"))
}

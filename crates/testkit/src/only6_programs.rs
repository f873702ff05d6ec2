//! Clients, servers and proxies with one known fault each in a network without IPv4 or without IPv6,
//! and some that have none: what a diagnosis of them must find.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The networks that the servers with an allow list accept, separated by commas: those of labs, and
/// those of documentation (RFC 5737, RFC 3849).
pub const ALLOWED_NETWORKS: &str = "10.0.0.0/8,127.0.0.0/8,192.0.0.0/24,192.0.2.0/24,192.168.0.0/16,\
    198.51.100.0/24,203.0.113.0/24,::1/128,2001:db8::/32,64:ff9b::/96,fc00::/7";

/// What a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramSide {
    /// It fetches one URL, whose answer must have status 200 and 1000 bytes. Its exit status is 0, or
    /// 1 with one line on standard error.
    Client,
    /// It serves 1000 bytes at any path over HTTP/1.1 until a signal ends it.
    Server,
    /// It passes each GET to a backend until a signal ends it. It answers 502 if it can't reach the
    /// backend; nginx answers 504 if that takes too long.
    Proxy,
}

/// A program that is ready to be started.
#[derive(Debug, Clone)]
pub struct Only6Program {
    /// The name of its source file.
    pub name: &'static str,
    /// What it does.
    pub side: ProgramSide,
    /// Its fault, `None` for a program without one.
    pub fault: Option<&'static str>,
    /// The words of its command. `{url}` stands for the URL that a client fetches, `{port}` for the
    /// TCP port of a server or proxy, `{backend}` for the URL of a proxy's backend.
    pub command: Vec<String>,
}

/// The source of a program.
struct ProgramSource {
    name: &'static str,
    text: &'static str,
    side: ProgramSide,
    fault: Option<&'static str>,
}

/// Returns the source in this file, with its side and its fault.
macro_rules! source {
    ($name:literal, $side:ident, $fault:expr) => {
        ProgramSource {
            name: $name,
            text: include_str!(concat!("only6/", $name)),
            side: ProgramSide::$side,
            fault: $fault,
        }
    };
}

/// All of them; the file of each says what it does.
const SOURCES: [ProgramSource; 18] = [
    source!("literal.py", Client, Some("literal")),
    source!("ipv4_any.js", Server, Some("ipv4-any")),
    source!("v6only.c", Server, Some("v6only")),
    source!("first_address.py", Client, Some("first-address")),
    source!("gethostbyname.c", Client, Some("ipv4-lookup")),
    source!("PreferIpv4.java", Client, Some("prefer-ipv4")),
    source!("nginx_resolver.sh", Proxy, Some("resolver-ipv4")),
    source!("brackets.py", Proxy, Some("brackets")),
    source!("colon.js", Client, Some("colon")),
    source!("allow_list.py", Server, Some("mapped-address")),
    source!("clean_client.py", Client, None),
    source!("clean_client.c", Client, None),
    source!("clean_client.go", Client, None),
    source!("clean_server.go", Server, None),
    source!("clean_server.js", Server, None),
    source!("clean_allow_list.py", Server, None),
    source!("clean_proxy.sh", Proxy, None),
    source!("clean_proxy.py", Proxy, None),
];

/// The programs that build and run them, with their Debian packages.
const TOOLS: [(&str, &str); 8] = [
    ("gcc", "gcc and libc6-dev"),
    ("go", "golang-go"),
    ("java", "default-jdk-headless"),
    ("javac", "default-jdk-headless"),
    ("nginx", "nginx"),
    ("node", "nodejs"),
    ("python3", "python3"),
    ("sh", "dash"),
];

/// Where Go keeps what it has compiled.
const GO_CACHE: &str = "go-cache";
/// Folders that the search path of a user may lack.
const MORE_FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/bin", "/bin"];

/// Writes all programs to an existing folder and compiles those that need it, which takes up to a
/// minute because Go compiles its own library. Nothing is written elsewhere or downloaded.
///
/// # Panics
///
/// Panics if a compiler or interpreter is missing, with the name of its Debian package, or if a
/// program can't be written or compiled.
pub fn build_programs(folder: &Path) -> Vec<Only6Program> {
    for (name, package) in TOOLS {
        assert!(
            find_tool(name).is_some(),
            "{name} is missing: install the Debian package {package}"
        );
    }
    // Programs are started in other folders.
    let folder = &fs::canonicalize(folder).unwrap();
    for source in &SOURCES {
        fs::write(folder.join(source.name), source.text).unwrap();
    }
    std::thread::scope(|scope| {
        for language in ["c", "java", "go"] {
            scope.spawn(move || compile_all(folder, language));
        }
    });
    // Most of what was written; nothing else is compiled.
    fs::remove_dir_all(folder.join(GO_CACHE)).unwrap();
    SOURCES.iter().map(|source| source.program(folder)).collect()
}

impl ProgramSource {
    fn program(&self, folder: &Path) -> Only6Program {
        let mut command = start_words(folder, self.name);
        let arguments: &[&str] = match self.side {
            ProgramSide::Client => &["{url}"],
            ProgramSide::Server if self.name.ends_with("allow_list.py") => {
                &["{port}", ALLOWED_NETWORKS]
            }
            ProgramSide::Server => &["{port}"],
            ProgramSide::Proxy => &["{port}", "{backend}"],
        };
        command.extend(arguments.iter().map(|&word| word.to_owned()));
        Only6Program { name: self.name, side: self.side, fault: self.fault, command }
    }
}

/// Returns the words that start the program of a source file, without its arguments.
fn start_words(folder: &Path, name: &str) -> Vec<String> {
    let (stem, language) = name.split_once('.').unwrap();
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let (tool, file) = (|name| text(find_tool(name).unwrap()), text(folder.join(name)));
    match language {
        // Neither the user's folders nor their variables.
        "py" => vec![tool("python3"), "-I".to_owned(), "-S".to_owned(), file],
        "js" => vec![tool("node"), file],
        "sh" => vec![tool("sh"), file],
        "java" => {
            vec![tool("java"), "-cp".to_owned(), text(folder.to_owned()), stem.to_owned()]
        }
        _ => vec![text(binary(folder, name))],
    }
}

/// Returns the path of the program that is compiled from a source file.
fn binary(folder: &Path, name: &str) -> PathBuf {
    folder.join(name.replace('.', "_"))
}

/// Compiles the sources of one language, one after the other.
fn compile_all(folder: &Path, language: &str) {
    let of_language = |name: &&str| name.ends_with(&format!(".{language}"));
    for name in SOURCES.iter().map(|source| source.name).filter(of_language) {
        let mut command = compiler(folder, language, name);
        command.arg(name).current_dir(folder).stdin(Stdio::null());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "can't compile {name}: {said}");
    }
}

/// Returns the command that compiles a source file, which comes behind it.
fn compiler(folder: &Path, language: &str, name: &str) -> Command {
    let tool = |name| Command::new(find_tool(name).unwrap());
    let mut command = match language {
        "c" => tool("gcc"),
        "java" => tool("javac"),
        _ => tool("go"),
    };
    match language {
        "c" => command.args(["-O1", "-o"]).arg(binary(folder, name)),
        "java" => command.arg("-d").arg(folder),
        _ => command.args(["build", "-o"]).arg(binary(folder, name)),
    };
    if language == "go" {
        command.env("HOME", folder).env("GOCACHE", folder.join(GO_CACHE));
        command.env("GOPATH", folder.join("go")).env("GOPROXY", "off").env("GOTOOLCHAIN", "local");
        // Go's own resolver, on any machine.
        command.env("CGO_ENABLED", "0").env_remove("GOFLAGS");
    }
    command
}

/// Returns the path of a program in the search path. The distribution's Python is preferred, because
/// it starts faster than a wrapper that finds one.
fn find_tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = (name == "python3").then(|| PathBuf::from("/usr/bin"));
    let folders = first.into_iter().chain(std::env::split_paths(&path));
    let folders = folders.chain(MORE_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

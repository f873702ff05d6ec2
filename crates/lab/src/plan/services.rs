//! Services: programs that run during a study or a lab.

use std::collections::BTreeMap;
use std::time::Duration;

use sixmark_document::braces::{is_name, names_in_braces};
use sixmark_document::fields::{FileField, FileFields};

use super::given::{OF_GIVEN, check_command, is_given};
use super::optional::{OptionalService, optional};
use super::placeholders::known;

/// The default time until a service must be ready.
const PATIENCE: Duration = Duration::from_secs(20);

/// The placeholders that services have of their own.
pub const OF_SERVICE: [&str; 7] =
    ["port", "port6", "dir", "www", "sixmark", OF_GIVEN[0], OF_GIVEN[1]];

/// The context that the definitions of services may refer to.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Additional placeholders, such as `server.ipv6`.
    pub(crate) names: Vec<String>,
    /// The hosts and bridges of the lab, in one of which each service runs; `None` without a lab.
    pub(crate) hosts: Option<Vec<String>>,
}

/// A program that runs during a study or a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The node of the lab that it runs in; `None` without a lab.
    pub host: Option<String>,
    /// The account that it runs as if it is started by root; by default, that of the user.
    pub account: Option<String>,
    /// The program and its arguments; empty if it is already running.
    pub command: Vec<String>,
    /// The Debian package that contains the program.
    pub package: Option<String>,
    /// What makes the program print its version: an option of it, or a whole command of several words;
    /// empty if it has none.
    pub version: Vec<String>,
    /// The URLs at which it responds, without paths.
    pub urls: Vec<String>,
    /// The contents of files that are created for it before it starts, by their paths in its
    /// folder.
    pub files: BTreeMap<String, String>,
    /// How to check that it is ready.
    pub ready: ReadyCheck,
    /// The maximum time until it is ready.
    pub patience: Duration,
    /// Whether it runs only for those cells of a study that load it. Only possible in a lab.
    pub on_demand: bool,
    /// Set if it is omitted where it can't run, instead of ending the study.
    pub optional: Option<OptionalService>,
    /// Whether the user gives its program; `{program}` stands for it until [`Service::give`] was called.
    pub given: bool,
}

/// How to check that a service is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadyCheck {
    /// Every address of its URLs accepts a connection.
    Connect,
    /// Every URL answers a GET of this path with a status below 400.
    Get(String),
    /// It has written a line that contains this text to standard output or standard error.
    Line(String),
}

/// Reads a table of services.
pub fn services(fields: Option<FileFields<'_>>, around: &Surroundings) -> Vec<Service> {
    let rest = fields.map_or(Vec::new(), |mut fields| fields.rest());
    rest.iter().filter_map(|field| service(field, around)).collect()
}

fn service(field: &FileField<'_>, around: &Surroundings) -> Option<Service> {
    if !is_name(&field.name) {
        field.wrong("is not a valid service name: use lower-case letters, digits, - and _");
    }
    let mut fields = field.fields()?;
    let (host, account) = read_place(&mut fields, around);
    let given = is_given(&mut fields);
    let allowed = around.allowed(given);
    let command = known_names(fields.take("command"), &allowed);
    let package = fields.text("package");
    let version = fields.take("version").map_or(Vec::new(), read_version);
    let urls = known_names(fields.take("urls"), &allowed);
    let urls = if urls.is_empty() { usual_urls(host.as_deref()) } else { urls };
    let files = fields.table("files").map_or(BTreeMap::new(), files);
    let ready = fields.take("ready").and_then(|field| ready(&field)).unwrap_or(ReadyCheck::Connect);
    let patience = fields.take("patience").and_then(|field| field.time()).unwrap_or(PATIENCE);
    let on_demand = on_demand(&mut fields, around);
    let optional = optional(&mut fields, &allowed).or_else(|| given.then(OptionalService::default));
    if given {
        check_command(&command, &fields);
    }
    if command.is_empty() && urls.iter().any(|url| !names_in_braces(url).is_empty()) {
        fields.wrong(
            "a service without a command is already running: give its urls, without \
             braces",
        );
    }
    if matches!(ready, ReadyCheck::Get(_)) && !urls.iter().all(|url| url.starts_with("http://")) {
        fields.wrong("ready can request only http:// URLs; for others use a line, or connect");
    }
    if let (true, ReadyCheck::Line(_)) = (command.is_empty(), &ready) {
        fields.wrong("a service without a command has no output to wait for a line in");
    }
    fields.end();
    let name = field.name.clone();
    Some(Service {
        name,
        host,
        account,
        command,
        package,
        version,
        urls,
        files,
        ready,
        patience,
        on_demand,
        optional,
        given,
    })
}

/// Reads an option that prints a version, or a command that does.
fn read_version(field: FileField<'_>) -> Vec<String> {
    if field.is_list() { field.texts() } else { field.text().into_iter().collect() }
}

/// Reads whether a service in a lab runs only for those cells of a study that load it.
fn on_demand(fields: &mut FileFields<'_>, around: &Surroundings) -> bool {
    around.hosts.is_some() && fields.take("on-demand").and_then(|f| f.flag()).unwrap_or(false)
}

/// Reads the host that a service runs in and the account that it runs as.
fn read_place(
    fields: &mut FileFields<'_>,
    around: &Surroundings,
) -> (Option<String>, Option<String>) {
    let Some(hosts) = &around.hosts else { return (None, fields.text("account")) };
    let one = |name: &str| {
        if hosts.iter().any(|host| host == name) {
            Ok(name.to_owned())
        } else {
            Err(format!("'{name}' is not a host; hosts: {}", hosts.join(", ")))
        }
    };
    let host = fields.need("host").and_then(|field| field.parsed(one));
    (host, fields.text("account"))
}

impl Surroundings {
    /// Returns all placeholders that may occur in braces.
    fn allowed(&self, given: bool) -> Vec<&str> {
        let own = OF_SERVICE.into_iter().filter(|name| given || !OF_GIVEN.contains(name));
        own.chain(self.names.iter().map(String::as_str)).collect()
    }
}

/// Returns the default URLs: free ports on the loopback addresses or, in a lab, port 80 of its
/// host.
fn usual_urls(host: Option<&str>) -> Vec<String> {
    match host {
        None => ["http://[::1]:{port6}", "http://127.0.0.1:{port}"].map(str::to_owned).to_vec(),
        Some(host) => {
            vec![format!("http://[{{{host}.ipv6}}]:80"), format!("http://{{{host}.ipv4}}:80")]
        }
    }
}
/// Reads texts in which all placeholders are known.
fn known_names(field: Option<FileField<'_>>, allowed: &[&str]) -> Vec<String> {
    let items = field.map_or(Vec::new(), |field| field.items());
    items.iter().filter_map(|item| known(item, allowed)).collect()
}

fn files(mut fields: FileFields<'_>) -> BTreeMap<String, String> {
    let file = |field: FileField<'_>| {
        if !is_inside(&field.name) {
            field.wrong("is not a file name inside the service's folder");
        }
        Some((field.name.clone(), field.text()?))
    };
    fields.rest().into_iter().filter_map(file).collect()
}

/// Returns true if the path is relative and does not lead out of its folder.
pub(crate) fn is_inside(path: &str) -> bool {
    let parts = || path.split('/');
    !path.is_empty() && !path.contains('\0') && parts().all(|part| !["", ".", ".."].contains(&part))
}

fn ready(field: &FileField<'_>) -> Option<ReadyCheck> {
    if !field.is_table() {
        return field.one_of(&[("connect", ())]).map(|()| ReadyCheck::Connect);
    }
    let mut fields = field.fields()?;
    let (get, line) = (fields.take("get"), fields.take("line"));
    fields.end();
    match (get, line) {
        (Some(get), None) => {
            let slash = |path: &str| {
                if path.starts_with('/') && !path.contains([' ', '\r', '\n']) {
                    Ok(ReadyCheck::Get(path.to_owned()))
                } else {
                    Err("a path must begin with / and contain no spaces".to_owned())
                }
            };
            get.parsed(slash)
        }
        (None, Some(line)) => line.text().map(ReadyCheck::Line),
        _ => {
            field.wrong("allowed: \"connect\", { get = \"/path\" }, { line = \"text\" }");
            None
        }
    }
}

//! What runs beside the cells: services, hooks, and the files made for them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::plan::braces::{is_name, names};
use crate::plan::fields::{Field, Fields};

/// How long a service may take to be ready unless the file says otherwise.
const PATIENCE: Duration = Duration::from_secs(20);

/// The largest file that may be made: what a file system's offsets can say.
const LARGEST: u64 = 1 << 50;

/// Names that stand for something in a service's texts.
pub(super) const OF_SERVICE: [&str; 5] = ["port", "port6", "dir", "www", "sixmark"];

/// A program that runs while the study does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// The program and its arguments; empty where it runs already.
    pub command: Vec<String>,
    /// The Debian package that has the program.
    pub package: Option<String>,
    /// The option that makes the program tell its version; none where it has none.
    pub version: Option<String>,
    /// Where it answers, without a path.
    pub urls: Vec<String>,
    /// Files written for it before it starts, by their names within its folder.
    pub files: BTreeMap<String, String>,
    /// How it is told that it is ready.
    pub ready: Ready,
    /// How long that may take.
    pub patience: Duration,
}

/// How it is told that a service is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Every address of its URLs accepts a connection.
    Connect,
    /// Every URL answers a GET of this path with a status below 400.
    Get(String),
    /// It has said a line that holds this, on standard output or error.
    Line(String),
}

/// A file made for the study, within the folder `{www}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its name; factors in braces stand for each of their levels.
    pub path: String,
    /// How large, in bytes; a text as it may be a factor in braces.
    pub size: String,
    /// Filled with bytes that don't compress, not with a hole.
    pub random: bool,
}

/// Programs run between cells, each a list of a program and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Before the first cell, when services are ready.
    pub before_study: Vec<Vec<String>>,
    /// After the last one.
    pub after_study: Vec<Vec<String>>,
    /// Before each cell.
    pub before_cell: Vec<Vec<String>>,
    /// After each.
    pub after_cell: Vec<Vec<String>>,
}

/// The services of a table.
pub(super) fn services(fields: Option<Fields<'_>>) -> Vec<Service> {
    let rest = fields.map_or(Vec::new(), |mut fields| fields.rest());
    rest.iter().filter_map(service).collect()
}

fn service(field: &Field<'_>) -> Option<Service> {
    if !is_name(&field.name) {
        field.wrong("is no name of a service: use lower-case letters, digits, - and _");
    }
    let mut fields = field.fields()?;
    let command = known_names(fields.take("command"));
    let [package, version] = ["package", "version"].map(|name| fields.text(name));
    let urls = known_names(fields.take("urls"));
    let urls = if urls.is_empty() { usual_urls() } else { urls };
    let files = fields.table("files").map_or(BTreeMap::new(), files);
    let ready = fields.take("ready").and_then(|field| ready(&field)).unwrap_or(Ready::Connect);
    let patience = fields.take("patience").and_then(|field| field.time()).unwrap_or(PATIENCE);
    if command.is_empty() && urls.iter().any(|url| !names(url).is_empty()) {
        fields.wrong("without a command it runs already: urls then says where, without braces");
    }
    if matches!(ready, Ready::Get(_)) && !urls.iter().all(|url| url.starts_with("http://")) {
        fields.wrong("ready can only get from http://; for others wait for a line, or connect");
    }
    if let (true, Ready::Line(_)) = (command.is_empty(), &ready) {
        fields.wrong("without a command there is no output to have a line");
    }
    fields.end();
    let name = field.name.clone();
    Some(Service { name, command, package, version, urls, files, ready, patience })
}

fn usual_urls() -> Vec<String> {
    ["http://[::1]:{port6}", "http://127.0.0.1:{port}"].map(str::to_owned).to_vec()
}

/// Texts whose names in braces must all be known.
fn known_names(field: Option<Field<'_>>) -> Vec<String> {
    let items = field.map_or(Vec::new(), |field| field.items());
    items.iter().filter_map(|item| known(item, &OF_SERVICE)).collect()
}

/// A text whose names in braces are all among these.
pub(super) fn known(field: &Field<'_>, allowed: &[&str]) -> Option<String> {
    let text = field.text()?;
    if let Some(name) = names(&text).iter().find(|name| !allowed.contains(name)) {
        let allowed: Vec<_> = allowed.iter().map(|name| format!("{{{name}}}")).collect();
        field
            .wrong(&format!("{{{name}}} stands for nothing here; allowed: {}", allowed.join(", ")));
        return None;
    }
    Some(text)
}

fn files(mut fields: Fields<'_>) -> BTreeMap<String, String> {
    let file = |field: Field<'_>| {
        if !is_inside(&field.name) {
            field.wrong("is no name of a file within the service's folder");
        }
        Some((field.name.clone(), field.text()?))
    };
    fields.rest().into_iter().filter_map(file).collect()
}

/// True of a relative path that does not lead out of its folder.
pub(super) fn is_inside(path: &str) -> bool {
    let parts = || path.split('/');
    !path.is_empty() && !path.contains('\0') && parts().all(|part| !["", ".", ".."].contains(&part))
}

fn ready(field: &Field<'_>) -> Option<Ready> {
    if !field.is_table() {
        return field.one_of(&[("connect", ())]).map(|()| Ready::Connect);
    }
    let mut fields = field.fields()?;
    let (get, line) = (fields.take("get"), fields.take("line"));
    fields.end();
    match (get, line) {
        (Some(get), None) => {
            let slash =
                |path: &str| match path.starts_with('/') && !path.contains([' ', '\r', '\n']) {
                    true => Ok(Ready::Get(path.to_owned())),
                    false => Err("a path begins with / and holds no blanks".to_owned()),
                };
            get.parsed(slash)
        }
        (None, Some(line)) => line.text().map(Ready::Line),
        _ => {
            field.wrong("allowed: \"connect\", { get = \"/path\" }, { line = \"text\" }");
            None
        }
    }
}

/// Files to make; `factors` may stand in their names and sizes.
pub(super) fn generated(tables: Vec<Fields<'_>>, factors: &[&str]) -> Vec<Generated> {
    tables.into_iter().filter_map(|fields| generate(fields, factors)).collect()
}

fn generate(mut fields: Fields<'_>, factors: &[&str]) -> Option<Generated> {
    let path = fields.need("path").and_then(|field| {
        let path = known(&field, factors)?;
        if !is_inside(&path) {
            field.wrong("is no name of a file within {www}");
        }
        Some(path)
    });
    let size = fields.need("size").and_then(|field| size(&field, factors));
    let random = fields.take("random").and_then(|field| field.flag()).unwrap_or(false);
    fields.end();
    Some(Generated { path: path?, size: size?, random })
}

fn size(field: &Field<'_>, factors: &[&str]) -> Option<String> {
    match field.scalar()? {
        crate::plan::fields::Scalar::Text(text) if !names(&text).is_empty() => {
            known(field, factors)
        }
        _ => field.whole(0, LARGEST).map(|bytes| bytes.to_string()),
    }
}

/// How large a file is whose size has been filled in.
///
/// # Errors
/// It is no number of bytes.
pub fn bytes(size: &str) -> Result<u64, String> {
    let bytes = size.parse().ok().filter(|&bytes| bytes <= LARGEST);
    bytes.ok_or_else(|| format!("'{size}' is no number of bytes"))
}

/// The hooks; `allowed` may stand in braces.
pub(super) fn hooks(fields: Option<Fields<'_>>, of_cell: &[&str], of_study: &[&str]) -> Hooks {
    let Some(mut fields) = fields else { return Hooks::default() };
    let mut of = |name, allowed: &[&str]| {
        fields.take(name).map_or(Vec::new(), |field| commands(&field, allowed))
    };
    let hooks = Hooks {
        before_study: of("before_study", of_study),
        after_study: of("after_study", of_study),
        before_cell: of("before_cell", of_cell),
        after_cell: of("after_cell", of_cell),
    };
    fields.end();
    hooks
}

/// A command, or a list of them.
fn commands(field: &Field<'_>, allowed: &[&str]) -> Vec<Vec<String>> {
    let items = field.items();
    let several = items.iter().any(Field::is_list);
    let command = |field: &Field<'_>| -> Vec<String> {
        field.items().iter().filter_map(|word| known(word, allowed)).collect()
    };
    let commands: Vec<Vec<String>> =
        if several { items.iter().map(command).collect() } else { vec![command(field)] };
    if commands.iter().any(Vec::is_empty) {
        field.wrong("expected a program and its arguments: [\"sync\"], or a list of such lists");
    }
    commands
}

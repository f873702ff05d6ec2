//! What is sent: one request of the options, or the mix of a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sixmark_core::plan::request::usual_method;
use sixmark_core::plan::{Body, Request, Requests, requests};
use sixmark_core::template::Template;

use super::args::Args;
use crate::Error;

/// A `--requests` as typed: `--requests 5` means a number everywhere else.
pub(super) fn file(text: &str) -> Result<PathBuf, String> {
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Err(format!("it takes a file; for a number of requests use -n {text}")),
        false => Ok(text.into()),
    }
}

/// The requests that the options describe.
pub(super) fn requests(args: &mut Args) -> Result<Requests, Error> {
    let fields = std::mem::take(&mut args.header).into_iter();
    let fields: Vec<_> = fields.map(|(name, value)| (name, Template::constant(value))).collect();
    let mut list = match args.requests.take() {
        Some(file) => read(&file)?.to_vec(),
        None => vec![single(args)?],
    };
    list.iter_mut().for_each(|request| request.add(&fields, &args.expect));
    Requests::new(list).map_err(Error::Usage)
}

fn read(file: &Path) -> Result<Requests, Error> {
    let name = file.display();
    let cannot = |error| Error::Usage(format!("can't read the requests '{name}': {error}"));
    let text = std::fs::read_to_string(file).map_err(cannot)?;
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let mut open = |name: &str| std::fs::read(folder.join(name)).map_err(|e| e.to_string());
    requests::parse(&text, &mut open).map_err(|wrong| Error::Usage(format!("{name}:{wrong}")))
}

fn single(args: &mut Args) -> Result<Request, Error> {
    let body = match (&args.body_file, args.body.take()) {
        (Some(file), _) => Some(std::fs::read(file).map_err(|error| {
            Error::Usage(format!("can't read the body '{}': {error}", file.display()))
        })?),
        (None, text) => text.map(String::into_bytes),
    };
    let method = args.method.take().unwrap_or_else(|| usual_method(body.is_some()).to_owned());
    Ok(Request { body: body.map(|body| Body::Constant(Arc::new(body))), ..Request::plain(&method) })
}

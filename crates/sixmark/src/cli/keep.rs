//! Storing what a command measured: `--store` and `--label`.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use crate::report::headline::ListHeadline;
use sixmark_plan::plan::secrets::redact_words;

use super::out::{self, complain};
use crate::store::{self, Id, NewEntry, Store};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::{self, Readers};

/// Where the store is, for commands that read it and commands that write it.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(super) struct StoreArgs {
    /// Store of results, a SQLite file or none [env: SIXMARK_STORE] [default:
    /// sixmark/results.sqlite below $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "PATH|none", help_heading = "Output")]
    store: Option<OsString>,
}

/// Options for storing a result.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(super) struct KeepArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Label for `sixmark history --label`
    #[arg(long, value_name = "TEXT", value_parser = parse_label, help_heading = "Output")]
    label: Option<String>,

    /// Store credentials in documents, command lines and pages: Authorization, Proxy-Authorization
    /// and Cookie fields, and those that a request file marks as secret; the files are their owner's
    /// only [default: redacted]
    #[arg(long, help_heading = "Output")]
    keep_secrets: bool,
}

impl KeepArgs {
    /// Returns the options of the store.
    pub(super) fn store(&self) -> &StoreArgs {
        &self.store
    }

    /// Returns true if credentials may be written.
    pub(super) fn keeps_secrets(&self) -> bool {
        self.keep_secrets
    }

    /// Returns who may read a document or a page: its owner only, if it may have credentials.
    pub(super) fn readers(&self) -> Readers {
        if self.keep_secrets { Readers::Owner } else { Readers::Umask }
    }

    /// Returns words of the command line as they may be written: redacted unless secrets are kept.
    pub(super) fn shown(&self, words: Vec<String>) -> Vec<String> {
        if self.keep_secrets { words } else { redact_words(&words) }
    }
}

impl StoreArgs {
    /// Returns the store's file, if there is one.
    pub(super) fn file(&self) -> Option<PathBuf> {
        let place = store::StorePlace::choose(self.store.as_deref(), |name| std::env::var_os(name));
        place.ok()?.file().ok()?.map(Path::to_owned)
    }

    /// Returns where the store is. Prints a warning if an environment variable for its place is
    /// ignored.
    pub(super) fn place(&self) -> Result<store::StorePlace, CommandError> {
        let var = |name: &str| std::env::var_os(name);
        let place = store::StorePlace::choose(self.store.as_deref(), var)?;
        if let Some(line) = store::ignored_data_home(&place, var) {
            complain(&format!("warning: {line}"));
        }
        Ok(place)
    }
}

/// Stores one result. It is opened before the load begins, so that errors are reported early, and
/// written whenever there is something new.
#[derive(Debug)]
pub(super) struct Keeper {
    store: Option<Store>,
    label: Option<String>,
    command: Vec<String>,
    id: Option<Id>,
    /// The value of `--store`, which `sixmark history` needs to find this store.
    named: Option<OsString>,
}

impl Keeper {
    /// Opens the store. If the user chose the store, failing to open it is an error. If it is the
    /// default one, the load continues after a warning that nothing will be kept.
    pub(super) fn open(args: &KeepArgs) -> Result<Keeper, CommandError> {
        let place = args.store.place()?;
        if args.label.is_some() && matches!(place, store::StorePlace::Nowhere) {
            let line = "--label needs a store, but --store (or SIXMARK_STORE) is none; omit one of \
                        them";
            return Err(CommandError::Usage(line.into()));
        }
        let store = match (Store::open(&place), &place) {
            (Err(error), store::StorePlace::Usual(_)) => {
                complain(&format!("warning: the result will not be kept: {error}"));
                None
            }
            (opened, _) => opened?,
        };
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        Ok(Keeper {
            store,
            label: args.label.clone(),
            command: args.shown(words.collect()),
            id: None,
            named: args.store.store.clone(),
        })
    }

    /// Returns the store, unless nothing is kept.
    pub(super) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Stores the document as it is now, and replaces the earlier state. The headline of an
    /// unfinished measurement has no `ended`.
    pub(super) fn save(
        &mut self,
        headline: &ListHeadline,
        document: &str,
    ) -> Result<(), CommandError> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let label = self.label.as_deref();
        let entry = NewEntry { headline, document, command: &self.command, label };
        match self.id {
            Some(id) => store.renew(id, &entry)?,
            None => self.id = Some(store.keep(&entry)?),
        }
        Ok(())
    }

    /// Stores the final document. Prints its number on a terminal, unless `quiet`. If it can't be
    /// stored but was written to `elsewhere`, a warning is printed; otherwise the error says where
    /// the document was saved instead.
    pub(super) fn finish(
        &mut self,
        headline: &ListHeadline,
        document: &str,
        elsewhere: Option<&out::OutputPlace>,
        quiet: bool,
    ) -> Result<(), CommandError> {
        match (self.save(headline, document), elsewhere) {
            (Ok(()), _) => self.announce(quiet),
            (Err(error), Some(place)) => complain(&format!("warning: {error}; {}", is_in(place))),
            (Err(error), None) => return Err(rescued(&error, document, self.kept())),
        }
        Ok(())
    }

    /// Returns the number under which an earlier state is in the store.
    fn kept(&self) -> Option<Id> {
        let store = self.store.as_ref()?;
        self.id.filter(|_| store.check_in_place().is_ok())
    }

    fn announce(&self, quiet: bool) {
        let Some(id) = self.id.filter(|_| !quiet && io::stderr().is_terminal()) else { return };
        let named =
            self.named.as_ref().map(|path| format!(" --store {}", quoted(&path.to_string_lossy())));
        let named = named.unwrap_or_default();
        // If standard error is closed, there is no one to tell.
        let _ = writeln!(io::stderr(), "kept as {id}: sixmark history show {id}{named}");
    }
}

fn is_in(place: &out::OutputPlace) -> String {
    match place {
        out::OutputPlace::Standard => "the document went to standard output".to_owned(),
        out::OutputPlace::File(path) => format!("the document is in '{}'", path.display()),
    }
}

fn rescued(error: &CommandError, document: &str, id: Option<Id>) -> CommandError {
    let before = id.map(|id| format!(", and the state before that as {id}")).unwrap_or_default();
    CommandError::Measure(format!(
        "{error}; {}{before}",
        output::keep_aside(Path::new("result.json"), document)
    ))
}

/// Quotes a word for a shell. A word with a NUL byte can't be quoted and stays as it is.
pub(super) fn quoted(text: &str) -> String {
    shlex::try_quote(text).unwrap_or_else(|_| text.into()).into_owned()
}

/// Parses a label. Control characters are refused, since they could move a terminal's cursor.
pub(super) fn parse_label(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("is empty".to_owned()),
        _ if text.chars().any(char::is_control) => Err("must be on one line".to_owned()),
        trimmed => Ok(trimmed.to_owned()),
    }
}

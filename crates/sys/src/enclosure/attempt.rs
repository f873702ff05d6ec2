//! An attempt to enter an enclosure, made in a child process: the caller stays outside.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;

use super::{Refused, Rights, Side, enter, fork, single};
use crate::check_return;

/// The outcome of an attempt.
#[derive(Debug)]
pub enum Attempt<T> {
    /// The enclosure was entered with these privileges. The value is what the work inside returned.
    Entered(Rights, T),
    /// The enclosure could not be entered.
    Refused(Refused),
}

/// Enters an enclosure in a child process and runs `work` there with its privileges, whose result is text of any
/// length. The child and everything that it made are gone when this function returns.
///
/// # Errors
/// Returns an error if this process has several threads, if it can't fork, or if the child ended
/// without a result.
pub fn attempt(
    work: impl FnOnce(Rights) -> Result<String, String>,
) -> io::Result<Attempt<Result<String, String>>> {
    single()?;
    let (mut reader, writer) = io::pipe()?;
    match fork()? {
        Some(child) => {
            drop(writer);
            let mut text = String::new();
            let read = reader.read_to_string(&mut text);
            wait_for(child)?;
            read?;
            parse_report(&text)
                .ok_or_else(|| io::Error::other("the process in the namespaces ended early"))
        }
        None => {
            drop(reader);
            let text = match enter() {
                // The process inside has written the report.
                Ok(Side::Outside(_)) => String::new(),
                Ok(Side::Inside(rights)) => report_of_work(rights, &work(rights)),
                Err(refused) => report_of_refusal(&refused),
            };
            // If it can't be written, the caller finds no report.
            let _ = File::from(OwnedFd::from(writer)).write_all(text.as_bytes());
            // SAFETY: _exit ends this process without running anything more. exit would also flush
            // the buffers that this process has copied from its parent.
            unsafe { libc::_exit(0) }
        }
    }
}

fn wait_for(child: libc::pid_t) -> io::Result<()> {
    loop {
        // SAFETY: the status may be null.
        match check_return(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done.map(drop),
        }
    }
}

fn report_of_work(rights: Rights, done: &Result<String, String>) -> String {
    let rights = if rights == Rights::Root { "root" } else { "user" };
    match done {
        Ok(text) => format!("done\n{rights}\n{text}"),
        Err(text) => format!("failed\n{rights}\n{text}"),
    }
}

fn report_of_refusal(Refused { what, error }: &Refused) -> String {
    format!("refused\n{}\n{what}", error.raw_os_error().unwrap_or(0))
}

fn parse_report(text: &str) -> Option<Attempt<Result<String, String>>> {
    let (kind, rest) = text.split_once('\n')?;
    let (second, text) = rest.split_once('\n')?;
    let text = text.to_owned();
    let rights = || if second == "root" { Rights::Root } else { Rights::User };
    match kind {
        "done" => Some(Attempt::Entered(rights(), Ok(text))),
        "failed" => Some(Attempt::Entered(rights(), Err(text))),
        "refused" => {
            let error = match second.parse() {
                Ok(0) | Err(_) => io::Error::other("unknown error"),
                Ok(errno) => io::Error::from_raw_os_error(errno),
            };
            Some(Attempt::Refused(Refused { what: text.into(), error }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_report_that_it_wrote() {
        let done = parse_report(&report_of_work(Rights::Root, &Ok("a\nb".into())));
        assert!(
            matches!(&done, Some(Attempt::Entered(Rights::Root, Ok(text))) if text == "a\nb"),
            "{done:?}"
        );
        let failed = parse_report(&report_of_work(Rights::User, &Err("why".into())));
        assert!(
            matches!(&failed, Some(Attempt::Entered(Rights::User, Err(text))) if text == "why"),
            "{failed:?}"
        );
        let error = io::Error::from_raw_os_error(libc::EPERM);
        let refused = Refused { what: "make namespaces".into(), error };
        match parse_report(&report_of_refusal(&refused)) {
            Some(Attempt::Refused(Refused { what, error })) => {
                assert_eq!((&*what, error.raw_os_error()), ("make namespaces", Some(libc::EPERM)));
            }
            other => panic!("{other:?}"),
        }
        assert!(parse_report("").is_none());
    }
}

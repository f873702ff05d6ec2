//! Replacing names in braces in texts and file names.

use std::path::PathBuf;

use sixmark_document::braces::fill;

use super::{MeasureArgs, WorkloadArgs};

/// Returns the value of a name in braces, if it is known.
type Known<'a> = &'a dyn Fn(&str) -> Option<String>;

impl MeasureArgs {
    /// Replaces the names in braces that `value` knows.
    pub fn fill_braces(&mut self, value: Known<'_>) {
        for text in self.vitals_from.iter_mut() {
            *text = fill(text, value);
        }
    }
}

impl WorkloadArgs {
    /// Replaces the names in braces that `value` knows, in texts that are sent and in file names.
    /// The values of other options can't contain braces.
    pub fn fill_braces(&mut self, value: Known<'_>) {
        let (target, request) = (&mut self.target, &mut self.request);
        let tls = self.tls.files();
        let files = [&mut target.targets, &mut request.body_file, &mut request.requests];
        for file in files.into_iter().chain(tls).flatten() {
            fill_file(file, value);
        }
        let texts = [&mut request.body, &mut request.user, &mut request.har_host];
        let fields = request.header.iter_mut().map(|(_, text)| text);
        for text in texts.into_iter().flatten().chain(fields).chain([&mut target.path]) {
            *text = fill(text, value);
        }
    }
}

/// Replaces names in braces in a path. A path that is not UTF-8 is left as it is.
fn fill_file(file: &mut PathBuf, value: Known<'_>) {
    if let Some(text) = file.to_str() {
        *file = fill(text, value).into();
    }
}

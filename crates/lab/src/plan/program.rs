//! The program of a service, if the user names another.

use std::path::Path;

use sixmark_document::braces::fill;

use super::services::Service;

impl Service {
    /// Has the service run this program: in place of the first word of its command or, if its program
    /// is given, wherever its command, its probe and its files name it.
    pub fn give(&mut self, program: &Path) {
        let shown = program.display().to_string();
        if !self.given {
            match self.command.first_mut() {
                Some(first) => *first = shown,
                None => self.command.push(shown),
            }
            return;
        }
        let root = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let value = |name: &str| match name {
            "program" => Some(shown.clone()),
            "program-root" => Some(root.display().to_string()),
            _ => None,
        };
        let probe = self.optional.iter_mut().flat_map(|optional| &mut optional.probe);
        let all = self.command.iter_mut().chain(probe).chain(self.files.values_mut());
        all.for_each(|text| *text = fill(text, value));
    }
}

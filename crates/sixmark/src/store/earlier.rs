//! Finding the earlier checks of a site.

use super::{Id, Store};
use crate::report::headline::DocumentKind;
use sixmark_sys::command_error::CommandError;

impl Store {
    /// Returns the checks of a URL that began before a time, RFC 3339 in UTC with milliseconds: the newest
    /// first, and at most `most` of them.
    ///
    /// # Errors
    /// Returns an error if the store can't be read.
    pub fn earlier_checks(
        &self,
        url: &str,
        before: &str,
        most: u32,
    ) -> Result<Vec<Id>, CommandError> {
        let sql = "SELECT entry.id FROM target JOIN entry ON entry.id = target.entry \
                   WHERE target.url = ?1 AND entry.kind = ?2 AND entry.started < ?3 \
                   ORDER BY entry.started DESC, entry.id DESC LIMIT ?4";
        let read = || -> rusqlite::Result<Vec<Id>> {
            let mut sql = self.connection.prepare(sql)?;
            let of = rusqlite::params![url, DocumentKind::Check.name(), before, most];
            sql.query_map(of, |row| row.get(0).map(Id))?.collect()
        };
        read().map_err(|error| self.cannot("read", &error))
    }
}

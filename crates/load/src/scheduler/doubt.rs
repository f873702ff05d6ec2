//! Servers of which the last news was a failure.
//!
//! When a server goes, its connections go too, and every endpoint has a way: a new connection. The family
//! that is behind the ratio would be paid all that it is owed, with attempts that fail, and a failure of
//! the server would look like one of that family. So nothing is paid to a server in doubt. What goes there
//! is drawn, at the ratio, and what is owed waits for an answer.

use sixmark_units::family::Family;

use crate::prepare::PreparedLoad;

/// Who is in doubt.
#[derive(Debug)]
pub(super) struct Doubt {
    /// The server of each endpoint.
    servers: Vec<usize>,
    in_doubt: Vec<bool>,
    count: usize,
}

impl Doubt {
    /// Nobody yet. A target that has both families is a server. Those that have one only are taken for one
    /// server together, since a URL for each family is another way to name it.
    pub(super) fn new(prepared: &PreparedLoad) -> Doubt {
        let all = &prepared.endpoints;
        let targets = all.iter().map(|endpoint| endpoint.target + 1).max().unwrap_or(0);
        let has = |target, family: Family| {
            all.iter().any(|endpoint| endpoint.target == target && endpoint.family == family)
        };
        let whole: Vec<bool> =
            (0..targets).map(|target| Family::BOTH.into_iter().all(|f| has(target, f))).collect();
        let server = |target: usize| if whole[target] { target } else { targets };
        let servers = all.iter().map(|endpoint| server(endpoint.target)).collect();
        Doubt { servers, in_doubt: vec![false; targets + 1], count: 0 }
    }

    /// An exchange with this endpoint failed.
    pub(super) fn note_failure(&mut self, endpoint: usize) {
        let before = std::mem::replace(&mut self.in_doubt[self.servers[endpoint]], true);
        self.count += usize::from(!before);
    }

    /// A whole response came from this endpoint.
    #[inline]
    pub(super) fn note_answer(&mut self, endpoint: usize) {
        // Mostly nobody is.
        if self.count > 0 {
            let before = std::mem::replace(&mut self.in_doubt[self.servers[endpoint]], false);
            self.count -= usize::from(before);
        }
    }

    /// True where the server of this endpoint is in doubt.
    pub(super) fn is_about(&self, endpoint: usize) -> bool {
        self.count > 0 && self.in_doubt[self.servers[endpoint]]
    }
}

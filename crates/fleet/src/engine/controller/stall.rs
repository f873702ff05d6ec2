//! What is known of records that are due and do not come.

use std::time::Instant;

use crate::reason::reason;

/// A time without records, although an agent publishes.
#[derive(Clone, Debug)]
pub(super) struct Stall {
    pub(super) since: Instant,
    /// Why its last attempt to publish failed.
    why: Option<String>,
    pub(super) reported: bool,
}

impl Stall {
    /// Notes that an agent publishes and that nothing arrives. Without a reason, the last one counts.
    pub(super) fn note(stalled: &mut Option<Stall>, refused: Option<&str>) {
        let now = Instant::now();
        let stall = stalled.get_or_insert(Stall { since: now, why: None, reported: false });
        if let Some(why) = refused {
            stall.why = Some(reason(why));
        }
    }

    pub(super) fn why(&self) -> &str {
        self.why.as_deref().unwrap_or("nothing that it publishes arrives")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_known_reason_of_a_stall() {
        let mut stalled = None;
        Stall::note(&mut stalled, None);
        assert_eq!(stalled.as_ref().unwrap().why(), "nothing that it publishes arrives");
        Stall::note(&mut stalled, Some("full"));
        Stall::note(&mut stalled, None);
        assert_eq!(stalled.unwrap().why(), "full");
    }
}

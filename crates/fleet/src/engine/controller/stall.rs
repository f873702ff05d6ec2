//! What is known of records that are due and do not come.

use std::time::Instant;

/// The most characters of a reason that an agent gives.
const LONGEST_REASON: usize = 300;

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

/// Returns a reason that an agent gave, bounded and without control characters.
pub(super) fn reason(text: &str) -> String {
    let bounded: String = text.chars().take(LONGEST_REASON).collect();
    bounded.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_agents_are_bounded_and_harmless() {
        assert_eq!(reason("the disk is full: can't write"), "the disk is full: can't write");
        assert_eq!(reason("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(reason(&"x".repeat(10_000)).len(), LONGEST_REASON);
    }

    #[test]
    fn the_last_known_reason_stays() {
        let mut stalled = None;
        Stall::note(&mut stalled, None);
        assert_eq!(stalled.as_ref().unwrap().why(), "nothing that it publishes arrives");
        Stall::note(&mut stalled, Some("full"));
        Stall::note(&mut stalled, None);
        assert_eq!(stalled.unwrap().why(), "full");
    }
}

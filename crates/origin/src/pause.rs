//! A server that pauses periodically.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio::time::Instant;

/// A pause of `length` at the end of each period of `every`, counted from the start of the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    length: Duration,
    every: Duration,
}

impl Pause {
    /// Creates a pause. Returns an error message unless `length` is above 0 and less than `every`.
    pub fn new(length: Duration, every: Duration) -> Result<Pause, String> {
        if length > Duration::ZERO && length < every {
            Ok(Pause { length, every })
        } else {
            Err("LENGTH must be above 0 and shorter than EVERY, as in 500ms/5s".into())
        }
    }

    /// Returns how long to hold a response that is due `since` after the start.
    fn holds(&self, since: Duration) -> Duration {
        let into = Duration::from_nanos((since.as_nanos() % self.every.as_nanos()) as u64);
        if into + self.length >= self.every { self.every - into } else { Duration::ZERO }
    }
}

/// Parses `LENGTH/EVERY`, as in `500ms/5s`.
impl FromStr for Pause {
    type Err = String;

    fn from_str(text: &str) -> Result<Pause, String> {
        let wrong = || format!("'{text}' is not LENGTH/EVERY, as in 500ms/5s");
        let (length, every) = text.split_once('/').ok_or_else(wrong)?;
        let time = |text: &str| humantime::parse_duration(text).map_err(|_| wrong());
        // Limits the period to a year, so that the calculation cannot overflow.
        let every = time(every)?.min(Duration::from_secs(365 * 24 * 3600));
        Pause::new(time(length)?, every)
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [length, every] = [self.length, self.every].map(humantime::format_duration);
        write!(f, "{length}/{every}")
    }
}

/// The pauses of an origin, if any, and the time at which it started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pauses {
    pause: Option<Pause>,
    start: Instant,
}

impl Pauses {
    /// Creates the pauses, counted from now.
    pub(super) fn start(pause: Option<Pause>) -> Pauses {
        Pauses { pause, start: Instant::now() }
    }

    /// Waits until the current pause ends, if there is one.
    pub(super) async fn hold(&self) {
        if let Some(pause) = self.pause {
            let hold = pause.holds(self.start.elapsed());
            if !hold.is_zero() {
                tokio::time::sleep(hold).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_responses_due_in_a_pause_until_it_ends() {
        let pause: Pause = "500ms/5s".parse().unwrap();
        for (since, holds) in
            [(0, 0), (4_499, 0), (4_500, 500), (4_999, 1), (5_000, 0), (9_750, 250)]
        {
            let found = pause.holds(Duration::from_millis(since));
            assert_eq!(found, Duration::from_millis(holds), "{since} ms");
        }
        assert_eq!(pause.to_string(), "500ms/5s");
    }

    #[test]
    fn rejects_an_invalid_pause() {
        for text in ["", "500ms", "5s/5s", "6s/5s", "0s/5s", "a/b", "1s/0s"] {
            assert!(text.parse::<Pause>().is_err(), "{text}");
        }
    }
}

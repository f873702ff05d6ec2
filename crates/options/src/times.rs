//! Times in options of every command.

use std::time::Duration;

/// Parses a time with its unit. Without a unit, it is in seconds.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let parsed = if text.bytes().all(|b| b.is_ascii_digit()) {
        humantime::parse_duration(&format!("{text}s"))
    } else {
        humantime::parse_duration(text)
    };
    let time = parsed.map_err(|_| format!("'{text}' is not a time, as in 10s, 500ms or 2m"))?;
    // For longer times, nanoseconds since the clock's start might not fit into 64 bits.
    let longest = Duration::from_secs(100 * 365 * 24 * 3600);
    if time <= longest { Ok(time) } else { Err("longer than 100 years".to_owned()) }
}

/// Parses a time above 0.
pub fn positive_time(text: &str) -> Result<Duration, String> {
    match parse_time(text)? {
        Duration::ZERO => Err("must be above 0".to_owned()),
        time => Ok(time),
    }
}

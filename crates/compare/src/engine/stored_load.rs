//! Everything that a block counted, in a form from which a later command can go on.

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::Ended;
use sixmark_load::{Loaded, one_after_the_other};
use sixmark_run::GeneratedLoad;
use sixmark_sys::usage::Usage;
use sixmark_tally::clocks::Clocks;
use sixmark_tally::lapses::Lapses;
use sixmark_tally::tally::Tally;

/// What is kept of a load: all that figures of a comparison are made of.
#[derive(Debug, Serialize, Deserialize)]
struct StoredLoad {
    tally: Tally,
    busiest: f64,
    elapsed_ns: u64,
    put_off_ns: Option<u64>,
    begun_late_ns: u64,
    ended: Ended,
    driver: String,
    clocks: Clocks,
    lapses: Lapses,
    cpu_user_s: f64,
    cpu_system_s: f64,
    peak_rss_bytes: u64,
}

/// Writes a load as text; `None` if agents generated it, whose figures it lacks.
pub(super) fn write_load(loaded: &GeneratedLoad) -> Option<String> {
    let Usage { user_s, system_s, peak_rss_bytes } = loaded.usage;
    let stored = StoredLoad {
        tally: loaded.tally.clone(),
        busiest: loaded.busiest,
        elapsed_ns: loaded.elapsed_ns,
        put_off_ns: loaded.put_off_ns,
        begun_late_ns: loaded.begun_late_ns,
        ended: loaded.ended,
        driver: loaded.driver.to_owned(),
        clocks: loaded.clocks,
        lapses: loaded.lapses,
        cpu_user_s: user_s,
        cpu_system_s: system_s,
        peak_rss_bytes,
    };
    loaded.fleet.is_none().then(|| serde_json::to_string(&stored).ok())?
}

/// Reads a load that [`write_load`] wrote.
///
/// # Errors
/// It is something else.
pub(super) fn read_load(text: &str) -> Result<Loaded, String> {
    let stored: StoredLoad = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let drivers = ["uring", "epoll", "none"];
    Ok(Loaded {
        tally: stored.tally,
        busiest: stored.busiest,
        elapsed_ns: stored.elapsed_ns,
        put_off_ns: stored.put_off_ns,
        begun_late_ns: stored.begun_late_ns,
        ended: stored.ended,
        driver: drivers.into_iter().find(|known| *known == stored.driver).unwrap_or("other"),
        clocks: stored.clocks,
        lapses: stored.lapses,
        usage: Usage {
            user_s: stored.cpu_user_s,
            system_s: stored.cpu_system_s,
            peak_rss_bytes: stored.peak_rss_bytes,
        },
        ..one_after_the_other([].iter())
    })
}

//! The JSON of iperf3 (`-J`): a test over TCP, which is one transfer.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{SeenFamilies, ToldTransfers};
use crate::client::{ClientFigures, ToldFigures};
use sixmark_tally::metric::Quantity;

#[derive(Deserialize)]
struct Iperf3Test {
    error: Option<String>,
    #[serde(default)]
    start: TestStart,
    #[serde(default)]
    end: TestEnd,
}

#[derive(Default, Deserialize)]
struct TestStart {
    version: Option<String>,
    #[serde(default)]
    connected: Vec<TestConnection>,
    test_start: Option<TestSettings>,
}

#[derive(Deserialize)]
struct TestConnection {
    remote_host: String,
}

#[derive(Deserialize)]
struct TestSettings {
    #[serde(default)]
    protocol: String,
    /// Whether the server sent.
    #[serde(default)]
    reverse: f64,
    /// Whether both sent (`--bidir`); absent before iperf 3.7.
    #[serde(default)]
    bidir: f64,
}

#[derive(Default, Deserialize)]
struct TestEnd {
    sum_sent: Option<TestSum>,
    sum_received: Option<TestSum>,
    /// What the server sent in a test of both directions.
    sum_sent_bidir_reverse: Option<IgnoredAny>,
}

/// The sums over all streams of a test.
#[derive(Deserialize)]
struct TestSum {
    #[serde(default)]
    seconds: f64,
    bits_per_second: f64,
    retransmits: Option<f64>,
}

/// Parses a test.
pub(super) fn read_iperf3(text: &str) -> Result<ToldTransfers, String> {
    let test: Iperf3Test =
        serde_json::from_str(text).map_err(|error| format!("line {}: {error}", error.line()))?;
    if let Some(error) = &test.error {
        return Err(format!("the test failed: {error}"));
    }
    let settings = test.start.test_start.as_ref();
    let protocol = settings.map_or("", |settings| settings.protocol.as_str());
    if !["TCP", ""].contains(&protocol) {
        return Err(format!("it is a test over {protocol}, not TCP"));
    }
    let is_bidir = settings.is_some_and(|settings| settings.bidir != 0.0);
    if is_bidir || test.end.sum_sent_bidir_reverse.is_some() {
        return Err(
            "it is a test of both directions at once (--bidir), whose rates are not those \
                    of one: run it for each direction"
                .to_owned(),
        );
    }
    let received = test.end.sum_received.ok_or("it has no end.sum_received")?;
    let mut families = SeenFamilies::default();
    test.start.connected.iter().for_each(|connection| families.add(&connection.remote_host));
    let mut figures = ClientFigures::default();
    figures.quantity(Quantity::Goodput, received.bits_per_second / 8.0);
    figures.quantity(Quantity::Elapsed, received.seconds);
    // The metric counts what the server sent again.
    let by_server = settings.is_some_and(|settings| settings.reverse == 1.0);
    let again = test.end.sum_sent.and_then(|sent| sent.retransmits).filter(|_| by_server);
    if let Some(again) = again {
        figures.quantity(Quantity::Retransmitted, again);
    }
    Ok(ToldTransfers {
        told: ToldFigures { figures, refused: 0 },
        version: test.start.version,
        families,
        took_s: received.seconds,
        complete: received.bits_per_second > 0.0,
    })
}

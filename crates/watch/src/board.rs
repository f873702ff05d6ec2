//! What a live view shows of a watch.

use std::time::Duration;

use sixmark_sheet::board::{
    Board, BoardColumn, BoardPage, BoardProgress, BoardRow, LastMinute, elapsed_text, span_of,
};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::quantity::{duration_us, write_count};

use crate::Progress;

/// The rates of a family over the last minute.
#[derive(Debug, Default)]
struct WatchMinute {
    exchanges: LastMinute,
    connections: LastMinute,
    response_p50: LastMinute,
    response_p99: LastMinute,
}

/// Gathers what a live view shows of a watch.
#[derive(Debug)]
pub struct WatchBoard {
    title: String,
    duration: Option<Duration>,
    minutes: PerFamily<WatchMinute>,
    before: PerFamily<Progress>,
    before_ns: u64,
}

impl WatchBoard {
    /// Creates the board of a watch that lasts `duration`, or until it is ended.
    pub fn new(title: String, duration: Option<Duration>) -> WatchBoard {
        let (minutes, before, before_ns) = Default::default();
        WatchBoard { title, duration, minutes, before, before_ns }
    }

    /// Processes the counts so far, `elapsed_ns` nanoseconds after the beginning.
    pub fn see(
        &mut self,
        families: PerFamily<Progress>,
        (packets, dropped): (u64, u64),
        elapsed_ns: u64,
    ) -> Board {
        let seconds = (elapsed_ns.saturating_sub(self.before_ns) as f64 / 1e9).max(1e-3);
        for (family, now) in families.iter() {
            let before = self.before[family];
            let rate = |now: u64, before: u64| Some(now.saturating_sub(before) as f64 / seconds);
            let minute = &mut self.minutes[family];
            minute.exchanges.push(rate(now.exchanges, before.exchanges));
            minute.connections.push(rate(now.connections, before.connections));
            let [p50, p99] = now.response_us;
            minute.response_p50.push(p50);
            minute.response_p99.push(p99);
        }
        (self.before, self.before_ns) = (families, elapsed_ns);
        let elapsed = elapsed_text(elapsed_ns / 1_000_000_000, self.duration);
        let share = |all: Duration| elapsed_ns as f64 / 1e9 / all.as_secs_f64().max(1e-9);
        let dropped = (dropped > 0).then(|| {
            let (dropped, packets) = (write_count(dropped), write_count(packets));
            format!("the capture dropped {dropped} packets beside {packets}")
        });
        Board {
            title: self.title.clone(),
            doubts: dropped.into_iter().collect(),
            progress: BoardProgress {
                share: self.duration.map(share),
                text: format!("{}, {} packets", elapsed.trim_start(), write_count(packets)),
            },
            pages: vec![self.page()],
        }
    }

    fn page(&self) -> BoardPage {
        let per_s = |value: f64| write_count(value.round() as u64);
        let column = |family: Family| BoardColumn {
            name: family.to_string(),
            traces: vec![
                self.minutes[family].exchanges.trace("exchanges/s", per_s),
                self.minutes[family].response_p50.trace("response median", duration_us),
                self.minutes[family].response_p99.trace("response p99", duration_us),
                self.minutes[family].connections.trace("connections/s", per_s),
            ],
        };
        let row = |label: &str, count: fn(&Progress) -> u64| BoardRow {
            label: label.to_owned(),
            figures: Family::BOTH.map(|family| write_count(count(&self.before[family]))).into(),
            bad: false,
        };
        BoardPage {
            name: "families",
            columns: Family::BOTH.map(column).into(),
            rows: vec![
                row("connections ended", |of| of.connections),
                row("exchanges ended", |of| of.exchanges),
            ],
            lines: Vec::new(),
            span: span_of(self.duration),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_rates_since_the_last_board_and_warns_of_dropped_packets() {
        let mut board = WatchBoard::new("watching lo".to_owned(), Some(Duration::from_secs(10)));
        let counts = |exchanges| PerFamily {
            ipv6: Progress {
                connections: 1,
                exchanges,
                response_us: [Some(1_500.0), Some(20_000.0)],
            },
            ipv4: Progress::default(),
        };
        board.see(counts(100), (1_000, 0), 1_000_000_000);
        let shown = board.see(counts(300), (2_000, 5), 2_000_000_000);
        let traces = &shown.pages[0].columns[0].traces;
        assert_eq!((&*traces[0].latest, &*traces[0].highest), ("200", "200"));
        let times: Vec<&str> = traces[1..3].iter().map(|trace| trace.latest.as_str()).collect();
        assert_eq!(times, ["1.50 ms", "20.0 ms"]);
        assert_eq!(traces[3].latest, "0");
        assert_eq!(shown.pages[0].span, Some(10));
        let none = &shown.pages[0].columns[1].traces[1];
        assert_eq!(none.latest, "-", "no exchange, no time");
        assert_eq!(shown.doubts, ["the capture dropped 5 packets beside 2,000"]);
        assert_eq!(shown.progress.text, "2 of 10 s, 2,000 packets");
        assert_eq!(shown.progress.share, Some(0.2));
    }
}

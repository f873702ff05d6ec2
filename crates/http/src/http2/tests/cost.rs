//! The cost of an exchange, for information: `cargo test --release -p sixmark-http cost --
//! --ignored --nocapture`. Nothing is asserted about time.

use std::time::{Duration, Instant};

use super::super::{Connection, Options};
use super::request;
use super::wire::{fields, flag, frame, kind, settings};
use crate::observer::{Answer, Loss, Observer, Token};

#[derive(Default)]
struct Count {
    complete: u64,
}

impl Observer for Count {
    fn begun(&mut self, _: Token) {}
    fn field(&mut self, _: Token, _: &[u8], _: &[u8]) {}
    fn content(&mut self, _: Token, _: &[u8]) {}
    fn complete(&mut self, _: Token, _: Answer) {
        self.complete += 1;
    }
    fn lost(&mut self, _: Token, _: Loss) {}
}

const EXCHANGES: u32 = 1_000_000;
const AT_ONCE: u32 = 100;

#[test]
#[ignore = "measures time"]
fn measures_the_cost_of_an_exchange() {
    let nginx = fields(&[
        (":status", "200"),
        ("server", "nginx/1.26.3"),
        ("date", "Sat, 21 Nov 2026 11:00:00 GMT"),
        ("content-type", "text/html"),
        ("content-length", "1024"),
        ("last-modified", "Sat, 21 Nov 2026 10:00:00 GMT"),
        ("etag", "\"6740f0c0-400\""),
        ("accept-ranges", "bytes"),
    ]);
    let date = |second: u32| {
        let date = format!("Sat, 21 Nov 2026 11:00:{second:02} GMT");
        [nginx.clone(), fields(&[("date", &date)])].concat()
    };
    for streams in [1, AT_ONCE] {
        measure("all indexed", streams, &|_| b"\x88\xbe\xbf\xc0\xc1\xc2".to_vec());
        measure("nginx's literals", streams, &|_| nginx.clone());
        measure("a date that always changes", streams, &|n| date(n % 60));
    }
}

fn measure(name: &str, streams: u32, block: &dyn Fn(u32) -> Vec<u8>) {
    let mut connection = Connection::new(&Options { streams, ..Options::default() });
    let mut count = Count::default();
    let table: Vec<u8> = (0..5u8).flat_map(|n| [0x40, 1, b'a' + n, 2, b'x', b'y']).collect();
    let first = [settings(&[]), frame(kind::HEADERS, 5, 1, [b"\x88", &table[..]].concat())];
    let request = request("GET", None, false);
    assert!(connection.begin(0, &request));
    connection.feed(&first.concat(), &mut count).unwrap();
    let (mut began, mut read) = (Vec::new(), Vec::new());
    for round in 0..EXCHANGES / streams {
        let ids = (0..streams).map(|n| 3 + 2 * (round * streams + n));
        let content = [b'x'; 1024];
        let bytes: Vec<u8> = ids
            .flat_map(|id| {
                let head = frame(kind::HEADERS, flag::END_HEADERS, id, block(id / 2));
                [head, frame(kind::DATA, flag::END_STREAM, id, content)].concat()
            })
            .collect();
        let start = Instant::now();
        (0..streams).for_each(|token| assert!(connection.begin(token, &request)));
        connection.output().clear();
        while connection.next_written().is_some() {}
        began.push(start.elapsed());
        let start = Instant::now();
        connection.feed(&bytes, &mut count).unwrap();
        read.push(start.elapsed());
    }
    assert_eq!(count.complete, 1 + u64::from(EXCHANGES / streams * streams));
    let median = |mut rounds: Vec<Duration>| {
        rounds.sort_unstable();
        rounds[rounds.len() / 2].as_nanos() as f64 / f64::from(streams)
    };
    let (began, read) = (median(began), median(read));
    println!("{name}, {streams} at once: begin {began:.1} ns, read {read:.1} ns");
}

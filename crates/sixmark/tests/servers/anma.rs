//! ANMA's first study: 10,000 requests for 4,096 bytes, 1,000 at once, one on each connection, in
//! five ratios of IPv6 to IPv4.

use sixmark_testkit::figures::{assert_normal, run, take_turn};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::skipped;
use sixmark_testkit::web_server::{SIZE, ServerSettings, WebServer};
use sixmark_units::family::Family;

const RATIOS: [(&str, [u64; 2]); 5] = [
    ("1:1", [5_000, 5_000]),
    ("4:1", [8_000, 2_000]),
    ("1:4", [2_000, 8_000]),
    ("1:0", [10_000, 0]),
    ("0:1", [0, 10_000]),
];

#[test]
fn keeps_each_of_the_five_anma_ratios_exactly() {
    if skipped("nginx") {
        return;
    }
    let _turn = take_turn();
    for (ratio, counts) in RATIOS {
        // A new server has other ports, so that no TIME-WAIT of the last run is in the way.
        let server = WebServer::start(&NGINX, &ServerSettings::default());
        let load = ["-n", "10000", "-c", "1000", "--no-keep-alive", "--timeout", "60s"];
        let urls = server.urls("/4k");
        // An address that the ratio has no use for would be refused.
        let used = urls.iter().zip(counts).filter(|(_, count)| *count > 0).map(|(url, _)| &url[..]);
        let used: Vec<&str> = used.collect();
        let result = run(&[&load[..], &["--ratio", ratio], &used].concat());
        let log = server.into_log();
        println!("{ratio}: {:.3} s", result.elapsed_s);
        assert_eq!(result.ratio.sent, counts);
        for (family, count) in Family::BOTH.into_iter().zip(counts) {
            let served = log.iter().filter(|line| line.family == family && line.first);
            assert_eq!(served.count() as u64, count, "{family} at {ratio}");
            let Some(figures) = result.families.of(family) else {
                assert_eq!(count, 0, "{family} at {ratio}");
                continue;
            };
            assert_normal(figures, count);
            assert_eq!(figures.connections.opened, count);
            assert_eq!(figures.bytes.body, count * SIZE);
        }
    }
}

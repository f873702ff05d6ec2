//! Claims that packets answer, and differences within bounds, on figures whose truth is known.

use super::claim;
use crate::outputs::claims;
use crate::outputs::tests::{measured, some, study};
use sixmark_design::study_result::{
    CellInstruments, CellResult, ClaimAnswer, ClaimInstrument, ConnectionFigures, PacketsOfCell,
};
use sixmark_tally::family_result::Families;

const RATIOS: &str = "instruments = ['packets']\n[factors]\nratio = ['1:1', '4:1', '1:4']\n";

/// Gives cells times of establishment: by the client, and by packets if they were captured.
fn timed(cells: &mut [CellResult], captured: bool, us: impl Fn(&CellResult, bool) -> f64) {
    for cell in cells {
        let [by_client, by_packets] = [false, true].map(|by_packets| us(cell, by_packets));
        let figures = || Some([("connect.mean".to_owned(), by_client)].into());
        cell.families = Families { ipv6: figures(), ipv4: figures() };
        let seen = ConnectionFigures {
            connections: Some(100),
            establishment_us: Some(by_packets),
            continuation_us: None,
        };
        let packets = PacketsOfCell {
            document: "instruments/x.json".into(),
            interfaces: vec!["lo".into()],
            packets: 1_000,
            dropped: 0,
            cpu_share: 0.0,
            families: Families { ipv6: Some(seen), ipv4: Some(seen) },
        };
        let packets = captured.then_some(packets);
        let client = Families::default();
        cell.instruments = Some(CellInstruments { client, packets, kernel: Vec::new() });
    }
}

#[test]
fn prefers_captured_packets_to_the_clients_own_times() {
    let text = claim(
        1,
        "independent",
        "measure = 'connect.mean'\nby = 'packets'\na = { family = 'ipv6' }\nover = 'ratio'",
    );
    let study = study(&format!("{RATIOS}{text}"));
    // The client's time is longer by half at 4:1, the packets' is the same everywhere.
    let us = |cell: &CellResult, by_packets: bool| {
        let queue = !by_packets && cell.levels.iter().any(|at| at.level == "4:1");
        100.0 * if queue { 1.5 } else { 1.0 } * (1.0 + f64::from(cell.repetition) / 1_000.0)
    };
    let answers = |captured: bool| {
        let mut cells = measured(&study, some);
        timed(&mut cells, captured, us);
        let found = claims(&study, &cells).swap_remove(0);
        let by_client = found.by_client.map(|client| client.answer);
        (found.by, found.measured.answer, by_client)
    };
    let denied = ClaimAnswer::DoesNotHold;
    assert_eq!(answers(true), (ClaimInstrument::Packets, ClaimAnswer::Holds, Some(denied)));
    assert_eq!(answers(false), (ClaimInstrument::Client, denied, None));
}

#[test]
fn tests_a_difference_against_bounds_in_its_unit() {
    // IPv6 is ahead by 0.101 to 0.103 MB/s.
    let of = |bounds: &str| {
        let more = format!(
            "a = {{ family = 'ipv6' }}\nb = {{ family = 'ipv4' }}\nwhere = {{ size = 1 }}\nunit = 'MB/s'\n{bounds}"
        );
        let sizes = "[factors]\nsize = [1, 2]\nfamily = ['ipv6', 'ipv4']\n";
        let study = study(&format!("{sizes}{}", claim(1, "difference", &more)));
        let found = claims(&study, &measured(&study, some)).swap_remove(0).measured;
        (found.answer, found.agrees)
    };
    assert_eq!(of("at_least = 0.05\nat_most = 0.2"), (ClaimAnswer::Holds, Some(true)));
    let in_direction = (ClaimAnswer::HoldsInDirection, Some(false));
    assert_eq!(of("at_least = 0.2\nat_most = 0.4"), in_direction);
    assert_eq!(of("at_most = 0.05"), (ClaimAnswer::DoesNotHold, Some(false)));
}

//! Losses that more than the timer repairs.

use smoltcp::wire::{TcpControl, TcpPacket, TcpSeqNumber};

use super::super::LossRecovery;
use super::{Congestion, MSS, Scene};
use crate::bare::segment::Segment;

/// A server that recovers in this manner and has sent at least 20 segments. Returns what it sent and
/// where that begins.
fn sent(family: usize, manner: LossRecovery) -> (Scene, Vec<Segment>, TcpSeqNumber) {
    let mut scene = Scene::new(family, false, |options| options.loss_recovery = manner);
    let (sent, start) = scene.ask("/bytes/50000");
    assert!(sent.len() > 20, "{}", sent.len());
    (scene, sent, start)
}

/// Acknowledges up to `ack`, and these segments selectively. Returns where what is sent then begins.
fn acknowledge(scene: &mut Scene, ack: TcpSeqNumber, sacked: &[Segment]) -> Vec<TcpSeqNumber> {
    let range = sacked.first().zip(sacked.last());
    let range = range.map(|(first, last)| (first.seq.0 as u32, last.end().0 as u32));
    scene.sacked = [range, None, None];
    scene.send(TcpControl::None, Some(ack), b"");
    scene.segments().iter().map(|segment| segment.seq).collect()
}

#[test]
fn a_third_duplicate_ack_retransmits_only_the_lost_segment() {
    for family in 0..2 {
        let (mut scene, _, start) = sent(family, LossRecovery::FastRetransmit);
        let again: Vec<_> = (0..6).map(|_| acknowledge(&mut scene, start, &[])).collect();
        assert_eq!(again, [vec![], vec![], vec![start], vec![], vec![], vec![]]);
        let counted = scene.statistics();
        assert_eq!((counted.fast_retransmits, counted.segments_sent_again), (1, 1));
        assert_eq!((counted.timeouts, counted.duplicate_acks_hidden), (0, 0));
    }
}

#[test]
fn a_second_loss_is_repaired_at_the_partial_acknowledgement() {
    for family in 0..2 {
        let (mut scene, sent, start) = sent(family, LossRecovery::FastRetransmit);
        (0..3).for_each(|_| drop(acknowledge(&mut scene, start, &[])));
        let second = sent[4].seq;
        assert_eq!(acknowledge(&mut scene, second, &[]), [second]);
        // A recovery is not begun again within itself.
        let more: Vec<_> = (0..5).flat_map(|_| acknowledge(&mut scene, second, &[])).collect();
        assert_eq!(more, []);
        acknowledge(&mut scene, sent.last().unwrap().end(), &[]);
        let counted = scene.statistics();
        assert_eq!((counted.fast_retransmits, counted.segments_sent_again), (1, 2));
        assert_eq!(counted.timeouts, 0);
    }
}

#[test]
fn the_timer_repairs_what_recovery_does_not() {
    for family in 0..2 {
        let (mut scene, sent, start) = sent(family, LossRecovery::Sack);
        for last in 1..5 {
            acknowledge(&mut scene, start, &sent[1..=last]);
        }
        scene.now += std::time::Duration::from_millis(1_100);
        let again = scene.segments();
        assert_eq!(
            (again[0].seq, again.last().unwrap().end()),
            (start, sent.last().unwrap().end())
        );
        assert_eq!(scene.statistics().timeouts, 1);
        // From there on it recovers as before.
        let counts = |scene: &mut Scene| scene.statistics().fast_retransmits;
        let (before, next) = (counts(&mut scene), sent[3].seq);
        acknowledge(&mut scene, next, &[]);
        (4..8).for_each(|last| drop(acknowledge(&mut scene, next, &sent[4..=last])));
        assert_eq!(counts(&mut scene), before + 1);
    }
}

#[test]
fn sack_repairs_every_lost_segment_within_one_round_trip() {
    for family in 0..2 {
        let (mut scene, sent, start) = sent(family, LossRecovery::Sack);
        // The first, the third and the fifth are lost.
        let mut again = Vec::new();
        for one in [1, 3, 5, 6, 7, 8, 9, 10, 11] {
            // The client's window grows meanwhile.
            scene.window += 10;
            let range = [Some((sent[one].seq.0 as u32, sent[one].end().0 as u32)), None, None];
            scene.sacked = range;
            scene.send(TcpControl::None, Some(start), b"");
            again.extend(scene.segments().iter().map(|segment| segment.seq));
        }
        assert_eq!(again, [start, sent[2].seq, sent[4].seq]);
        let counted = scene.statistics();
        assert_eq!((counted.fast_retransmits, counted.segments_sent_again), (1, 3));
        // What arrived is not sent again.
        assert_eq!(acknowledge(&mut scene, sent[12].seq, &[]), []);
        assert_eq!(scene.statistics().timeouts, 0);
    }
}

#[test]
fn agrees_to_sack_only_if_loss_recovery_uses_it() {
    for family in 0..2 {
        for (manner, agreed) in [(LossRecovery::FastRetransmit, false), (LossRecovery::Sack, true)]
        {
            let mut scene = Scene::new(family, false, |options| options.loss_recovery = manner);
            scene.send(TcpControl::Syn, None, b"");
            let frames = scene.turn();
            let place = 14 + if family == 0 { 40 } else { 20 };
            let tcp = TcpPacket::new_checked(&frames[0][place..]).unwrap();
            assert_eq!(tcp.options_summary().unwrap().sack_permitted, agreed);
        }
    }
}

#[test]
fn congestion_control_sends_less_after_a_fast_retransmit() {
    for family in 0..2 {
        for congestion in [Congestion::Reno, Congestion::Cubic] {
            let mut scene = Scene::new(family, false, |options| {
                options.loss_recovery = LossRecovery::FastRetransmit;
                options.congestion = congestion;
            });
            let (mut sent, start) = scene.ask("/bytes/200000");
            // Slow start: each acknowledgement is of one segment.
            let mut at = 0;
            while sent.len() < 40 {
                let ack = sent[at].end();
                at += 1;
                scene.send(TcpControl::None, Some(ack), b"");
                sent.extend(scene.segments());
            }
            let (ack, flight) = (sent[at].seq, sent.len() - at);
            assert!(ack > start && flight > 10, "{flight}");
            (0..3).for_each(|_| drop(acknowledge(&mut scene, ack, &[])));
            // All of it arrives: what may be in flight then is about half, or 70 %, of it.
            let after = acknowledge(&mut scene, sent.last().unwrap().end(), &[]);
            let share = after.len() as f64 / flight as f64;
            assert!(
                (0.3..0.9).contains(&share),
                "{congestion:?} {share}, {} of {MSS}",
                after.len()
            );
        }
    }
}

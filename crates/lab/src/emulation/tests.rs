#![cfg(test)]

use std::num::NonZeroU64;
use std::time::Duration;

use super::*;
use crate::impairment::{Effect, FrameRate, Impairment, Loss};
use crate::link_report::FrameCounts;
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

const MS: u64 = 1_000_000;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn delay(by: u64) -> Effect {
    Effect { delay: ms(by), ..Effect::default() }
}

fn all(effect: Effect) -> Impairment {
    let families = PerFamily::from_fn(|_| effect);
    Impairment { common: effect, families, ..Impairment::default() }
}

fn rate(bits_per_s: u64, queue: u64) -> Option<FrameRate> {
    let [bits, queue] = [bits_per_s, queue].map(NonZeroU64::new);
    Some(FrameRate { bits_per_s: bits?, ethernet: false, burst_bytes: None, queue_bytes: queue })
}

/// Builds a frame with `number` in its last four bytes.
fn frame(traffic: Traffic, number: u32, length: usize) -> Vec<u8> {
    let ethertype: u16 = match traffic {
        Traffic::Of(Family::Ipv6) => 0x86dd,
        Traffic::Of(Family::Ipv4) => 0x0800,
        Traffic::Other => 0x0806,
    };
    let mut frame = vec![0; length];
    frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
    frame[length - 4..].copy_from_slice(&number.to_be_bytes());
    frame
}

fn number(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[frame.len() - 4..].try_into().unwrap())
}

/// Offers each frame at its time and takes frames as soon as they are due; returns when each
/// arrived.
fn travel(line: &mut Line, frames: &[(u64, Vec<u8>)]) -> Vec<(u64, u32)> {
    let mut arrived = Vec::new();
    for (at, frame) in frames {
        take(line, *at, &mut arrived);
        if line.offer(frame, *at) == Fate::Arrives {
            arrived.push((*at, number(frame)));
        }
    }
    take(line, u64::MAX, &mut arrived);
    arrived
}

/// Takes all frames that are due by `until`.
fn take(line: &mut Line, until: u64, arrived: &mut Vec<(u64, u32)>) {
    while let Some(due) = line.next_due().filter(|due| *due <= until) {
        let (_, frame) = line.pop(due).unwrap();
        arrived.push((due, number(frame)));
    }
}

const V6: Traffic = Traffic::Of(Family::Ipv6);
const V4: Traffic = Traffic::Of(Family::Ipv4);

/// Builds `count` frames of all kinds in turn, one every `every` nanoseconds.
fn mixed(count: u32, every: u64) -> Vec<(u64, Vec<u8>)> {
    let kind = |number: u32| [V6, V4, V6, V4, Traffic::Other][number as usize % 5];
    (0..count)
        .map(|n| (u64::from(n) * every, frame(kind(n), n, 60 + (n as usize % 1_400))))
        .collect()
}

#[test]
fn delivers_every_frame_immediately_without_impairment() {
    let mut line = Line::new(&Impairment::default(), 1);
    let arrived = travel(&mut line, &mixed(1_000, 7));
    assert_eq!(arrived, (0..1_000).map(|n| (u64::from(n) * 7, n)).collect::<Vec<_>>());
    assert_eq!(line.lateness().count(), 0, "nothing had to wait");
}

#[test]
fn a_delay_shifts_every_frame_and_keeps_the_order() {
    let mut line = Line::new(&all(delay(5)), 1);
    let arrived = travel(&mut line, &mixed(1_000, 1_000));
    assert_eq!(arrived, (0..1_000).map(|n| (u64::from(n) * 1_000 + 5 * MS, n)).collect::<Vec<_>>());
}

#[test]
fn holds_frames_until_they_are_due_and_records_lateness() {
    for traffic in [V6, V4] {
        let mut line = Line::new(&all(delay(5)), 1);
        assert_eq!(line.offer(&frame(traffic, 1, 60), 0), Fate::Waits);
        assert_eq!(line.next_due(), Some(5 * MS));
        assert!(line.pop(5 * MS - 1).is_none());
        let (found, bytes) = line.pop(5 * MS + 70_000).unwrap();
        assert_eq!((found, number(bytes)), (traffic, 1));
        assert_eq!(line.lateness().quantile(1.0), Some(70_000));
        assert_eq!((line.next_due(), line.pop(u64::MAX)), (None, None));
    }
}

#[test]
fn jitter_reorders_nothing() {
    let effect = Effect { jitter: ms(5), ..delay(5) };
    let arrived = travel(&mut Line::new(&all(effect), 3), &mixed(5_000, 100_000));
    assert!(arrived.is_sorted() && arrived.len() == 5_000);
    assert!(arrived.iter().map(|(_, n)| *n).is_sorted());
}

#[test]
fn reordered_frames_skip_the_delay_and_others_keep_their_order() {
    let effect = Effect { reorder: 0.05, ..delay(5) };
    let mut line = Line::new(&all(effect), 3);
    let sent = mixed(10_000, 100_000);
    let arrived = travel(&mut line, &sent);
    let at_once = |(at, n): &&(u64, u32)| *at == sent[*n as usize].0;
    let early: Vec<_> = arrived.iter().filter(at_once).collect();
    let counts = line.counts();
    let counted = [counts.ipv6, counts.ipv4, counts.other].iter().map(|c| c.reordered).sum::<u64>();
    assert_eq!(early.len() as u64, counted);
    assert!((400..600).contains(&early.len()), "{}", early.len());
    let others: Vec<_> = arrived.iter().filter(|of| !at_once(of)).map(|(_, n)| n).collect();
    assert!(others.is_sorted() && others.len() + early.len() == 10_000);
}

#[test]
fn applies_the_rate_limit_before_the_delay() {
    // 1,250 bytes at 100 Mbit/s are 100 us.
    let impairment = Impairment { rate: rate(100_000_000, 0), ..all(delay(5)) };
    let sent: Vec<_> = (0..10).map(|n| (0, frame(V6, n, 1_250))).collect();
    let arrived = travel(&mut Line::new(&impairment, 1), &sent);
    let expected = (0..10).map(|n| (u64::from(n + 1) * 100_000 + 5 * MS, n));
    assert_eq!(arrived, expected.collect::<Vec<_>>());
}

#[test]
fn carries_the_configured_rate_within_a_thousandth() {
    for (bits_per_s, framing) in [(100_000_000, 24), (100_000_000, 0), (937_000, 24)] {
        let mut limited = rate(bits_per_s, 20_000_000).unwrap();
        limited.ethernet = framing > 0;
        let mut line = Line::new(&Impairment { rate: Some(limited), ..all(delay(1)) }, 1);
        let sent = mixed(20_000, 10);
        let arrived = travel(&mut line, &sent);
        let bytes = |n: u32| sent[n as usize].1.len() as u64 + framing;
        let carried: u64 = arrived.iter().map(|(_, n)| bytes(*n)).sum::<u64>() - bytes(0);
        let took = arrived.last().unwrap().0 - arrived[0].0;
        let found = carried as f64 * 8e9 / took as f64;
        let error = found / bits_per_s as f64 - 1.0;
        assert!(error.abs() < 1e-3, "{found} bit/s instead of {bits_per_s}");
    }
}

#[test]
fn a_full_queue_drops_excess_frames_and_bounds_the_wait() {
    let impairment = Impairment { rate: rate(8_000_000, 10_000), ..Impairment::default() };
    let mut line = Line::new(&impairment, 1);
    let kind = |n: u32| if n.is_multiple_of(2) { V6 } else { V4 };
    // Frames come twice as fast as the rate.
    let sent: Vec<_> =
        (0..2_000).map(|n| (u64::from(n) * MS / 2, frame(kind(n), n, 1_000))).collect();
    let arrived = travel(&mut line, &sent);
    let waits = arrived.iter().map(|(at, n)| at - sent[*n as usize].0);
    assert!(waits.clone().all(|wait| wait <= 10 * MS), "{:?}", waits.max());
    let counts = line.counts();
    let dropped = counts.ipv6.dropped + counts.ipv4.dropped;
    assert_eq!(arrived.len() as u64 + dropped, 2_000);
    assert!((980..=1_000).contains(&dropped), "{dropped}");
    assert_eq!(counts.ipv6.dropped + counts.ipv6.arrived, 1_000);
}

#[test]
fn loss_of_one_family_spares_the_other_and_address_resolution() {
    for family in Family::BOTH {
        let mut impairment = Impairment::default();
        impairment.families[family].loss = Loss::Random(0.3);
        let mut line = Line::new(&impairment, 9);
        let mut discovery = frame(V6, 0, 90);
        (discovery[20], discovery[54]) = (58, 135);
        for n in 0..10_000 {
            for traffic in [V6, V4, Traffic::Other] {
                line.offer(&frame(traffic, n, 90), 0);
            }
            line.offer(&discovery, 0);
        }
        let counts = *line.counts();
        let [hit, spared] = match family {
            Family::Ipv6 => [counts.ipv6, counts.ipv4],
            Family::Ipv4 => [counts.ipv4, counts.ipv6],
        };
        assert!((2_700..3_300).contains(&hit.lost), "{family}: {hit:?}");
        assert_eq!((spared.lost, spared.arrived), (0, 10_000));
        assert_eq!((counts.other.lost, counts.other.arrived), (0, 20_000));
    }
}

#[test]
fn a_delay_of_one_family_does_not_change_that_of_the_other() {
    for family in Family::BOTH {
        let mut impairment = all(delay(2));
        impairment.families[family].delay = ms(20);
        let sent: Vec<_> = [family, family.other()]
            .into_iter()
            .enumerate()
            .map(|(n, of)| (0, frame(Traffic::Of(of), n as u32, 100)))
            .collect();
        let arrived = travel(&mut Line::new(&impairment, 1), &sent);
        assert_eq!(arrived, [(2 * MS, 1), (20 * MS, 0)], "{family}");
    }
}

#[test]
fn losses_of_one_family_do_not_depend_on_frames_of_the_other() {
    let mut impairment = Impairment::default();
    impairment.families.ipv6.loss = Loss::Random(0.2);
    impairment.families.ipv4.loss = Loss::Random(0.1);
    let lost = |with_v4: bool| -> Vec<bool> {
        let mut line = Line::new(&impairment, 4);
        let mut lost = Vec::new();
        for n in 0..1_000 {
            lost.push(line.offer(&frame(V6, n, 90), 0) == Fate::Gone);
            if with_v4 {
                line.offer(&frame(V4, n, 90), 0);
            }
        }
        lost
    };
    assert_eq!(lost(true), lost(false));
}

#[test]
fn loss_bursts_on_the_whole_link_span_both_families() {
    let loss = Loss::Bursts { share: 0.1, mean: 20.0 };
    let mut line = Line::new(&all(Effect { loss, ..Effect::default() }), 2);
    let kind = |n: u32| if n.is_multiple_of(2) { V6 } else { V4 };
    let gone: Vec<bool> =
        (0..100_000).map(|n| line.offer(&frame(kind(n), n, 90), 0) == Fate::Gone).collect();
    let lost = gone.iter().filter(|gone| **gone).count() as f64;
    let bursts = gone.windows(2).filter(|pair| pair == &[false, true]).count() as f64;
    assert!((15.0..25.0).contains(&(lost / bursts)), "mean {}", lost / bursts);
}

#[test]
fn repeats_all_arrivals_for_the_same_seed_only() {
    let effect = Effect {
        jitter: ms(3),
        loss: Loss::Bursts { share: 0.05, mean: 3.0 },
        reorder: 0.05,
        ..delay(5)
    };
    let mut impairment = Impairment { rate: rate(50_000_000, 30_000), ..all(effect) };
    impairment.families.ipv6.loss = Loss::Random(0.1);
    let sent = mixed(5_000, 100_000);
    let of = |seed| travel(&mut Line::new(&impairment, seed), &sent);
    assert_eq!(of(6), of(6));
    assert_ne!(of(6), of(7));
}

#[test]
fn counts_every_offered_frame_exactly_once() {
    let effect = Effect { jitter: ms(3), loss: Loss::Random(0.05), reorder: 0.05, ..delay(5) };
    for seed in 0..20 {
        let mut random = Random::new(seed, 1);
        let impairment = Impairment { rate: rate(20_000_000, 30_000), ..all(effect) };
        let mut line = Line::with_room(&impairment, seed, 16_000);
        let mut at = 0;
        let every = |(_, frame): (u64, Vec<u8>)| {
            at += random.below(600_000);
            (at, frame)
        };
        let sent: Vec<_> = mixed(3_000, 0).into_iter().map(every).collect();
        let arrived = travel(&mut line, &sent).len() as u64;
        let counts = *line.counts();
        let parts = [counts.ipv6, counts.ipv4, counts.other];
        let sum = |of: fn(&FrameCounts) -> u64| parts.iter().map(of).sum::<u64>();
        assert_eq!(sum(|c| c.offered), 3_000);
        assert_eq!(sum(|c| c.arrived), arrived);
        assert_eq!(sum(|c| c.arrived + c.lost + c.dropped + c.overflowed), 3_000);
        assert!(sum(|c| c.overflowed) > 0 || sum(|c| c.dropped) > 0);
        let bytes: usize = sent.iter().map(|(_, frame)| frame.len()).sum();
        assert_eq!(sum(|c| c.offered_bytes), bytes as u64);
    }
}

use std::sync::Arc;

use sixmark_plan::plan::tls::TlsVersion;

use super::support::{Authority, IPV4, IPV6, Talk, client, only};

/// Maximum size of a record, in bytes.
const RECORD: usize = 16_384 + 256;

fn talks(authority: &Authority) -> impl Iterator<Item = Talk> {
    let server = Arc::new(authority.server());
    [TlsVersion::V12, TlsVersion::V13].into_iter().zip([IPV6, IPV4]).map(
        move |(version, endpoint)| {
            let mut client = client(only(version, authority.trusted()));
            let mut talk = Talk::new(&mut client, endpoint, &server);
            talk.settle().unwrap();
            talk
        },
    )
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

#[test]
fn written_data_arrives_intact_whatever_the_sizes_of_its_parts() {
    let authority = Authority::new();
    let sizes = [0, 1, 100, 16_383, 16_384, 16_385, 40_000];
    for mut talk in talks(&authority) {
        for (head, body) in sizes.iter().flat_map(|&h| sizes.iter().map(move |&b| (h, b))) {
            let whole = pattern(head + body);
            talk.write([&whole[..head], &whole[head..]]);
            // All records but the last one are full.
            let records = (head + body).div_ceil(16_384);
            assert!(talk.out.len() <= head + body + records * 29, "{head} + {body}");
            talk.deliver();
            assert_eq!(talk.received(), whole, "{head} + {body}");
        }
    }
}

#[test]
fn received_data_is_intact_however_it_is_split() {
    let authority = Authority::new();
    for mut talk in talks(&authority) {
        let said = pattern(100_000);
        for step in [1, 4, 5, 6, 1_000, 16_384, 16_406, 50_000, usize::MAX] {
            talk.step = step;
            for part in said.chunks(20_000) {
                talk.say(part);
                let wire = talk.answer();
                talk.feed(&wire).unwrap();
            }
            assert_eq!(talk.plain, said, "in steps of {step}");
            talk.plain.clear();
        }
    }
}

#[test]
fn an_idle_session_holds_no_buffer() {
    let authority = Authority::new();
    for mut talk in talks(&authority) {
        talk.say(&pattern(60_000));
        let wire = talk.answer();
        talk.feed(&wire[..wire.len() - 1]).unwrap();
        assert!(talk.session.held() > 0);
        talk.feed(&wire[wire.len() - 1..]).unwrap();
        assert_eq!(talk.session.held(), 0);
    }
}

/// When a record arrives in two parts, far apart, the first part is kept in no more memory than it
/// needs, whatever arrived with it.
#[test]
fn buffers_at_most_one_incomplete_record() {
    let authority = Authority::new();
    for mut talk in talks(&authority) {
        let said = pattern(200_000);
        let mut wire = Vec::new();
        for part in said.chunks(20_000) {
            talk.say(part);
            wire.extend_from_slice(&talk.answer());
        }
        let (first, rest) = wire.split_at(wire.len() - 10);
        talk.step = usize::MAX;
        talk.feed(first).unwrap();
        assert!((1..=RECORD).contains(&talk.session.held()), "{}", talk.session.held());
        talk.feed(rest).unwrap();
        assert_eq!((talk.session.held(), talk.plain == said), (0, true));
    }
}

#[test]
fn continues_in_both_directions_after_a_key_update() {
    let authority = Authority::new();
    let mut talk = talks(&authority).last().unwrap();
    for step in [usize::MAX, 1] {
        talk.step = step;
        talk.server.refresh_traffic_keys().unwrap();
        talk.say(b"with new keys");
        talk.settle().unwrap();
        assert_eq!(std::mem::take(&mut talk.plain), b"with new keys");
        talk.write([b"and ", b"back"]);
        talk.settle().unwrap();
        assert_eq!(talk.received(), b"and back");
    }
}

#[test]
fn handles_close_notify_from_either_side() {
    let authority = Authority::new();
    for mut talk in talks(&authority) {
        talk.say(b"last words");
        talk.server.send_close_notify();
        let wire = [talk.answer(), b"whatever follows".to_vec()].concat();
        talk.feed(&wire).unwrap();
        assert!(talk.progress.closed);
        assert_eq!((&talk.plain[..], talk.session.held()), (&b"last words"[..], 0));
        talk.feed(b"and more").unwrap();
        talk.write([b"still", b" here"]);
        talk.session.close(&mut talk.out);
        talk.deliver();
        assert_eq!(talk.received(), b"still here");
        assert!(talk.server.process_new_packets().unwrap().peer_has_closed());
    }
}

#[test]
fn nothing_is_written_before_the_handshake_has_finished() {
    let authority = Authority::new();
    let mut client = client(authority.trusted());
    let mut talk = Talk::new(&mut client, IPV6, &Arc::new(authority.server()));
    talk.out.clear();
    assert!(talk.session.write([b"early", b""], &mut talk.room, &mut talk.out).is_err());
    talk.session.close(&mut talk.out);
    assert!(talk.out.is_empty());
}

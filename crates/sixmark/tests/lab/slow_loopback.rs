//! Datagrams where loopback is slow: an ordinary one never has what was sent wait.

use std::process::Command;

use sixmark_sys::driver::{Close, Driver, Epoll, EventKind, PeerWrites, SendProgress, Uring};
use sixmark_sys::netns::NetNs;
use sixmark_testkit::datagrams::{HERE, SIZE, THERE, heard, heard_in_all, numbered, pair};
use sixmark_testkit::events::next;
use sixmark_testkit::skipped;
use sixmark_units::family::Family;

/// Sends twice until there is no room, and expects all of it in order.
fn what_there_is_no_room_for_goes_later(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    let (mut sent, mut came) = (0, Vec::new());
    for _ in 0..2 {
        let mut progress = SendProgress::Whole(0);
        while progress != SendProgress::Later {
            let datagrams = numbered(sent..sent + 50, SIZE).concat();
            progress = driver.cast(HERE, &datagrams, Some(SIZE), 0);
            sent += 50;
            assert!(sent < 20_000, "there is room for everything");
        }
        loop {
            match next(driver).kind {
                EventKind::Sent => break,
                EventKind::Datagrams { segment, .. } => {
                    came.extend(driver.bytes().chunks(segment).map(<[u8]>::to_vec));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let left = sent as usize - came.len();
    came.extend(heard_in_all(driver, THERE, left));
    assert_eq!(came, numbered(0..sent, SIZE));
    // And one that is closed while something is left.
    while driver.cast(HERE, &[0; 50 * SIZE], Some(SIZE), 0) != SendProgress::Later {}
    driver.close(HERE, Close::Orderly);
    assert_eq!(heard(driver, THERE).0[0].len(), SIZE);
}

#[test]
fn sends_datagrams_later_when_the_socket_has_no_room() {
    if skipped("netns") {
        return;
    }
    let slow = NetNs::create().expect("this needs root");
    slow.within(|| {
        slow_down();
        for family in Family::BOTH {
            what_there_is_no_room_for_goes_later(&mut Epoll::new()?, family);
            what_there_is_no_room_for_goes_later(&mut Epoll::with_kernel_stamps()?, family);
            what_there_is_no_room_for_goes_later(&mut Uring::new(8, PeerWrites::Single)?, family);
        }
        Ok(())
    })
    .unwrap();
}

/// Loopback of the calling thread's namespace.
fn slow_down() {
    let queue = "qdisc add dev lo root tbf rate 400mbit burst 128kb limit 40mb";
    for (program, words) in [("ip", "link set lo up"), ("tc", queue)] {
        let done = Command::new(program).args(words.split(' ')).status();
        assert!(done.is_ok_and(|status| status.success()), "this needs root, ip and tc");
    }
}

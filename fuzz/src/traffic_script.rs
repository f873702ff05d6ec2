//! Scripts of MGEN's: nothing panics, what is refused is told in one line with the line it is in, what is
//! read has messages whose due times ascend, and what those look like is read back however it is cut.

use sixmark_traffic::{FlowSchedule, Stream, parse_script, put_message};

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    // Whatever arrives on a port is somebody else's, too.
    let _ = Stream::default().feed(input, |_, _| {});
    let Ok(text) = std::str::from_utf8(input) else { return };
    let script = match parse_script(text) {
        Ok(script) => script,
        Err(wrong) => {
            assert!((1..=text.lines().count()).contains(&wrong.line), "{wrong}");
            assert!(!wrong.to_string().contains(['\n', '\r']), "{wrong:?}");
            return;
        }
    };
    for one in script.flows.iter().take(8) {
        let mut schedule = FlowSchedule::new(&one.flow, 1);
        let mut before = one.flow.start_ns();
        for sequence in 0..50 {
            let Some((due, bytes)) = schedule.next() else { break };
            assert!(due >= before, "{due} before {before}");
            before = due;
            schedule.advance();
            if bytes < 100_000 {
                message(one.flow.id, sequence, bytes as usize, &one.to);
            }
        }
    }
}

fn message(id: u32, sequence: u32, bytes: usize, to: &std::net::SocketAddr) {
    let (mut written, mut found) = (Vec::new(), Vec::new());
    put_message(&mut written, (id, sequence), 1, to, bytes);
    let mut stream = Stream::default();
    for piece in written.chunks(1_448) {
        let each = |header: sixmark_traffic::Header, size| found.push((header.flow, size));
        assert!(stream.feed(piece, each).is_ok());
    }
    assert_eq!(found, [(id, bytes)]);
}

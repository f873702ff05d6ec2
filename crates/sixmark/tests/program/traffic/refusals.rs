//! What can't be done is told in one line.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use sixmark_testkit::forms::TRAFFIC;
use sixmark_testkit::{DEADLINE, command, complaint, finish, refusing, signal, sixmark};
use sixmark_units::family::Family;

use super::{Far, until_sending};

#[test]
fn rejects_wrong_usage_in_one_line() {
    for (arguments, why) in [
        (&["--to", "[::1]:5777"][..], "needs --rate"),
        (&["--to", "[::1]", "--rate", "1M"], "not HOST:PORT"),
        (&["--to", "[::1]:5777", "--rate", "1MB"], "'1MB' is not a rate"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--ipv6", "50"], "no IPv4 address"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--flows", "1"], "too few flows (1)"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--payload", "ipv6-udp=39"], "40 to 65,527"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--payload", "udp-tcp=99"], "is not a size"),
        (&["--to", "[::1]:5777", "--rate", "1M", "--arrivals", "burst=2s/1s"], "at most the time"),
        (&["--listen", "host"], "is not a port or ADDR:PORT"),
        (&["--listen", "0", "--rate", "1M"], "cannot be used with"),
        (&["no-such-script"], "can't read 'no-such-script'"),
        (&[], "required"),
    ] {
        let said = complaint(&sixmark(&[&["traffic"], arguments].concat()), 2);
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}

#[test]
fn rejects_an_unsupported_mgen_script_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mgn");
    for (text, why) in [
        ("0 LISTEN UDP 5000\n0 JOIN 224.0.0.9\n", "a.mgn: line 2: the event JOIN is not supported"),
        ("# nothing\n", "neither sends nor listens"),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = complaint(&sixmark(&["traffic", file.to_str().unwrap()]), 2);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn names_a_far_side_that_refuses_the_connection() {
    for family in Family::BOTH {
        let (_held, address) = refusing(family);
        let address = address.to_string();
        let said = complaint(&sixmark(&["traffic", "--to", &address, "--rate", "1M"]), 3);
        assert!(said.contains(&address) && said.contains("refused"), "{said}");
    }
}

/// A stranger's connection to a far side.
fn stranger(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// True where it is closed without a word.
fn is_closed(mut stream: &TcpStream) -> bool {
    // What was sent and not read makes the kernel reset it.
    stream
        .read(&mut [0])
        .map_or_else(|e| e.kind() == std::io::ErrorKind::ConnectionReset, |n| n == 0)
}

#[test]
fn the_far_side_limits_what_it_reads_before_a_hello() {
    let far = Far::start();
    for address in &far.addresses {
        let mut long = stranger(address);
        // Whatever it takes before it closes, it is not all of it.
        let piece = vec![b' '; 1 << 20];
        let taken = (0..256).take_while(|_| long.write_all(&piece).is_ok()).count();
        assert!(taken < 256, "{address} took it all");
        assert!(is_closed(&long), "{address}");
    }
}

#[test]
fn a_far_side_serves_a_bounded_number_of_connections() {
    let far = Far::start();
    let address = &far.addresses[0];
    let held: Vec<TcpStream> = (0..64).map(|_| stranger(address)).collect();
    assert!(is_closed(&stranger(address)), "one more than 64");
    drop(held);
    // Their places are free again, soon.
    let until = std::time::Instant::now() + DEADLINE;
    let hello = b"{\"say\":\"hello\",\"version\":1,\"session\":1}\n";
    let answered = || {
        let mut stream = stranger(address);
        let mut answer = String::new();
        let _ = stream.write_all(hello);
        BufReader::new(stream).read_line(&mut answer).is_ok() && answer.contains("clock")
    };
    while !answered() {
        assert!(std::time::Instant::now() < until, "no place was given back");
    }
}

#[test]
fn listens_on_loopback_when_given_only_a_port() {
    let mut child = command(&["traffic", "--listen", "0"]).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines().take(2);
    let said: Vec<String> = said.map(Result::unwrap).collect();
    signal(child.id(), "TERM");
    let _ = child.wait();
    assert!(said[0].starts_with("[::1]:") && said[1].starts_with("127.0.0.1:"), "{said:?}");
}

#[test]
fn a_signal_ends_the_wait_for_a_silent_far_side() {
    let mute = TcpListener::bind("[::1]:0").unwrap();
    let address = mute.local_addr().unwrap().to_string();
    let child = command(&["traffic", "--to", &address, "--rate", "1M"]).spawn().unwrap();
    let (stream, _) = mute.accept().unwrap();
    // It waits for an answer once it has said hello.
    BufReader::new(&stream).read_line(&mut String::new()).unwrap();
    signal(child.id(), "INT");
    let said = complaint(&finish(child), 130);
    assert!(said.contains(&address) && said.contains("interrupted before"), "{said}");
}

#[test]
fn keeps_the_near_side_figures_if_the_far_side_dies() {
    let mut far = Far::start();
    let to = far.addresses.iter().flat_map(|address| ["--to", address]);
    let all = ["traffic", "--json", "-", "--rate", "1M", "-d", "1h"].into_iter().chain(to);
    let near = command(&all.collect::<Vec<_>>()).spawn().unwrap();
    until_sending(near.id());
    far.child.kill().unwrap();
    far.child.wait().unwrap();
    signal(near.id(), "INT");
    let output = finish(near);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("the far side sent no report"), "{said}");
    let document = serde_json::from_slice(&output.stdout).unwrap();
    TRAFFIC.check(&document);
    assert!(document["warnings"].to_string().contains("far_side_lost"), "{document:#}");
    assert!(document["total"]["offered"]["messages"].as_u64() > Some(0), "{document:#}");
}

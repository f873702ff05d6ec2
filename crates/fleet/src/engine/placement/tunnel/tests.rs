use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Barrier, LazyLock};
use std::thread::{JoinHandle, spawn};

use super::super::stream::WINDOW;
use super::super::streams::MOST_STREAMS;
use super::*;

/// A deadline that only a broken build reaches.
const DEADLINE: Duration = Duration::from_secs(120);

/// A tunnel to a server.
struct Both {
    controller: ControllerTunnel,
    agent: AgentTunnel,
    /// The reason, once the agent's end has ended.
    ended: Receiver<String>,
}

impl Both {
    fn to(server: SocketAddr) -> Both {
        let (input, to) = io::pipe().unwrap();
        let (from, output) = io::pipe().unwrap();
        let (sender, ended) = channel();
        let agent = spawn(move || {
            let (greeted, hello) = GreetedTunnel::greet(input, output).unwrap();
            assert_eq!(hello, b"hello");
            let tell = move |reason: &str| sender.send(reason.to_owned()).unwrap();
            greeted.open(b"answer", tell).unwrap()
        });
        let (controller, answer) = ControllerTunnel::establish(from, to, b"hello", server).unwrap();
        assert_eq!(answer, b"answer");
        Both { controller, agent: agent.join().unwrap(), ended }
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.agent.address()).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        socket
    }
}

/// A server that runs `serve` in a thread for each connection.
fn serve(serve: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    spawn(move || {
        listener.incoming().for_each(|socket| drop(spawn(move || serve(socket.unwrap()))))
    });
    address
}

fn echo(socket: TcpStream) {
    let _ = io::copy(&mut &socket, &mut &socket);
    let _ = socket.shutdown(Shutdown::Write);
}

/// Sends so many bytes in a thread, and no more after them.
fn send(socket: &TcpStream, seed: u64, length: usize) -> JoinHandle<()> {
    let mut socket = socket.try_clone().unwrap();
    spawn(move || {
        let mut pattern = Pattern(seed);
        let mut left = length;
        while left > 0 {
            let part: Vec<u8> = (0..left.min(50_000)).map(|_| pattern.next()).collect();
            socket.write_all(&part).unwrap();
            left -= part.len();
        }
        socket.shutdown(Shutdown::Write).unwrap();
    })
}

/// Reads to the end, which must be these bytes.
fn receive(mut socket: TcpStream, seed: u64, length: usize) {
    let (mut pattern, mut count) = (Pattern(seed), 0);
    let mut buffer = vec![0; 70_000];
    loop {
        match socket.read(&mut buffer).unwrap() {
            0 => break,
            read => {
                assert!(buffer[..read].iter().all(|&byte| byte == pattern.next()), "near {count}");
                count += read;
            }
        }
    }
    assert_eq!(count, length);
}

struct Pattern(u64);

impl Pattern {
    fn next(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 56) as u8
    }
}

#[test]
fn transfers_64_mib_in_both_directions_unchanged() {
    let both = Both::to(serve(echo));
    let socket = both.connect();
    let sent = send(&socket, 1, 64 << 20);
    receive(socket, 1, 64 << 20);
    sent.join().unwrap();
}

#[test]
fn keeps_many_concurrent_streams_separate() {
    let both = Both::to(serve(echo));
    for round in 0..3 {
        let streams: Vec<_> = (0..MOST_STREAMS as u64 / 2)
            .map(|n| {
                let (socket, seed) = (both.connect(), round * 100 + n);
                let sent = send(&socket, seed, 1 << 20);
                (sent, spawn(move || receive(socket, seed, 1 << 20)))
            })
            .collect();
        for (sent, received) in streams {
            sent.join().unwrap();
            received.join().unwrap();
        }
    }
}

#[test]
fn a_stream_that_nobody_reads_does_not_block_others() {
    static OTHER_IS_DONE: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
    /// Reads what begins with a zero only after it has served the other connection.
    fn late(mut socket: TcpStream) {
        let mut first = [0];
        socket.read_exact(&mut first).unwrap();
        if first == [0] {
            OTHER_IS_DONE.wait();
            echo(socket);
        } else {
            echo(socket);
            OTHER_IS_DONE.wait();
        }
    }
    let both = Both::to(serve(late));
    let mut unread = both.connect();
    unread.write_all(&[0]).unwrap();
    let sent = send(&unread, 1, 32 << 20);
    let mut other = both.connect();
    other.write_all(&[1]).unwrap();
    let other_sent = send(&other, 2, 8 << 20);
    receive(other, 2, 8 << 20);
    receive(unread, 1, 32 << 20);
    sent.join().unwrap();
    other_sent.join().unwrap();
}

#[test]
fn loss_of_the_controller_notifies_the_agent_and_ends_its_connections() {
    let both = Both::to(serve(echo));
    let mut socket = both.connect();
    socket.write_all(b"x").unwrap();
    socket.read_exact(&mut [0]).unwrap();
    drop(both.controller);
    assert_eq!(both.ended.recv_timeout(DEADLINE).unwrap(), "the other side of the tunnel ended");
    assert!(!both.agent.is_open());
    assert!(matches!(socket.read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn loss_of_the_agent_ends_the_connections_to_the_server() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let both = Both::to(listener.local_addr().unwrap());
    let _client = both.connect();
    let (mut served, _) = listener.accept().unwrap();
    served.set_read_timeout(Some(DEADLINE)).unwrap();
    drop(both.agent);
    assert!(matches!(served.read(&mut [0]), Ok(0) | Err(_)));
    while both.controller.is_open() {
        std::thread::yield_now();
    }
    assert_eq!(both.controller.reason().unwrap(), "the other side of the tunnel ended");
}

#[test]
fn closing_one_end_of_a_connection_closes_the_other() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let both = Both::to(listener.local_addr().unwrap());
    let mut client = both.connect();
    drop(listener.accept().unwrap());
    assert!(matches!(client.read(&mut [0]), Ok(0) | Err(_)));
    drop(client);
    let client = both.connect();
    let (mut served, _) = listener.accept().unwrap();
    drop(client);
    assert!(matches!(served.read(&mut [0]), Ok(0) | Err(_)));
    drop(served);
    // Those that are over make room for others.
    for _ in 0..3 * MOST_STREAMS {
        let client = both.connect();
        drop(listener.accept().unwrap());
        assert!(matches!((&client).read(&mut [0]), Ok(0) | Err(_)));
    }
    drop(listener);
    assert!(matches!(both.connect().read(&mut [0]), Ok(0) | Err(_)), "no server");
    assert!(both.controller.is_open());
}

/// What the controller's end says of an agent that sends these frames.
fn refusal(frames: &[Frame]) -> String {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    write_preface(&mut theirs).unwrap();
    theirs.write_all(&Frame::Answer(Vec::new()).to_bytes()).unwrap();
    let from = ours.try_clone().unwrap();
    // Its connections stay open and nobody reads them.
    let server = serve(std::mem::forget);
    let (controller, _) = ControllerTunnel::establish(from, ours, b"", server).unwrap();
    for frame in frames {
        // It may have closed the pipe already.
        let _ = theirs.write_all(&frame.to_bytes());
    }
    while controller.is_open() {
        std::thread::yield_now();
    }
    controller.reason().unwrap()
}

#[test]
fn a_protocol_violation_by_the_agent_ends_the_tunnel_with_one_line() {
    let data = || Frame::Data(1, vec![0; LONGEST_DATA]);
    let flood = (0..64 * WINDOW / LONGEST_DATA).map(|_| data());
    let streams = (1..=2 * MOST_STREAMS as u32 + 1).map(Frame::Open);
    for (frames, said) in [
        (vec![Frame::Open(2), Frame::Open(2)], "stream 2 again"),
        (vec![Frame::Open(2), Frame::Open(1)], "stream 1 again"),
        (vec![data()], "something for unknown stream 1"),
        (vec![Frame::Credit(9, 1)], "something for unknown stream 9"),
        (vec![Frame::Open(1), Frame::Credit(1, 1)], "too much credit for stream 1"),
        (vec![Frame::Open(1), Frame::Credit(1, u32::MAX)], "too much credit for stream 1"),
        (vec![Frame::Open(1), Frame::Close(1), data()], "bytes of stream 1 after its end"),
        (vec![Frame::Hello(Vec::new())], "a frame that is not allowed there"),
        (vec![Frame::Answer(Vec::new())], "a frame that is not allowed there"),
        (streams.collect(), "more than 64 streams"),
        ([Frame::Open(1)].into_iter().chain(flood).collect(), "more bytes of stream 1 than it may"),
    ] {
        let reason = refusal(&frames);
        assert_eq!(reason, format!("the tunnel's other side sent {said}"));
    }
}

#[test]
fn an_agent_gives_up_a_silent_controller() {
    let (sender, ended) = channel();
    let streams = Streams::new(
        Box::new(io::sink()),
        Box::new(move |reason| sender.send(reason.to_owned()).unwrap()),
    );
    streams.expect_alive(Duration::from_millis(20));
    let reason = ended.recv().unwrap();
    assert_eq!(reason, "nothing was heard from the controller for 20ms");
}

#[test]
fn sends_no_secret_to_a_peer_that_is_not_an_agent() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(b"This account is not available.\n").unwrap();
    theirs.shutdown(Shutdown::Write).unwrap();
    let from = ours.try_clone().unwrap();
    let server = SocketAddr::from((Ipv6Addr::LOCALHOST, 1));
    let error = ControllerTunnel::establish(from, ours, b"secret", server).unwrap_err();
    assert!(error.to_string().ends_with("it wrote 'This account is not available.'"), "{error}");
    let mut sent = Vec::new();
    theirs.read_to_end(&mut sent).unwrap();
    assert_eq!(sent, b"");
}

#[test]
fn refuses_to_send_a_message_that_is_too_long() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let from = ours.try_clone().unwrap();
    let long = vec![0; LONGEST_MESSAGE + 1];
    let server = SocketAddr::from((Ipv6Addr::LOCALHOST, 1));
    let error = ControllerTunnel::establish(from, ours, &long, server).unwrap_err();
    assert!(error.to_string().contains("1048577 bytes"), "{error}");
}

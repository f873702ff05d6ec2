//! Tests with random captures. The expected results are recorded by the sender, not read from the
//! packets.

use super::*;
use sixmark_units::random::Random;

/// A random capture under construction.
struct Story {
    made: Made,
    random: Random,
    /// The ends of both streams, and the position up to which the client has acknowledged.
    client: u32,
    server: u32,
    acknowledged: u32,
    told: Account,
    done: Vec<Account>,
}

/// The expected results of an exchange.
#[derive(Clone, Debug, Default, PartialEq)]
struct Account {
    began_ns: u64,
    delay_ns: Option<u64>,
    /// The bytes that count up to the last ACK, and all bytes so far.
    bytes: PerDirection<u64>,
    so_far: PerDirection<u64>,
    repeated: PerDirection<Repeated>,
    response: u64,
}

impl Story {
    fn new(family: Family, seed: u64) -> Story {
        let mut made = Made::new(family, 1_000);
        let mut random = Random::new(seed, 0);
        // Often just before sequence numbers wrap around.
        let mut first = || match random.below(2) {
            0 => random.bits() as u32,
            _ => u32::MAX - random.below(20_000) as u32,
        };
        made.first = PerDirection { from_client: first(), from_server: first() };
        made.handshake();
        let (told, done) = (Account::default(), Vec::new());
        Story { made, random, client: 1, server: 1, acknowledged: 1, told, done }
    }

    /// Sends a request, sometimes twice.
    fn ask(&mut self) {
        let mut request = b"GET /file HTTP/1.1\r\n".to_vec();
        request.resize(40 + self.random.below(400) as usize, b'a');
        let at = self.client;
        let length = self.made.client(ACK, at, self.acknowledged, &request);
        self.told = Account { began_ns: self.made.now_ns, ..Account::default() };
        self.told.so_far.from_client = length;
        if self.random.below(4) == 0 {
            let again = self.made.client(ACK, at, self.acknowledged, &request);
            self.repeat(true, again);
        }
        self.client += request.len() as u32;
    }

    fn repeat(&mut self, by_client: bool, length: u64) {
        let repeated = self.told.repeated.of(by_client);
        repeated.segments += 1;
        repeated.bytes += length;
    }

    /// Sends new data, a retransmission of data lost after the capture point, or a mixture of both.
    fn respond(&mut self) {
        let begin = self.acknowledged;
        let back = match self.random.below(4) {
            0 => self.random.below(u64::from(self.server - begin) + 1) as u32,
            _ => 0,
        };
        let at = self.server - back;
        let length = 1 + self.random.below(1_000) as u32;
        let frame = self.made.server(ACK, at, self.client, &vec![b'x'; length as usize]);
        let (known, new) = (back.min(length), length.saturating_sub(back));
        if new == 0 {
            self.repeat(false, frame);
        } else {
            self.told.so_far.from_server += frame - u64::from(known);
            self.told.repeated.from_server.bytes += u64::from(known);
        }
        self.server += new;
        self.told.response += u64::from(new);
    }

    /// Sends an ACK of more data, of the same, or of less, as if ACKs had been reordered.
    fn acknowledge(&mut self, most: u32) {
        let more = self.random.below(u64::from(most - self.acknowledged) + 1) as u32;
        let less = if self.random.below(4) == 0 { self.random.below(700) as u32 } else { 0 };
        let to = (self.acknowledged + more).saturating_sub(less);
        self.acknowledge_to(to);
    }

    fn acknowledge_to(&mut self, to: u32) {
        self.told.so_far.from_client += self.made.client(ACK, self.client, to, b"");
        if to > self.acknowledged {
            self.acknowledged = to;
            self.told.delay_ns = Some(self.made.now_ns - self.told.began_ns);
            self.told.bytes = self.told.so_far;
        }
    }

    fn exchange(&mut self) {
        self.ask();
        for _ in 0..1 + self.random.below(40) {
            match self.random.below(3) {
                0 => self.acknowledge(self.server),
                _ => self.respond(),
            }
        }
        self.respond();
        self.respond();
        self.acknowledge_to(self.server);
        self.done.push(self.told.clone());
    }
}

#[test]
fn measures_correctly_despite_loss_duplication_and_reordering() {
    for seed in 0..500 {
        for family in Family::BOTH {
            let mut story = Story::new(family, seed);
            for _ in 0..1 + story.random.below(4) {
                story.exchange();
            }
            assert!(story.made.follower.is_settled());
            let (expected, found) = (story.done, story.made.finish());
            assert_eq!(found.len(), expected.len(), "seed {seed}");
            for (found, told) in found.iter().zip(&expected) {
                assert_eq!(found.unmeasured, None, "seed {seed}");
                assert_eq!(
                    (found.began_ns, found.delay_ns),
                    (told.began_ns, told.delay_ns),
                    "{seed}"
                );
                assert_eq!(
                    (found.bytes, found.response_bytes),
                    (told.bytes, told.response),
                    "{seed}"
                );
                assert_eq!(found.repeated, told.repeated, "seed {seed}");
                assert_eq!((found.left_to_fin, found.coalesced), (0, 0), "seed {seed}");
            }
        }
    }
}

#[test]
fn survives_random_sequence_numbers_and_flags() {
    let mut random = Random::new(9, 0);
    for family in Family::BOTH {
        let mut made = Made::new(family, 1_000);
        made.follower.flows.settings.max_flows = 8;
        for _ in 0..100_000 {
            made.ends.client.set_port(1_000 + random.below(12) as u16);
            let payload: &[u8] = if random.below(2) == 0 { b"GET " } else { &[0; 1_400] };
            let payload = &payload[..random.below(payload.len() as u64 + 1) as usize];
            let [at, ack] = [random.bits() as u32, random.bits() as u32];
            made.send(random.below(2) == 0, random.bits() as u8, at, ack, payload);
        }
        let counts = made.follower.counts();
        assert_eq!((counts.segments, counts.followed), (100_000, 100_000));
        for found in made.finish() {
            assert_eq!(found.delay_ns.is_none(), found.unmeasured.is_some(), "{found:?}");
        }
    }
}

//! The values that one worker fills in: sequence numbers, random values, and its position in each
//! file.

use std::io::Write as _;

use sixmark_units::random::Random;

/// The first random stream for templates. Arrivals use the streams from 0, one for each worker.
const STREAMS: u64 = 1 << 32;

/// The values of one worker. Call [`next_request`](TemplateValues::next_request) before each
/// request.
#[derive(Clone, Debug)]
pub struct TemplateValues {
    worker: u64,
    workers: u64,
    random: Random,
    /// The request's number on this worker, from 1.
    request: u64,
    sequence: Drawn,
    files: Vec<Drawn>,
}

/// A counter from which each request takes at most one number, however often it uses it.
#[derive(Clone, Copy, Debug, Default)]
struct Drawn {
    /// The last request that took a number; 0 before the first.
    by: u64,
    /// How many numbers were taken.
    taken: u64,
}

impl Drawn {
    /// Returns the number of this request, from 0.
    fn take(&mut self, request: u64) -> u64 {
        if self.by != request {
            (self.by, self.taken) = (request, self.taken + 1);
        }
        self.taken - 1
    }
}

impl TemplateValues {
    /// Creates the values of worker number `worker` (from 0) of `workers`, in a run with this seed.
    pub fn new(seed: u64, worker: u32, workers: u32) -> TemplateValues {
        TemplateValues {
            worker: worker.into(),
            workers: u64::from(workers).max(1),
            random: Random::new(seed, STREAMS + u64::from(worker)),
            request: 1,
            sequence: Drawn::default(),
            files: Vec::new(),
        }
    }

    /// Begins the next request, which takes its own sequence number and lines.
    pub fn next_request(&mut self) {
        self.request += 1;
    }

    pub(super) fn write_sequence(&mut self, out: &mut Vec<u8>) {
        let number = self.worker + self.sequence.take(self.request) * self.workers;
        write_number(out, number);
    }

    /// Writes a UUID of version 4 (RFC 9562, 5.4): six bits are the version and the variant, the
    /// others are random.
    pub(super) fn write_uuid(&mut self, out: &mut Vec<u8>) {
        let high = self.random.bits() & !0xf000 | 0x4000;
        let low = self.random.bits() & !(0b11 << 62) | 0b10 << 62;
        // Writing to a vector can't fail.
        let _ = write!(
            out,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        );
    }

    /// Writes a random number from `from` to `to`, both included. It is the upper half of a
    /// product: the probabilities of two numbers differ by 2^-64 at most.
    pub(super) fn write_random(&mut self, from: i64, to: i64, out: &mut Vec<u8>) {
        let range = (i128::from(to) - i128::from(from) + 1) as u128;
        let offset = (u128::from(self.random.bits()) * range) >> 64;
        write_number(out, i128::from(from) + offset as i128);
    }

    /// Returns the index of the line, of `count`, that this request takes from file number `file`.
    pub(super) fn line(&mut self, file: usize, count: usize) -> usize {
        if self.files.len() <= file {
            self.files.resize(file + 1, Drawn::default());
        }
        let count = count.max(1) as u64;
        // The product may need 128 bits.
        let begin = (u128::from(self.worker) * u128::from(count) / u128::from(self.workers)) as u64;
        (begin.wrapping_add(self.files[file].take(self.request)) % count) as usize
    }
}

fn write_number(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    // Writing to a vector can't fail.
    let _ = write!(out, "{number}");
}

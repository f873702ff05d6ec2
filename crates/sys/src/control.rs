//! Control messages, the ancillary data of messages that a socket sends or receives (cmsg(3)).

use std::mem::size_of;

const WORD: usize = size_of::<usize>();
/// The size of the fields before the data: length, level and type.
const HEADER: usize = WORD + 8;

/// An iterator over control messages that yields the level, type and data of each. It stops at the
/// first message that is truncated.
pub(crate) struct Controls<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Controls<'a> {
    type Item = (i32, i32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.0;
        let length = usize::from_ne_bytes(bytes.get(..WORD)?.try_into().ok()?);
        let number = |at: usize| Some(i32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let (level, kind) = (number(WORD)?, number(WORD + 4)?);
        let data = bytes.get(HEADER..length)?;
        self.0 = bytes.get(length.next_multiple_of(WORD)..).unwrap_or_default();
        Some((level, kind, data))
    }
}

/// A buffer of control messages to send, aligned as the kernel requires.
#[derive(Debug)]
#[repr(C, align(8))]
pub(crate) struct Writer<const ROOM: usize> {
    bytes: [u8; ROOM],
    length: usize,
}

impl<const ROOM: usize> Writer<ROOM> {
    pub(crate) fn new() -> Writer<ROOM> {
        Writer { bytes: [0; ROOM], length: 0 }
    }

    /// Appends a message, or does nothing if it does not fit.
    pub(crate) fn add(&mut self, level: i32, kind: i32, data: &[u8]) {
        let (start, length) = (self.length, HEADER + data.len());
        let end = start + length.next_multiple_of(WORD);
        let Some(place) = self.bytes.get_mut(start..end) else { return };
        place[..WORD].copy_from_slice(&length.to_ne_bytes());
        place[WORD..WORD + 4].copy_from_slice(&level.to_ne_bytes());
        place[WORD + 4..HEADER].copy_from_slice(&kind.to_ne_bytes());
        place[HEADER..length].copy_from_slice(data);
        self.length = end;
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_the_messages_it_wrote() {
        let mut writer = Writer::<128>::new();
        writer.add(1, 2, &[3]);
        writer.add(-4, 5, &[6; 12]);
        writer.add(7, 8, &[]);
        let read: Vec<_> = Controls(writer.bytes()).collect();
        assert_eq!(read, [(1, 2, &[3][..]), (-4, 5, &[6; 12]), (7, 8, &[])]);
    }

    #[test]
    fn omits_messages_that_do_not_fit() {
        let mut writer = Writer::<32>::new();
        writer.add(1, 2, &[3; 17]);
        writer.add(1, 2, &[3; 16]);
        writer.add(1, 2, &[]);
        assert_eq!(Controls(writer.bytes()).count(), 1);
    }

    #[test]
    fn reading_malformed_messages_always_terminates() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        for _ in 0..20_000 {
            let mut bytes: Vec<u8> = (0..random() % 100).map(|_| random() as u8).collect();
            // Lengths that are nearly right, or extreme.
            let length =
                [random() % 64, 0, 15, 16, 17, u64::MAX, u64::MAX - 7][(random() % 7) as usize];
            let start = length.to_ne_bytes();
            bytes.iter_mut().zip(start).for_each(|(byte, new)| *byte = new);
            let data: usize = Controls(&bytes).map(|(_, _, data)| HEADER + data.len()).sum();
            assert!(data <= bytes.len() + HEADER);
        }
    }
}

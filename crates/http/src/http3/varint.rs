//! Variable-length integers, whose first two bits encode their length (RFC 9000, 16).

const MOST: usize = 8;

/// An integer that is received in pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Varint {
    value: u64,
    left: u8,
}

impl Varint {
    /// Removes bytes from the front of `rest`. Returns the integer once it is complete.
    pub(super) fn read(&mut self, rest: &mut &[u8]) -> Option<u64> {
        while let Some((&byte, after)) = rest.split_first() {
            *rest = after;
            if self.left == 0 {
                self.left = 1 << (byte >> 6);
                self.value = u64::from(byte & 0x3f);
            } else {
                self.value = self.value << 8 | u64::from(byte);
            }
            self.left -= 1;
            if self.left == 0 {
                return Some(self.value);
            }
        }
        None
    }

    /// Returns whether some, but not all, bytes have been read.
    pub(super) fn is_begun(self) -> bool {
        self.left > 0
    }
}

/// Appends `value`, of at most 62 bits, in its shortest form.
pub(super) fn write_varint(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_be_bytes();
    let (length, mark) = match value {
        0..0x40 => (1, 0),
        0x40..0x4000 => (2, 0x40),
        0x4000..0x4000_0000 => (4, 0x80),
        _ => (MOST, 0xc0),
    };
    let start = out.len();
    out.extend_from_slice(&bytes[MOST - length..]);
    out[start] |= mark;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_varints_of_rfc_9000_at_any_cut() {
        for (bytes, value) in [
            (&b"\xc2\x19\x7c\x5e\xff\x14\xe8\x8c"[..], 151_288_809_941_952_652),
            (b"\x9d\x7f\x3e\x7d", 494_878_333),
            (b"\x7b\xbd", 15_293),
            (b"\x25", 37),
        ] {
            let mut out = Vec::new();
            write_varint(&mut out, value);
            assert_eq!(out, bytes);
            for cut in 0..bytes.len() {
                let mut varint = Varint::default();
                assert_eq!(varint.read(&mut &bytes[..cut]), None);
                assert_eq!(varint.is_begun(), cut > 0);
                assert_eq!(varint.read(&mut &bytes[cut..]), Some(value));
                assert!(!varint.is_begun());
            }
        }
        assert_eq!(Varint::default().read(&mut &b"\x40\x25"[..]), Some(37), "longer than need be");
    }
}

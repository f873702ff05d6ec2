//! Messages in a byte stream.

use super::{Foreign, Header};

/// Finds the ends of messages in a byte stream, however it is split into reads.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    head: [u8; Header::SIZE],
    /// The number of header bytes read so far.
    have: usize,
    /// The current part, and how many of its bytes are still to come.
    part: Option<(Header, usize)>,
    /// The total bytes of the earlier parts of the current message.
    before: usize,
}

impl Stream {
    /// Processes bytes. Calls `each` for every message that ends in them, with the header of its
    /// last part and the size of the whole message.
    ///
    /// # Errors
    /// Returns [`Foreign`] if the bytes are not a message. The rest of the stream cannot be parsed
    /// then.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Header, usize),
    ) -> Result<(), Foreign> {
        while !bytes.is_empty() {
            let used = match self.part {
                None => self.head(bytes)?,
                Some((header, left)) => {
                    let used = left.min(bytes.len());
                    self.part = Some((header, left - used));
                    used
                }
            };
            bytes = &bytes[used..];
            if let Some((header, 0)) = self.part {
                self.part = None;
                self.end(header, &mut each);
            }
        }
        Ok(())
    }

    /// Collects bytes of a header. Returns how many were used.
    fn head(&mut self, bytes: &[u8]) -> Result<usize, Foreign> {
        let used = (Header::SIZE - self.have).min(bytes.len());
        self.head[self.have..self.have + used].copy_from_slice(&bytes[..used]);
        self.have += used;
        if self.have == Header::SIZE {
            let header = Header::read(&self.head)?;
            self.have = 0;
            self.part = Some((header, header.length - Header::SIZE));
        }
        Ok(used)
    }

    fn end(&mut self, header: Header, each: &mut impl FnMut(Header, usize)) {
        self.before += header.length;
        if !header.continues {
            each(header, std::mem::take(&mut self.before));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::put_message;
    use super::*;

    fn written(sizes: &[usize]) -> Vec<u8> {
        let (mut out, to) = (Vec::new(), "[::1]:9".parse().unwrap());
        for (at, &bytes) in sizes.iter().enumerate() {
            put_message(&mut out, (3, at as u32), 1_000, &to, bytes);
        }
        out
    }

    #[test]
    fn finds_the_same_messages_in_pieces_of_any_size() {
        let sizes = [40, 1_440, 70_000, 20 + 40, 100];
        let bytes = written(&sizes);
        for step in [1, 7, 19, 20, 21, 1_448, 65_535, usize::MAX] {
            let (mut stream, mut found) = (Stream::default(), Vec::new());
            for piece in bytes.chunks(step.min(bytes.len())) {
                let each = |header: Header, size| found.push((header.sequence as usize, size));
                stream.feed(piece, each).unwrap();
            }
            let expected: Vec<_> = sizes.into_iter().enumerate().collect();
            assert_eq!(found, expected, "{step}");
        }
    }

    #[test]
    fn rejects_bytes_that_are_not_a_message() {
        let mut bytes = written(&[100]);
        bytes.extend([0; 100]);
        let mut found = 0;
        assert_eq!(Stream::default().feed(&bytes, |_, _| found += 1), Err(Foreign));
        assert_eq!(found, 1);
    }
}

//! Messages of rtnetlink(7): what is written of them, and what is read of answers.

use std::io;

/// The length of the header of a message (struct nlmsghdr), in bytes.
const HEADER: usize = 16;
/// The length of the header of an attribute (struct rtattr), in bytes.
const ATTRIBUTE: usize = 4;
/// Messages and attributes begin at multiples of this, in bytes.
const ALIGNED: usize = 4;

/// A message under construction.
#[derive(Debug)]
pub(super) struct Request {
    bytes: Vec<u8>,
}

impl Request {
    /// Begins a message of this type (RTM_*), with the fixed part that belongs to the type.
    pub(super) fn new(kind: u16, fixed: &[u8]) -> Request {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(fixed);
        Request { bytes }
    }

    /// Adds an attribute.
    pub(super) fn attribute(mut self, kind: u16, value: &[u8]) -> Request {
        put_attribute(&mut self.bytes, kind, value);
        self
    }

    /// Returns the message with its length, these flags (NLM_F_*) and this number.
    pub(super) fn finish(mut self, flags: u16, sequence: u32) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

/// Attributes within an attribute.
#[derive(Debug, Default)]
pub(super) struct NestedAttributes {
    bytes: Vec<u8>,
}

impl NestedAttributes {
    /// Begins with a fixed part.
    pub(super) fn after(fixed: &[u8]) -> NestedAttributes {
        NestedAttributes { bytes: fixed.to_vec() }
    }

    /// Adds an attribute.
    pub(super) fn attribute(mut self, kind: u16, value: &[u8]) -> NestedAttributes {
        put_attribute(&mut self.bytes, kind, value);
        self
    }

    /// Returns the value of the attribute that contains these.
    pub(super) fn value(&self) -> &[u8] {
        &self.bytes
    }
}

fn put_attribute(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = (ATTRIBUTE + value.len()) as u16;
    bytes.extend_from_slice(&length.to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(ALIGNED), 0);
}

/// Returns a name as the value of an attribute.
pub(super) fn name_value(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

/// A message of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// A dump is complete.
    Done,
    /// An acknowledgement, or the error number of a request that failed.
    Acknowledged(Option<i32>),
    /// A message of this type (RTM_*), without its header.
    Message(u16, &'a [u8]),
}

impl Answer<'_> {
    /// Returns the error of a request that failed.
    pub(super) fn error(&self) -> Option<io::Error> {
        match *self {
            Answer::Acknowledged(Some(errno)) => Some(io::Error::from_raw_os_error(errno)),
            _ => None,
        }
    }
}

/// Returns the messages of what was received. What is cut short is left out.
pub(super) fn answers(bytes: &[u8]) -> impl Iterator<Item = Answer<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(array(rest, 0)?) as usize;
        let message = rest.get(HEADER..length)?;
        let kind = u16::from_ne_bytes(array(rest, 4)?);
        rest = rest.get(length.next_multiple_of(ALIGNED)..).unwrap_or_default();
        Some(match i32::from(kind) {
            libc::NLMSG_DONE => Answer::Done,
            libc::NLMSG_ERROR => {
                let errno = i32::from_ne_bytes(array(message, 0)?);
                Answer::Acknowledged((errno != 0).then_some(-errno))
            }
            _ => Answer::Message(kind, message),
        })
    })
}

/// Returns the attributes after the fixed part of a message, each with its type and value.
pub(super) fn attributes(message: &[u8], fixed: usize) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = message.get(fixed..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(array(rest, 0)?));
        let value = rest.get(ATTRIBUTE..length)?;
        // The uppermost two bits are flags.
        let kind = u16::from_ne_bytes(array(rest, 2)?) & 0x3fff;
        rest = rest.get(length.next_multiple_of(ALIGNED)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// Returns the `N` bytes at a place, or `None` if they end before.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_attributes_and_states_their_length_without_padding() {
        let nested = NestedAttributes::after(&[9; 4]).attribute(1, &name_value("veth"));
        let made = Request::new(16, &[7; 16]).attribute(3, &name_value("ab"));
        let bytes = made.attribute(18, nested.value()).finish(5, 2);
        assert_eq!(u32::from_ne_bytes(array(&bytes, 0).unwrap()) as usize, bytes.len());
        let [Answer::Message(16, message)] = answers(&bytes).collect::<Vec<_>>()[..] else {
            panic!("{bytes:?}");
        };
        let found: Vec<(u16, &[u8])> = attributes(message, 16).collect();
        assert_eq!(found[0], (3, &b"ab\0"[..]));
        assert_eq!(found[1].0, 18);
        assert_eq!(attributes(found[1].1, 4).collect::<Vec<_>>(), [(1, &b"veth\0"[..])]);
    }

    #[test]
    fn reads_acknowledgements_errors_and_the_end_of_a_dump() {
        let of =
            |kind: i32, errno: i32| Request::new(kind as u16, &errno.to_ne_bytes()).finish(0, 1);
        let bytes = [
            of(libc::NLMSG_ERROR, 0),
            of(libc::NLMSG_ERROR, -libc::EEXIST),
            of(libc::NLMSG_DONE, 0),
        ]
        .concat();
        let found: Vec<Answer<'_>> = answers(&bytes).collect();
        let refused = Answer::Acknowledged(Some(libc::EEXIST));
        assert_eq!(found, [Answer::Acknowledged(None), refused, Answer::Done]);
        assert_eq!(refused.error().unwrap().raw_os_error(), Some(libc::EEXIST));
    }

    #[test]
    fn ends_at_messages_and_attributes_that_are_cut_short() {
        let whole = Request::new(16, &[0; 16]).attribute(3, b"abcdefg").finish(0, 1);
        for length in 0..whole.len() {
            assert_eq!(answers(&whole[..length]).count(), 0, "{length}");
            let found = attributes(&whole[..length], HEADER + 16).count();
            assert_eq!(found, usize::from(length + 1 >= whole.len()), "{length}");
        }
        // A length below that of a header would never end.
        let zero = [0_u8; 32];
        assert_eq!((answers(&zero).count(), attributes(&zero, 0).count()), (0, 0));
    }
}

//! Removes the protection of QUIC Initial packets, whose keys anyone can derive (RFC 9001, 5.2), so
//! that the server name and the protocols in them can be read.

use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{DirectionalKeys, Suite, Version};
use rustls::{Side, SupportedCipherSuite};
use sixmark_wire::flow::InitialOpener;

/// The longest packet number in bytes. The sample begins as many bytes after the start of the
/// packet number.
const LONGEST_NUMBER: usize = 4;
/// QUIC version 2 (RFC 9369).
const VERSION_2: u32 = 0x6b33_43cf;

/// Opens the Initial packets of clients, on the server's side.
#[derive(Debug)]
pub(super) struct Opener;

impl InitialOpener for Opener {
    fn open<'a>(
        &mut self,
        version: u32,
        destination: &[u8],
        number: usize,
        packet: &'a mut [u8],
    ) -> Option<&'a [u8]> {
        let version = if version == VERSION_2 { Version::V2 } else { Version::V1 };
        let keys = suite()?.keys(destination, Side::Server, version).remote;
        let (behind, value) = uncover(&keys, number, packet)?;
        let (header, payload) = packet.split_at_mut_checked(behind)?;
        keys.packet.decrypt_in_place(value, header, payload).ok()
    }
}

/// Returns the cipher suite that protects all Initial packets.
fn suite() -> Option<Suite> {
    let SupportedCipherSuite::Tls13(suite) = TLS13_AES_128_GCM_SHA256 else { return None };
    suite.quic_suite()
}

/// Removes header protection (RFC 9001, 5.4). Returns the offset of the payload, and the packet
/// number. The numbers of a client's first packets are small, so they are not truncated.
fn uncover(keys: &DirectionalKeys, number: usize, packet: &mut [u8]) -> Option<(usize, u64)> {
    let (head, rest) = packet.split_at_mut_checked(number)?;
    let (covered, behind) = rest.split_at_mut_checked(LONGEST_NUMBER)?;
    let sample = behind.get(..keys.header.sample_len())?;
    let first = head.first_mut()?;
    keys.header.decrypt_in_place(sample, first, covered).ok()?;
    let length = usize::from(*first & 3) + 1;
    let value = covered.iter().take(length).fold(0, |value, byte| value << 8 | u64::from(*byte));
    Some((number + length, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a packet protected by a client, with a packet number of `length` bytes, and the
    /// offset of that number.
    fn protected(
        version: Version,
        destination: &[u8],
        length: u8,
        number: u64,
    ) -> (usize, Vec<u8>) {
        let keys = suite().unwrap().keys(destination, Side::Client, version).local;
        let mut packet = vec![0xc0 | (length - 1); 20];
        packet.extend(&number.to_be_bytes()[8 - usize::from(length)..]);
        let behind = packet.len();
        packet.extend([7; 40]);
        let (header, payload) = packet.split_at_mut(behind);
        let tag = keys.packet.encrypt_in_place(number, header, payload).unwrap();
        packet.extend(tag.as_ref());
        let (head, rest) = packet.split_at_mut(20);
        let (covered, sample) = rest.split_at_mut(LONGEST_NUMBER);
        let sample = &sample[..keys.header.sample_len()];
        let covered = &mut covered[..usize::from(length)];
        keys.header.encrypt_in_place(sample, &mut head[0], covered).unwrap();
        (20, packet)
    }

    #[test]
    fn opens_protected_client_packets_of_both_versions() {
        for (version, wire) in [(Version::V1, 1), (Version::V2, VERSION_2)] {
            for (length, number) in [(1, 0), (2, 300), (4, 70_000)] {
                let (at, mut packet) = protected(version, b"12345678", length, number);
                let opened = Opener.open(wire, b"12345678", at, &mut packet);
                assert_eq!(opened, Some(&[7; 40][..]), "{wire} {length}");
            }
        }
    }

    #[test]
    fn does_not_open_altered_or_truncated_packets() {
        let (at, packet) = protected(Version::V1, b"12345678", 2, 1);
        for end in 0..packet.len() {
            assert_eq!(Opener.open(1, b"12345678", at, &mut packet[..end].to_vec()), None, "{end}");
        }
        assert_eq!(Opener.open(1, b"other", at, &mut packet.clone()), None);
        assert_eq!(Opener.open(1, b"12345678", packet.len() + 9, &mut packet.clone()), None);
    }
}

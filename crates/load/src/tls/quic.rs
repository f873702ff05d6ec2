//! TLS for QUIC (RFC 9001): the handshake within a connection of the QUIC library. Unlike the
//! library's own, it reveals what was negotiated and why it failed.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use quinn_proto::crypto::{
    ClientConfig as QuicClientConfig, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys,
    PacketKey, Session,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use rustls::pki_types::ServerName;
use rustls::quic::{ClientConnection, DirectionalKeys, KeyChange, Secrets, Suite, Version};
use rustls::{ClientConfig, HandshakeKind};
use sixmark_tally::tls::{Cause, Facts};

use super::failure::Failure;
use super::names;
use super::session::Room;

/// QUIC version 1 (RFC 9000), the only version in use.
pub const VERSION: u32 = 1;
/// The key and the nonce of the integrity tag of a Retry in version 1 (RFC 9001, 5.8).
const RETRY_KEY: [u8; 16] = [
    0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e,
];
const RETRY_NONCE: [u8; 12] =
    [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];
/// Length of the integrity tag at the end of a Retry, in bytes.
const TAG: usize = 16;

/// What the handshakes with one endpoint have in common.
#[derive(Debug)]
pub(super) struct Handshakes {
    pub(super) config: Arc<ClientConfig>,
    pub(super) name: ServerName<'static>,
}

/// The handshake of one connection.
struct Handshake {
    tls: ClientConnection,
    alpn: Vec<Vec<u8>>,
    first: Suite,
    next: Option<Secrets>,
    told: bool,
    failed: Option<Cause>,
    retried: AtomicBool,
}

/// The result of a connection's handshake.
#[derive(Debug)]
pub struct Agreed {
    facts: Option<(Facts, Option<Vec<u8>>)>,
    /// The cause of its failure, if TLS itself failed.
    pub failed: Option<Cause>,
    /// True if the server validated the client's address with a Retry (RFC 9000, 8.1.2).
    pub retried: bool,
}

impl Agreed {
    /// Returns the result of the handshake of `connection` so far.
    pub fn of(connection: &quinn_proto::Connection) -> Option<Agreed> {
        let told = connection.crypto_session().handshake_data()?;
        told.downcast::<Agreed>().ok().map(|agreed| *agreed)
    }

    /// Returns what was negotiated. `None` before the handshake has finished.
    pub fn facts(&self, offered: bool, room: &mut Room) -> Option<Facts> {
        let (facts, leaf) = self.facts.as_ref()?;
        let certificate = leaf.as_ref().map(|leaf| room.certificate(leaf));
        Some(Facts { offered, certificate, ..*facts })
    }
}

impl QuicClientConfig for Handshakes {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let mut own = Vec::new();
        params.write(&mut own);
        let refused = |_| ConnectError::UnsupportedVersion;
        let first = first_suite().filter(|_| version == VERSION);
        let first = first.ok_or(ConnectError::UnsupportedVersion)?;
        let (config, name) = (self.config.clone(), self.name.clone());
        let alpn = config.alpn_protocols.clone();
        let tls = ClientConnection::new(config, Version::V1, name, own).map_err(refused)?;
        let (told, retried) = (false, AtomicBool::new(false));
        Ok(Box::new(Handshake { tls, alpn, first, next: None, told, failed: None, retried }))
    }
}

impl Handshake {
    fn facts(&self) -> Option<(Facts, Option<Vec<u8>>)> {
        let tls = &self.tls;
        if tls.is_handshaking() {
            return None;
        }
        let kind = tls.handshake_kind()?;
        let chosen = tls.alpn_protocol();
        let number = self.alpn.iter().position(|name| Some(name.as_slice()) == chosen);
        let facts = Facts {
            version: names::version(tls.protocol_version()?),
            cipher: names::cipher(tls.negotiated_cipher_suite()?.suite()),
            group: tls.negotiated_key_exchange_group().map(|group| names::group(group.name())),
            alpn: number.and_then(|number| u8::try_from(number).ok()),
            resumed: kind == HandshakeKind::Resumed,
            offered: false,
            retried: kind == HandshakeKind::FullWithHelloRetryRequest,
            certificate: None,
        };
        let leaf = tls.peer_certificates().and_then(<[_]>::first);
        Some((facts, leaf.map(|leaf| leaf.to_vec())))
    }
}

impl Session for Handshake {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        let side = match side {
            Side::Client => rustls::Side::Client,
            Side::Server => rustls::Side::Server,
        };
        keys(self.first.keys(dst_cid, side, Version::V1))
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        let retried = self.retried.load(Ordering::Relaxed);
        Some(Box::new(Agreed { facts: self.facts(), failed: self.failed, retried }))
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        // Early data (0-RTT) is not used.
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        Some(false)
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        if let Err(error) = self.tls.read_hs(buf) {
            let failure = Failure::from(error);
            let alert = self.tls.alert().map(u8::from);
            self.failed = Some(Cause { alert: alert.or(failure.cause.alert), ..failure.cause });
            let code =
                alert.map_or(TransportErrorCode::PROTOCOL_VIOLATION, TransportErrorCode::crypto);
            return Err(TransportError { reason: failure.to_string(), ..code.into() });
        }
        let ready = self.tls.alpn_protocol().is_some() || !self.tls.is_handshaking();
        Ok(ready && !std::mem::replace(&mut self.told, true))
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let Some(mut bytes) = self.tls.quic_transport_parameters() else { return Ok(None) };
        Ok(Some(TransportParameters::read(Side::Client, &mut bytes)?))
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        Some(keys(match self.tls.write_hs(buf)? {
            KeyChange::Handshake { keys } => keys,
            KeyChange::OneRtt { keys, next } => {
                self.next = Some(next);
                keys
            }
        }))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.next.as_mut()?.next_packet_keys();
        Some(KeyPair { local: Box::new(keys.local), remote: Box::new(keys.remote) })
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let valid = signed(orig_dst_cid, header, payload).is_some();
        self.retried.fetch_or(valid, Ordering::Relaxed);
        valid
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        // Not used.
        Err(ExportKeyingMaterialError)
    }
}

/// Returns the suite that protects Initial packets, whatever is negotiated later (RFC 9001, 5.2).
fn first_suite() -> Option<Suite> {
    use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
    TLS13_AES_128_GCM_SHA256.tls13()?.quic_suite()
}

fn keys(keys: rustls::quic::Keys) -> Keys {
    let (local, remote): (DirectionalKeys, DirectionalKeys) = (keys.local, keys.remote);
    Keys {
        header: KeyPair { local: Box::new(local.header), remote: Box::new(remote.header) },
        packet: KeyPair { local: Box::new(local.packet), remote: Box::new(remote.packet) },
    }
}

/// Verifies the integrity tag of a Retry, which covers the first destination connection ID preceded
/// by its length, and everything before the tag (RFC 9001, 5.8).
fn signed(first: &ConnectionId, header: &[u8], payload: &[u8]) -> Option<()> {
    let (token, tag) = payload.split_at_checked(payload.len().checked_sub(TAG)?)?;
    let length = u8::try_from(first.len()).ok()?;
    let covered = [&[length], &first[..], header, token].concat();
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &RETRY_KEY).ok()?);
    let nonce = Nonce::assume_unique_for_key(RETRY_NONCE);
    key.open_in_place(nonce, Aad::from(covered), &mut tag.to_vec()).ok().map(drop)
}

//! The TLS session of a connection, between the socket and the protocol.

use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus, WriteTraffic,
};
use rustls::{ClientConfig, HandshakeKind};
use sixmark_tally::tls::{Certificate, Facts};
use sixmark_wire::x509;

use super::failure::Failure;
use super::names;
use super::store::Store;

/// Maximum content of a record, in bytes (RFC 8446, 5.1).
const RECORD: usize = 16 * 1024;
/// Overhead of a record in bytes: its header, its content type or a nonce, and the tag.
const OVERHEAD: usize = 5 + 8 + 16;
/// Space for a key update that may precede, in bytes.
const SPARE: usize = 64;
/// Maximum amount of incomplete data that is kept, in bytes. A handshake message of 64 KiB in small
/// records fits.
const MOST_KEPT: usize = 256 * 1024;
/// Maximum number of unused buffers that a worker keeps.
const BUFFERS: usize = 64;
/// Maximum number of server certificates that a worker remembers.
const LEAVES: usize = 64;

/// What the sessions of a worker share, since only one of them works at a time: buffers, so that an
/// idle connection holds none, and the server certificates seen so far.
#[derive(Debug, Default)]
pub struct Room {
    buffers: Vec<Vec<u8>>,
    message: Vec<u8>,
    leaves: Vec<(Vec<u8>, Certificate)>,
}

/// The result of processing received bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// True if the handshake has just finished.
    pub finished: bool,
    /// True if the server announced the end of its data (close_notify).
    pub closed: bool,
}

/// The TLS state of a connection. kTLS could take over after [`Progress::finished`]: the library
/// can export the keys (`dangerous_into_kernel_connection`), and the driver would pass them to the
/// socket. Only tickets and key updates would remain here.
pub struct Session {
    tls: UnbufferedClientConnection,
    /// The beginning of an incomplete record. It uses no memory if there is none.
    kept: Vec<u8>,
    config: Arc<ClientConfig>,
    offered: bool,
    finished: bool,
    /// True if the server has closed its side or something failed: nothing more is read.
    closed: bool,
    /// True if something failed: nothing more is written either.
    failed: bool,
}

impl Session {
    /// Returns true if the beginning of a record has been received, and not its end.
    pub(crate) fn has_partial_record(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Creates a session that has sent nothing yet. With a store, it resumes a session from that.
    pub(super) fn new(
        config: &Arc<ClientConfig>,
        name: &ServerName<'static>,
        store: Option<&Arc<Store>>,
    ) -> Result<Session, Failure> {
        let tls = UnbufferedClientConnection::new(config.clone(), name.clone())?;
        let offered = store.is_some_and(|store| store.was_taken());
        let config = config.clone();
        Ok(Session {
            tls,
            kept: Vec::new(),
            config,
            offered,
            finished: false,
            closed: false,
            failed: false,
        })
    }

    /// Appends the first flight to `out`.
    pub fn start(&mut self, room: &mut Room, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.feed(&[], room, &mut Vec::new(), out).map(drop)
    }

    /// Processes bytes from the socket, however they are split. Appends decrypted data to `plain`
    /// and data to be sent to `out`; on an error, that is the alert for the server.
    pub fn feed(
        &mut self,
        wire: &[u8],
        room: &mut Room,
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<Progress, Failure> {
        let mut bytes = room.buffers.pop().unwrap_or_default();
        bytes.extend_from_slice(&self.kept);
        bytes.extend_from_slice(wire);
        self.kept = Vec::new();
        let (used, done) = self.work(&mut bytes, plain, out);
        // The memory is allocated exactly: the rest of the record may take long to arrive.
        self.kept.extend_from_slice(bytes.get(used..).unwrap_or_default());
        bytes.clear();
        room.give_back(bytes);
        let mut progress = done?;
        progress.finished = !self.finished && !self.tls.is_handshaking();
        self.finished |= progress.finished;
        Ok(progress)
    }

    /// Encrypts `parts`, one after the other, and appends the records to `out`. Fails before the
    /// handshake has finished.
    pub fn write(
        &mut self,
        parts: [&[u8]; 2],
        room: &mut Room,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let [head, body] = parts;
        if head.is_empty() || body.is_empty() {
            return self.encrypt(if head.is_empty() { body } else { head }, out);
        }
        // A record begins with the head and contains as much of the body as fits. Two records would
        // cost more, and would show the server where the head ends.
        let fits = (RECORD - head.len() % RECORD).min(body.len());
        let mut message = std::mem::take(&mut room.message);
        message.clear();
        message.extend_from_slice(head);
        message.extend_from_slice(&body[..fits]);
        let written = self.encrypt(&message, out);
        room.message = message;
        written.and_then(|()| self.encrypt(&body[fits..], out))
    }

    /// Appends a close_notify if the handshake has finished.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        // An error is ignored: the connection is closed in any case.
        let _ = self.with_traffic(out, |mut traffic, out| {
            grown(out, SPARE + OVERHEAD, |to| traffic.queue_close_notify(to))
        });
    }

    /// Returns what was negotiated. `None` before the handshake has finished.
    pub fn facts(&self, room: &mut Room) -> Option<Facts> {
        let tls = &self.tls;
        let kind = tls.handshake_kind().filter(|_| self.finished)?;
        let group = tls.negotiated_key_exchange_group();
        let leaf = tls.peer_certificates().and_then(<[_]>::first);
        Some(Facts {
            version: names::version(tls.protocol_version()?),
            cipher: names::cipher(tls.negotiated_cipher_suite()?.suite()),
            group: group.map(|group| names::group(group.name())),
            alpn: self.alpn_number(),
            resumed: kind == HandshakeKind::Resumed,
            offered: self.offered,
            retried: kind == HandshakeKind::FullWithHelloRetryRequest,
            certificate: leaf.map(|leaf| room.certificate(leaf)),
        })
    }

    /// Returns the application protocol that was negotiated.
    pub fn alpn(&self) -> Option<&[u8]> {
        self.tls.alpn_protocol()
    }
}

#[cfg(test)]
impl Session {
    /// Returns how many bytes of memory the incomplete record occupies.
    pub(super) fn held(&self) -> usize {
        self.kept.capacity()
    }
}

impl std::fmt::Debug for Session {
    /// Omits the keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut of = f.debug_struct("Session");
        of.field("finished", &self.finished).field("closed", &self.closed).finish_non_exhaustive()
    }
}

impl Session {
    fn alpn_number(&self) -> Option<u8> {
        let chosen = self.alpn()?;
        let number = self.config.alpn_protocols.iter().position(|name| name == chosen)?;
        u8::try_from(number).ok()
    }

    /// Processes all complete records. Returns how many bytes are used up, and the result.
    fn work(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> (usize, Result<Progress, Failure>) {
        let (used, done) = self.records(bytes, plain, out);
        let done = if bytes.len().saturating_sub(used) > MOST_KEPT {
            Err(Failure::protocol("the server sent an endless handshake message"))
        } else {
            done
        };
        self.failed |= done.is_err();
        self.closed |= done.as_ref().map_or(true, |progress| progress.closed);
        // Data after a close_notify or a failure is ignored (RFC 8446, 6.1).
        (if self.closed { bytes.len() } else { used }, done)
    }

    /// Processes records. Returns how many bytes are used up, and the result.
    fn records(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> (usize, Result<Progress, Failure>) {
        let (mut used, mut progress) = (0, Progress::default());
        if self.closed {
            return (0, Ok(progress));
        }
        loop {
            let UnbufferedStatus { discard, state, .. } =
                self.tls.process_tls_records(&mut bytes[used..]);
            used += discard;
            let step = match state {
                Ok(ConnectionState::ReadTraffic(mut records)) => {
                    while let Some(Ok(record)) = records.next_record() {
                        plain.extend_from_slice(record.payload);
                        used += record.discard;
                    }
                    Ok(())
                }
                Ok(ConnectionState::EncodeTlsData(data)) => encode_handshake(data, out),
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    Ok(())
                }
                Ok(ConnectionState::PeerClosed) => {
                    progress.closed = true;
                    Ok(())
                }
                Ok(_) => return (used, Ok(progress)),
                Err(error) => Err(self.last_words(error.into(), out)),
            };
            if let Err(failure) = step {
                return (used, Err(failure));
            }
        }
    }

    /// Appends the alert for a failure. Nothing more is read, since the library's position in the
    /// bytes is lost: it must be called only for what it still has to send.
    fn last_words(&mut self, failure: Failure, out: &mut Vec<u8>) -> Failure {
        while self.tls.wants_write() {
            let UnbufferedStatus { state, .. } = self.tls.process_tls_records(&mut []);
            match state {
                Ok(ConnectionState::EncodeTlsData(data)) => drop(encode_handshake(data, out)),
                _ => break,
            }
        }
        failure
    }

    fn encrypt(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        let guess = data.len() + (data.len() / RECORD + 1) * OVERHEAD + SPARE;
        self.with_traffic(out, |mut traffic, out| grown(out, guess, |to| traffic.encrypt(data, to)))
    }

    /// Calls `act` with the keys, after encoding what the library itself has to send.
    fn with_traffic(
        &mut self,
        out: &mut Vec<u8>,
        act: impl FnOnce(WriteTraffic<'_, ClientConnectionData>, &mut Vec<u8>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !self.finished || self.failed {
            return Err(Failure::protocol("the handshake is not finished, or it failed"));
        }
        loop {
            // The incomplete record must be passed, because the library may have a position in it.
            let UnbufferedStatus { state, .. } = self.tls.process_tls_records(&mut self.kept);
            match state? {
                ConnectionState::WriteTraffic(traffic) => return act(traffic, out),
                ConnectionState::EncodeTlsData(data) => encode_handshake(data, out)?,
                ConnectionState::TransmitTlsData(data) => data.done(),
                ConnectionState::PeerClosed => {}
                _ => return Err(Failure::protocol("the connection can no longer be written to")),
            }
        }
    }
}

impl Room {
    /// Returns an empty buffer to the pool.
    fn give_back(&mut self, buffer: Vec<u8>) {
        if self.buffers.len() < BUFFERS && buffer.capacity() <= MOST_KEPT {
            self.buffers.push(buffer);
        }
    }

    /// Returns the facts about a certificate. Comparing it with the known ones, which are few, is
    /// faster than hashing it.
    pub(super) fn certificate(&mut self, der: &[u8]) -> Certificate {
        if let Some((_, known)) = self.leaves.iter().find(|(known, _)| known == der) {
            return *known;
        }
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(digest(&SHA256, der).as_ref());
        let certificate = Certificate { sha256, not_after: x509::not_after(der) };
        if self.leaves.len() < LEAVES {
            self.leaves.push((der.to_vec(), certificate));
        }
        certificate
    }
}

fn encode_handshake(
    mut data: EncodeTlsData<'_, ClientConnectionData>,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    grown(out, RECORD / 8, |to| match data.encode(to) {
        Ok(length) => Ok(length),
        Err(EncodeError::InsufficientSize(size)) => Err(EncryptError::InsufficientSize(size)),
        Err(EncodeError::AlreadyEncoded) => Ok(0),
    })
}

/// Appends what `write` writes into its slice, which is enlarged if `write` needs more.
fn grown(
    out: &mut Vec<u8>,
    guess: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, EncryptError>,
) -> Result<(), Failure> {
    let (start, mut size) = (out.len(), guess);
    loop {
        out.resize(start + size, 0);
        let written = write(&mut out[start..]);
        out.truncate(start + *written.as_ref().unwrap_or(&0));
        match written {
            Ok(_) => return Ok(()),
            Err(EncryptError::InsufficientSize(needed)) if needed.required_size > size => {
                size = needed.required_size;
            }
            Err(_) => return Err(Failure::protocol("the keys of this connection are used up")),
        }
    }
}

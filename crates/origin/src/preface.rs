//! Detects the HTTP version of a plain-text connection, on which none was negotiated.

use std::io::{self, ErrorKind};

use tokio::net::TcpStream;

/// The first bytes of a client that uses HTTP/2 with prior knowledge (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The first bytes from a client, and the version that they imply.
pub(super) struct First {
    pub(super) is_http2: bool,
    /// All bytes read for the detection. They must be passed on to the HTTP implementation.
    pub(super) read: Vec<u8>,
}

/// Reads until the version is known. If the stream ends before that, the result is HTTP/1.1, whose
/// implementation handles the end.
pub(super) async fn read_preface(stream: &TcpStream) -> io::Result<First> {
    let mut read = Vec::new();
    loop {
        stream.readable().await?;
        let ended = match take(stream, &mut read) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            taken => taken? == 0,
        };
        if let Some(is_http2) = judge(&read).or(ended.then_some(false)) {
            return Ok(First { is_http2, read });
        }
    }
}

/// Reads the bytes available. The buffer is not kept while waiting for a client, because there may
/// be ten thousand clients.
fn take(stream: &TcpStream, read: &mut Vec<u8>) -> io::Result<usize> {
    let mut bytes = [0; 1024];
    let count = stream.try_read(&mut bytes)?;
    read.extend_from_slice(&bytes[..count]);
    Ok(count)
}

/// Returns whether the bytes are the HTTP/2 preface, or `None` if more bytes are needed.
fn judge(read: &[u8]) -> Option<bool> {
    let common = read.len().min(PREFACE.len());
    if read[..common] == PREFACE[..common] {
        (common == PREFACE.len()).then_some(true)
    } else {
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_http2_only_by_the_whole_preface() {
        for (read, judged) in [
            (&b""[..], None),
            (b"PRI", None),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r", None),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Some(true)),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0", Some(true)),
            (b"G", Some(false)),
            (b"PUT", Some(false)),
            (b"PRI * HTTP/1.1\r\n", Some(false)),
        ] {
            assert_eq!(judge(read), judged, "{}", read.escape_ascii());
        }
    }
}

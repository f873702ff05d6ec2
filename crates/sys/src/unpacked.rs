//! Files that gzip or Zstandard compressed, read as what was compressed. Memory does not depend on
//! what a file claims: gzip needs a window of 32 KiB, and Zstandard's are bounded by the decoder.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The number of first bytes that tell how a file is compressed.
pub const PACKING_BYTES: usize = ZSTD.len();

/// The number of bytes that are decompressed at once.
const PIECE: usize = 1 << 20;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// gzip (RFC 1952), of one or more members.
    Gzip,
    /// Zstandard (RFC 8878), of one or more frames.
    Zstd,
}

impl Packing {
    /// Returns how a file that begins with these bytes is compressed, if it is.
    pub fn of(begin: &[u8]) -> Option<Packing> {
        match () {
            () if begin.starts_with(&GZIP) => Some(Packing::Gzip),
            () if begin.starts_with(&ZSTD) => Some(Packing::Zstd),
            () => None,
        }
    }

    /// Returns a reader of what was compressed. `from` begins with the first byte of the file.
    pub fn unpack<'a>(self, from: impl BufRead + Send + 'a) -> Box<dyn Read + Send + 'a> {
        match self {
            Packing::Gzip => Box::new(MultiGzDecoder::new(from)),
            Packing::Zstd => Box::new(ZstdFrames { from, frame: None }),
        }
    }
}

/// Consecutive Zstandard frames, as `zstd` itself decodes them (RFC 8878, 3.1).
struct ZstdFrames<R> {
    from: R,
    frame: Option<FrameDecoder>,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.frame.is_some() || self.next_frame()? {
            let Some(frame) = &mut self.frame else { continue };
            while frame.can_collect() == 0 && !frame.is_finished() {
                let some = BlockDecodingStrategy::UptoBytes(PIECE);
                frame.decode_blocks(&mut self.from, some).map_err(broken)?;
            }
            match frame.read(to)? {
                0 if !to.is_empty() => self.frame = None,
                read => return Ok(read),
            }
        }
        Ok(0)
    }
}

impl<R: BufRead> ZstdFrames<R> {
    /// Reads the header of the next frame. Returns false at the end of the input. A skippable frame
    /// is skipped and counts as a frame.
    fn next_frame(&mut self) -> io::Result<bool> {
        if self.from.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut frame = FrameDecoder::new();
        match frame.init(&mut self.from) {
            Ok(()) => self.frame = Some(frame),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                io::copy(&mut self.from.by_ref().take(length.into()), &mut io::sink())?;
            }
            Err(error) => return Err(broken(error)),
        }
        Ok(true)
    }
}

fn broken(error: FrameDecoderError) -> io::Error {
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    const TEXT: &[u8] = b"first\nsecond\n";

    fn packed() -> [Vec<u8>; 2] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(TEXT).unwrap();
        [gzip.finish().unwrap(), compress_to_vec(TEXT, CompressionLevel::Fastest)]
    }

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Packing::of(bytes).unwrap().unpack(bytes).read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn decompresses_files_of_one_and_of_several_parts() {
        for bytes in packed() {
            assert_eq!(unpacked(&bytes).unwrap(), TEXT);
            assert_eq!(unpacked(&[&bytes[..], &bytes].concat()).unwrap(), [TEXT, TEXT].concat());
        }
        assert_eq!(Packing::of(TEXT), None);
        assert_eq!(Packing::of(b""), None);
    }

    #[test]
    fn rejects_truncated_files_and_excessive_window_sizes() {
        for bytes in packed() {
            for end in PACKING_BYTES..bytes.len() {
                assert!(unpacked(&bytes[..end]).is_err(), "{end} of {}", bytes.len());
            }
        }
        // A frame that claims a window of 3.75 TiB (RFC 8878, 3.1.1.1.2).
        let claims = [&ZSTD[..], &[0x00, 0xff], &[0x01, 0, 0]].concat();
        assert!(unpacked(&claims).is_err());
    }
}

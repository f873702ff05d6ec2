//! Removal of content codings (RFC 9110, 8.4.1).

use std::borrow::Cow;
use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

use super::MOST_CONTENT;

/// The most codings that may be applied to one content.
const MOST_CODINGS: usize = 4;

/// Removes the codings listed in Content-Encoding from `content`, the last one first. A response
/// without content, such as that to HEAD, has nothing to decode: its field describes what another
/// one would contain (RFC 9110, 8.4).
pub(super) fn decode_content<'a>(
    content: &'a [u8],
    codings: &str,
) -> Result<Cow<'a, [u8]>, String> {
    if content.is_empty() {
        return Ok(Cow::Borrowed(content));
    }
    let codings: Vec<&str> = codings.split(',').map(str::trim).filter(|c| !c.is_empty()).collect();
    if codings.len() > MOST_CODINGS {
        return Err(format!("more than {MOST_CODINGS} content codings"));
    }
    let mut decoded = Cow::Borrowed(content);
    for coding in codings.iter().rev().filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
        decoded = Cow::Owned(decode_one(&decoded, coding)?);
    }
    Ok(decoded)
}

fn decode_one(content: &[u8], coding: &str) -> Result<Vec<u8>, String> {
    match coding.to_ascii_lowercase().as_str() {
        // RFC 9110, 8.4.1.3: both names mean the same coding.
        "gzip" | "x-gzip" => read_decoded(MultiGzDecoder::new(content), coding),
        "deflate" if is_zlib(content) => read_decoded(ZlibDecoder::new(content), coding),
        // RFC 9110, 8.4.1.2: some servers send the data without the zlib format around it.
        "deflate" => read_decoded(DeflateDecoder::new(content), coding),
        "br" => read_decoded(brotli_decompressor::Decompressor::new(content, 4_096), coding),
        "zstd" => match StreamingDecoder::new(content) {
            Ok(decoder) => read_decoded(decoder, coding),
            Err(_) => Err(broken(coding)),
        },
        _ => Err(format!("unknown content coding '{}'", coding.escape_default())),
    }
}

/// RFC 1950, 2.2: the method is 8, and the first two bytes form a multiple of 31.
fn is_zlib(content: &[u8]) -> bool {
    matches!(content, [first, second, ..]
        if first & 0xf == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

/// Decodes no more than the checks examine, because a few kilobytes can expand to gigabytes.
fn read_decoded(from: impl Read, coding: &str) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let most = MOST_CONTENT as u64 + 1;
    from.take(most).read_to_end(&mut content).map_err(|_| broken(coding))?;
    if content.len() > MOST_CONTENT {
        Err(format!("more than {MOST_CONTENT} bytes once decoded"))
    } else {
        Ok(content)
    }
}

fn broken(coding: &str) -> String {
    format!("content that is not valid {coding}")
}

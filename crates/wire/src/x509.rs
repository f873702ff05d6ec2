//! The fields of an X.509 certificate (RFC 5280) that sixmark reports: validity, version, public
//! key and permitted use. The input is untrusted.

use sixmark_units::calendar::days_since_1970;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
/// `[0]`, constructed: the version, which version 1 certificates omit.
const VERSION: u8 = 0xa0;
const BOOLEAN: u8 = 0x01;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
/// `[3]`, constructed.
const EXTENSIONS: u8 = 0xa3;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The object identifiers of basicConstraints (RFC 5280, 4.2.1.9), extKeyUsage (4.2.1.12) and its
/// purpose serverAuth.
const CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const PURPOSES: &[u8] = &[0x55, 0x1d, 0x25];
const FOR_SERVERS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
/// The object identifier of rsaEncryption (RFC 8017, A.1).
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// Returns the last second of a DER certificate's validity, in seconds since 1970 in UTC. Returns
/// `None` if the bytes are not a certificate.
pub fn not_after(der: &[u8]) -> Option<i64> {
    let (validity, _) = validity(der)?;
    let (_, _not_before, rest) = element(validity)?;
    let (tag, text, _) = element(rest)?;
    parse_time(tag, text)
}

/// Returns the first second of a DER certificate's validity, in the same form as [`not_after`].
pub fn not_before(der: &[u8]) -> Option<i64> {
    let (validity, _) = validity(der)?;
    let (tag, text, _) = element(validity)?;
    parse_time(tag, text)
}

/// Returns the version, 1 to 3. Only version 3 has extensions, which include the names of servers.
pub fn version(der: &[u8]) -> Option<u8> {
    let (signed, _) = expect(SEQUENCE, expect(SEQUENCE, der)?.0)?;
    let Some((number, _)) = expect(VERSION, signed) else { return Some(1) };
    match expect(INTEGER, number)?.0 {
        &[number @ 0..=2] => Some(number + 1),
        _ => None,
    }
}

/// Returns the public key as an encoded element (SubjectPublicKeyInfo).
pub fn public_key(der: &[u8]) -> Option<&[u8]> {
    let (_, rest) = validity(der)?;
    let (_subject, rest) = expect(SEQUENCE, rest)?;
    let (_, after) = expect(SEQUENCE, rest)?;
    rest.get(..rest.len() - after.len())
}

/// Splits a public key from [`public_key`] into the algorithm identifier and the key itself.
pub fn key_parts(key: &[u8]) -> Option<(&[u8], &[u8])> {
    let (parts, _) = expect(SEQUENCE, key)?;
    let (algorithm, rest) = expect(SEQUENCE, parts)?;
    let (bits, _) = expect(BIT_STRING, rest)?;
    // The key is whole bytes: the last one has no unused bits.
    Some((algorithm, bits.strip_prefix(&[0])?))
}

/// Returns the length in bits of a certificate's key, if that is of RSA.
pub fn rsa_bits(der: &[u8]) -> Option<usize> {
    let (algorithm, key) = key_parts(public_key(der)?)?;
    expect(OBJECT, algorithm).filter(|&(name, _)| name == RSA)?;
    let (modulus, _) = expect(INTEGER, expect(SEQUENCE, key)?.0)?;
    let zeros = modulus.iter().take_while(|&&byte| byte == 0).count();
    let first = modulus.get(zeros)?;
    Some((modulus.len() - zeros) * 8 - first.leading_zeros() as usize)
}

/// Returns whether the certificate is one of a certificate authority (CA:TRUE).
pub fn is_authority(der: &[u8]) -> bool {
    let constraints = extension(der, CONSTRAINTS).and_then(|value| expect(SEQUENCE, value));
    let authority = constraints.and_then(|(fields, _)| expect(BOOLEAN, fields));
    authority.is_some_and(|(value, _)| value != [0])
}

/// Returns whether the certificate may identify a server: it restricts no purposes, or permits
/// serverAuth.
pub fn is_for_servers(der: &[u8]) -> bool {
    let Some(value) = extension(der, PURPOSES) else { return true };
    let Some((mut rest, _)) = expect(SEQUENCE, value) else { return false };
    while let Some((purpose, after)) = expect(OBJECT, rest) {
        if purpose == FOR_SERVERS {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns the validity field of the signed part, and the fields after it.
fn validity(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (certificate, _) = expect(SEQUENCE, der)?;
    let (signed, _) = expect(SEQUENCE, certificate)?;
    let after_version = expect(VERSION, signed).map_or(signed, |(_, rest)| rest);
    let (_serial, rest) = expect(INTEGER, after_version)?;
    let (_algorithm, rest) = expect(SEQUENCE, rest)?;
    let (_issuer, rest) = expect(SEQUENCE, rest)?;
    expect(SEQUENCE, rest)
}

/// Returns the value of an extension.
fn extension<'a>(der: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let (_, rest) = validity(der)?;
    let (_subject, rest) = expect(SEQUENCE, rest)?;
    let (_key, mut rest) = expect(SEQUENCE, rest)?;
    // Two unique identifiers may precede the extensions; they are not in use.
    let all = loop {
        let (tag, content, after) = element(rest)?;
        if tag == EXTENSIONS {
            break content;
        }
        rest = after;
    };
    let (mut rest, _) = expect(SEQUENCE, all)?;
    while let Some((extension, after)) = expect(SEQUENCE, rest) {
        let (name, value) = expect(OBJECT, extension)?;
        if name == wanted {
            let value = expect(BOOLEAN, value).map_or(value, |(_critical, rest)| rest);
            return expect(OCTET_STRING, value).map(|(content, _)| content);
        }
        rest = after;
    }
    None
}

/// Formats a time in UTC as in RFC 3339, with a resolution of one second.
pub fn rfc3339(unix_s: i64) -> String {
    let (days, second) = (unix_s.div_euclid(86_400), unix_s.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn expect(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    element(bytes).and_then(|(found, content, rest)| (found == tag).then_some((content, rest)))
}

/// Returns the tag and content of the first element, and the bytes after it (X.690, 8.1).
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // The length itself has this many bytes; four are enough for any certificate.
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Parses `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ` (RFC 5280, 4.1.2.5).
fn parse_time(tag: u8, text: &[u8]) -> Option<i64> {
    let digits = text.strip_suffix(b"Z")?;
    let (year, rest) = match (tag, digits.len()) {
        (UTC_TIME, 12) => (parse_digits(&digits[..2])?, &digits[2..]),
        (GENERALIZED_TIME, 14) => (parse_digits(&digits[..4])?, &digits[4..]),
        _ => return None,
    };
    let year = match tag {
        UTC_TIME if year < 50 => year + 2_000,
        UTC_TIME => year + 1_900,
        _ => year,
    };
    let part = |at: usize| parse_digits(&rest[at..at + 2]);
    let (month, day) = (part(0)?, part(2)?);
    let legal = (1..=12).contains(&month) && (1..=31).contains(&day);
    legal.then_some(())?;
    let of_day = part(4)? * 3_600 + part(6)? * 60 + part(8)?;
    Some(days_since_1970(year, month, day) * 86_400 + of_day)
}

fn parse_digits(digits: &[u8]) -> Option<i64> {
    let all = digits.iter().all(u8::is_ascii_digit);
    all.then(|| digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Converts days since 1970-01-01 to year, month and day; the inverse of [`days_since_1970`].
fn date(days_from_1970: i64) -> (i64, i64, i64) {
    let march = |year| days_since_1970(year, 3, 1);
    // 400 years have 146,097 days, so the guess is at most one year off.
    let guess = 1970
        + days_from_1970.div_euclid(146_097) * 400
        + days_from_1970.rem_euclid(146_097) * 400 / 146_097;
    let year = (guess - 1..=guess + 1).rev().find(|&y| march(y) <= days_from_1970).unwrap_or(guess);
    let of_year = days_from_1970 - march(year);
    let month = (of_year * 5 + 2) / 153;
    let day = of_year - (month * 153 + 2) / 5 + 1;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, 0x82, (content.len() >> 8) as u8, content.len() as u8], content].concat()
    }

    fn certificate(version: bool, tag: u8, not_after: &str) -> Vec<u8> {
        let validity =
            [wrapped(UTC_TIME, b"200101000000Z"), wrapped(tag, not_after.as_bytes())].concat();
        let mut signed = Vec::new();
        if version {
            signed.extend(wrapped(VERSION, &[2, 1, 2]));
        }
        signed.extend(wrapped(INTEGER, &[7; 20]));
        signed.extend(wrapped(SEQUENCE, &[1; 300]));
        signed.extend(wrapped(SEQUENCE, &[]));
        signed.extend(wrapped(SEQUENCE, &validity));
        wrapped(SEQUENCE, &wrapped(SEQUENCE, &signed))
    }

    #[test]
    fn reads_the_expiry_date_in_either_time_format() {
        for (tag, text, expected) in [
            (UTC_TIME, "260101120000Z", "2026-01-01T12:00:00Z"),
            (UTC_TIME, "491231235959Z", "2049-12-31T23:59:59Z"),
            (UTC_TIME, "500101000000Z", "1950-01-01T00:00:00Z"),
            (GENERALIZED_TIME, "20240229000001Z", "2024-02-29T00:00:01Z"),
            (GENERALIZED_TIME, "99991231235959Z", "9999-12-31T23:59:59Z"),
        ] {
            for version in [true, false] {
                let read = not_after(&certificate(version, tag, text));
                assert_eq!(read.map(rfc3339).as_deref(), Some(expected));
            }
        }
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn survives_damaged_certificates_without_panicking() {
        let good = certificate(true, UTC_TIME, "260101120000Z");
        for length in 0..good.len() {
            assert_eq!(not_after(&good[..length]), None, "{length} bytes");
        }
        for (at, wrong) in (0..good.len()).flat_map(|at| [0, 0x7f, 0x80, 0xff].map(|b| (at, b))) {
            let mut bad = good.clone();
            bad[at] = wrong;
            let _ = not_after(&bad);
        }
        for text in ["261301120000Z", "260100120000Z", "2601011200Z", "26010112000AZ", ""] {
            assert_eq!(not_after(&certificate(true, UTC_TIME, text)), None, "{text}");
        }
    }

    /// A certificate with this algorithm and this modulus in its key.
    fn keyed(algorithm: &[u8], modulus: &[u8]) -> Vec<u8> {
        let key = wrapped(SEQUENCE, &[wrapped(INTEGER, modulus), wrapped(INTEGER, &[3])].concat());
        let bits = wrapped(BIT_STRING, &[&[0], &key[..]].concat());
        let algorithm = wrapped(SEQUENCE, &wrapped(OBJECT, algorithm));
        let info = wrapped(SEQUENCE, &[algorithm, bits].concat());
        let validity = [wrapped(UTC_TIME, b"200101000000Z"), wrapped(UTC_TIME, b"400101000000Z")];
        let signed = [
            wrapped(INTEGER, &[7]),
            wrapped(SEQUENCE, &[]),
            wrapped(SEQUENCE, &[]),
            wrapped(SEQUENCE, &validity.concat()),
            wrapped(SEQUENCE, &[]),
            info,
        ];
        wrapped(SEQUENCE, &wrapped(SEQUENCE, &signed.concat()))
    }

    #[test]
    fn the_length_of_an_rsa_key_is_that_of_its_modulus() {
        for (modulus, bits) in [
            ([&[0, 0x80], &[1; 127][..]].concat(), 1024),
            ([&[0x7f], &[1; 127][..]].concat(), 1023),
            ([&[0, 0xff], &[0; 255][..]].concat(), 2048),
            (vec![1], 1),
        ] {
            let certificate = keyed(RSA, &modulus);
            assert_eq!(rsa_bits(&certificate), Some(bits));
            for length in 0..certificate.len() {
                let _ = rsa_bits(&certificate[..length]);
            }
        }
        assert_eq!(rsa_bits(&keyed(RSA, &[0])), None);
        assert_eq!(rsa_bits(&keyed(CONSTRAINTS, &[1; 128])), None);
    }

    #[test]
    fn converts_days_to_dates_and_back() {
        for number in (-800_000..3_000_000).step_by(97) {
            let (year, month, day) = date(number);
            assert_eq!(days_since_1970(year, month, day), number, "{year}-{month}-{day}");
        }
    }
}

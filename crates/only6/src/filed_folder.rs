//! What is filed of a test: a folder with the document, the page, a capture of each start, and the hashes of all.
//!
//! The hashes show a changed file. The captures show more: from them the document is computed again, so that
//! figures and packets which do not belong together are found even if the hashes were made anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::IpAddr;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use sixmark_wire::pcap::{Format, NextRecord};

use crate::app_scenario::{AppScenario, NodeAccess};
use crate::app_start::AppStart;
use crate::app_wire::AppWire;
use crate::judge_program::{JudgedSide, ScenarioStarts, judge_program};
use crate::only6_result::{Only6Result, SCHEMA};
use crate::only6_warnings::{RUN_WARNINGS, only6_warnings};
use crate::scenario_lab::{CLAT, CLIENT, NAT64, SERVER, link_addresses};
use crate::wire_reader::{ObservedHost, WireReader};

/// The document.
pub const DOCUMENT: &str = "only6.json";
/// The page.
pub const PAGE: &str = "only6.html";
/// The report in Markdown.
pub const MARKDOWN: &str = "only6.md";
/// The hashes of all other files, as sha256sum(1) writes and checks them.
pub const SUMS: &str = "SHA256SUMS";
/// The folder of captures.
pub const CAPTURES: &str = "captures";
/// The bytes of the content that sixmark's own server sends.
const CONTENT_BYTES: u64 = 1_000;
/// The bytes in the header of a capture file.
const FILE_HEADER: usize = 24;
/// The most differences that are reported.
const MOST: usize = 20;

/// Returns what is looked for in the packets of a client. Of the user's own server any answer is content.
pub fn observed_client(scenario: &AppScenario, is_users_server: bool) -> ObservedHost {
    let content_bytes = if is_users_server { 1 } else { CONTENT_BYTES };
    observed(CLIENT, scenario.client, content_bytes)
}

/// Returns what is looked for in the packets of a server, as the client of its backend.
pub fn observed_server(scenario: &AppScenario) -> ObservedHost {
    observed(SERVER, scenario.server, CONTENT_BYTES)
}

fn observed(host: &str, access: NodeAccess, content_bytes: u64) -> ObservedHost {
    let addresses: Vec<IpAddr> = link_addresses(host, access);
    let clat = (access == NodeAccess::Clat).then_some(CLAT);
    ObservedHost { addresses, clat, nat64: NAT64, content_bytes }
}

/// Returns the path of the capture of a start in the folder, by the name of its scenario; starts count from 1.
pub fn capture_path(scenario: &str, start: usize) -> String {
    format!("{CAPTURES}/{scenario}-{start}.pcap")
}

/// Returns bytes in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the SHA-256 of some bytes in hexadecimal.
pub fn hash_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns the text of the file of hashes: a line for each file, its hash and its path.
pub fn write_sums(files: &[(String, String)]) -> String {
    files.iter().map(|(path, hash)| format!("{hash}  {path}\n")).collect()
}

/// Parses the file of hashes. Returns paths and hashes.
///
/// # Errors
/// Returns an error if a line is none of a hash and a path within the folder, or names a file again.
pub fn parse_sums(text: &str) -> Result<Vec<(String, String)>, String> {
    let line = |(number, line): (usize, &str)| {
        let wrong = |why: &str| format!("{SUMS}: line {}: {why}", number + 1);
        let (hash, path) =
            line.split_once("  ").ok_or_else(|| wrong("is not a hash and a path"))?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|of| of.is_ascii_hexdigit());
        if !is_hash {
            return Err(wrong("does not begin with a SHA-256"));
        }
        let is_within = !path.is_empty()
            && !path.starts_with('/')
            && path.split('/').all(|of| !matches!(of, "" | "." | ".."));
        if !is_within {
            return Err(wrong("names a file outside the folder"));
        }
        Ok((path.to_owned(), hash.to_ascii_lowercase()))
    };
    let all: Vec<(String, String)> =
        text.lines().enumerate().map(line).collect::<Result<_, _>>()?;
    let mut known = BTreeSet::new();
    match all.iter().find(|of| !known.insert(of.0.as_str())) {
        Some((path, _)) => Err(format!("{SUMS}: names {path} twice")),
        None => Ok(all),
    }
}

/// Reads what a program did from a capture.
///
/// # Errors
/// Returns an error if the file is not a capture of this program.
pub fn read_capture(bytes: &[u8], observed: ObservedHost) -> Result<AppWire, String> {
    let header = bytes.get(..FILE_HEADER).ok_or("is too short for a capture")?;
    let format = Format::read(header)?;
    let mut reader = WireReader::new(observed);
    let mut rest = &bytes[FILE_HEADER..];
    loop {
        match format.next(rest) {
            NextRecord::Record(record, behind) => {
                reader.take(record.bytes, record.length as usize, record.at_ns);
                rest = behind;
            }
            _ if rest.is_empty() => return Ok(reader.wire().clone()),
            _ => return Err("ends within a packet, or has a packet that is none".to_owned()),
        }
    }
}

/// Computes a document again from its captures. Returns where it differs, at most 20 places. `read` returns a file
/// of the folder, or why it can't be read.
///
/// # Errors
/// Returns an error if a capture can't be read, if a scenario is listed twice, or if the document is of another format.
pub fn compute_again(
    result: &Only6Result,
    read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Vec<String>, String> {
    if result.schema != SCHEMA {
        return Err(format!("{DOCUMENT}: is not of the format {SCHEMA}"));
    }
    let (mut seen, mut names) = (Vec::new(), BTreeSet::new());
    for of in &result.scenarios {
        if !names.insert(of.name()) {
            return Err(format!("{DOCUMENT}: {} is listed twice", of.name()));
        }
        let scenario = AppScenario::named(&of.scenario)
            .ok_or_else(|| format!("{DOCUMENT}: no scenario is called '{}'", of.scenario))?;
        let observed = match &result.programs.client {
            Some(_) => observed_client(scenario, result.programs.server.is_some()),
            None => observed_server(scenario),
        };
        let mut starts = Vec::new();
        for (number, start) in of.starts.iter().enumerate() {
            let path = capture_path(&of.name(), number + 1);
            let bytes = read(&path)?;
            let is_without = result.programs.client.is_some() && start.is_without_client();
            let wire = if bytes.is_empty() && is_without {
                AppWire::default()
            } else {
                read_capture(&bytes, observed.clone()).map_err(|why| format!("{path}: {why}"))?
            };
            starts.push(AppStart { wire, ..start.clone() });
        }
        seen.push(ScenarioStarts { scenario, backend: of.backend, starts });
    }
    let side = match result.programs.client {
        Some(_) => JudgedSide::Client,
        None => JudgedSide::Server,
    };
    let (scenarios, findings) = judge_program(side, seen);
    let of_run = result.warnings.iter().filter(|of| RUN_WARNINGS.contains(&of.code.as_str()));
    let warnings = only6_warnings(&scenarios).into_iter().chain(of_run.cloned()).collect();
    let again = Only6Result { scenarios, findings, warnings, ..result.clone() };
    let value = |of: &Only6Result| serde_json::to_value(of).map_err(|error| error.to_string());
    let mut places = Vec::new();
    find_differences("", &value(result)?, &value(&again)?, &mut places);
    Ok(places)
}

/// Adds the places at which two values differ, as JSON pointers (RFC 6901), with both.
fn find_differences(place: &str, kept: &Value, again: &Value, places: &mut Vec<String>) {
    if places.len() >= MOST || kept == again {
        return;
    }
    match (kept, again) {
        (Value::Object(kept), Value::Object(again)) if kept.keys().eq(again.keys()) => {
            for (key, value) in kept {
                find_differences(&format!("{place}/{key}"), value, &again[key], places);
            }
        }
        (Value::Array(kept), Value::Array(again)) if kept.len() == again.len() => {
            for (at, (kept, again)) in kept.iter().zip(again).enumerate() {
                find_differences(&format!("{place}/{at}"), kept, again, places);
            }
        }
        _ => {
            let short = |of: &Value| of.to_string().chars().take(80).collect::<String>();
            places.push(format!("{place} is {}, the captures show {}", short(kept), short(again)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_written_as_sha256sum_does_and_read_again() {
        let files = vec![("a".to_owned(), hash_bytes(b"")), ("b/c".to_owned(), hash_bytes(b"x"))];
        let text = write_sums(&files);
        assert!(text.starts_with("e3b0c44298fc1c149afbf4c8996fb924"), "{text}");
        assert_eq!(parse_sums(&text).unwrap(), files);
        for bad in [
            "x",
            "00  a",
            &format!("{}  ../a", hash_bytes(b"")),
            &format!("{}  /a", hash_bytes(b"")),
            &format!("{0}  a\n{0}  b\n{0}  a\n", hash_bytes(b"")),
        ] {
            assert!(parse_sums(bad).unwrap_err().starts_with("SHA256SUMS: "), "{bad}");
        }
    }

    #[test]
    fn differences_are_named_by_their_place() {
        let mut places = Vec::new();
        let [kept, again] = [r#"{"a":[1,2],"b":"x"}"#, r#"{"a":[1,3],"b":"x"}"#]
            .map(|text| serde_json::from_str::<Value>(text).unwrap());
        find_differences("", &kept, &again, &mut places);
        assert_eq!(places, ["/a/1 is 2, the captures show 3"]);
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        let observed = observed_server(AppScenario::named("dual-to-dual").unwrap());
        assert!(read_capture(b"x", observed.clone()).is_err());
        assert!(read_capture(&[0; 40], observed).is_err());
    }
}

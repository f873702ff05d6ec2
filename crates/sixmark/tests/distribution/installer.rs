//! packaging/install.sh: it installs an archive whose sum is right, and nothing of any other.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest as _, Sha256};
use sixmark_testkit::skipped;

use crate::files::{find_file, text_of};
use crate::nats_server::{ask_doctor, found_in};

/// A folder with the archive of the packages, and its sum.
fn release() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let archive = find_file("-linux.tar.xz");
    let name = archive.file_name().unwrap().to_str().unwrap();
    fs::copy(&archive, folder.path().join(name)).unwrap();
    let digest = Sha256::digest(fs::read(&archive).unwrap());
    let sum: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(folder.path().join("SHA256SUMS"), format!("{sum}  {name}\n")).unwrap();
    (folder, sum)
}

fn install(words: &[&str], to: &Path) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/install.sh");
    let mut command = Command::new("sh");
    command.arg(script).args(words).args(["--to", to.to_str().unwrap()]);
    command.output().unwrap()
}

fn check_installed(output: &Output, to: &Path) {
    assert!(output.status.success(), "{}", text_of(output));
    let said = text_of(output);
    assert!(said.contains(&format!("is in {}/bin", to.display())), "{said}");
    let doctor = ask_doctor(&to.join("bin"));
    let server = to.join("lib/sixmark/nats-server");
    assert_eq!(found_in(&doctor).as_deref(), server.to_str(), "{doctor}");
    for name in ["share/man/man1/sixmark-run.1.gz", "share/doc/sixmark/THIRD-PARTY-LICENSES"] {
        assert!(to.join(name).is_file(), "{name}");
    }
}

/// Serves the files of a folder as a release of this version, until the test ends.
fn serve(folder: PathBuf) -> String {
    let listener = TcpListener::bind("[::1]:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &folder);
        }
    });
    format!("http://{address}/releases/download")
}

fn answer(mut stream: TcpStream, folder: &Path) {
    let head = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let head: Vec<String> = head.take_while(|line| !line.is_empty()).collect();
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let begin = concat!("/releases/download/v", env!("CARGO_PKG_VERSION"), "/");
    let file = path.strip_prefix(begin).and_then(|name| fs::read(folder.join(name)).ok());
    let (status, body) = file.map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(&body);
}

#[test]
fn installs_a_verified_archive_from_a_folder_or_a_server() {
    if skipped("distribution") || skipped("curl") {
        return;
    }
    let (folder, sum) = release();
    let at = folder.path().to_str().unwrap();
    let to = folder.path().join("from a folder");
    check_installed(&install(&["--from", at], &to), &to);
    // Over one that is there.
    check_installed(&install(&["--from", at, "--sha256", &sum], &to), &to);
    let url = serve(folder.path().to_owned());
    let to = folder.path().join("from a server");
    check_installed(&install(&["--from", &url], &to), &to);
    let output = install(&["--from", &url, "--version", "9.8.7"], &to);
    assert!(text_of(&output).contains("can't download"), "{}", text_of(&output));
}

#[test]
fn installs_nothing_when_the_checksum_does_not_match() {
    if skipped("distribution") {
        return;
    }
    let (folder, sum) = release();
    let at = folder.path().to_str().unwrap();
    let to = folder.path().join("to");
    let refused = |words: &[&str], why: &str| {
        let output = install(words, &to);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{said}");
        assert!(!to.exists(), "something was installed");
    };
    let wrong = "0".repeat(64);
    refused(&["--from", at, "--sha256", &wrong], &format!("has the checksum {sum}, not {wrong}"));
    let sums = folder.path().join("SHA256SUMS");
    let right = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, right.replace(&sum, &wrong)).unwrap();
    refused(&["--from", at], "nothing is installed");
    fs::write(&sums, right.replace("sixmark-", "another-")).unwrap();
    refused(&["--from", at], "SHA256SUMS does not name sixmark-");
    refused(&[], "--from is missing");
    refused(&["--from", at, "--version", "../1"], "is no version");
    refused(&["--from", at, "--force"], "no option '--force'");
}

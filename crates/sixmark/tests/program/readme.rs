//! The README and the pages of docs/: their commands work as they are written, their links lead somewhere, and each page
//! begins with a command and its output.
//!
//! A command is a line of a `console` block that begins with `$ `. Each is carried out here, with the substitutions of
//! [`HERE`], or named in [`ELSEWHERE`] with the file of the tests that carry it out.

use std::collections::BTreeSet;
use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sixmark_testkit::Origin;

/// Commands that another test carries out, by how they begin: they need root, a lab, other programs or another machine.
const ELSEWHERE: &[(&str, &str)] = &[
    ("make ", "Makefile"),
    ("cargo ", ".ci/run"),
    ("tar xf sixmark", "crates/sixmark/tests/distribution/static_binary.rs"),
    ("install -m 755 sixmark", "crates/sixmark/tests/distribution/static_binary.rs"),
    ("install -D -m 755 sixmark", "crates/sixmark/tests/distribution/nats_server.rs"),
    ("scripts/install-nats-server", "Makefile"),
    ("(cd target/dist && sha256sum", "crates/sixmark/tests/distribution/installer.rs"),
    ("packaging/install.sh", "crates/sixmark/tests/distribution/installer.rs"),
    ("rpmbuild ", "crates/sixmark/tests/distribution/repacked.rs"),
    ("cp target/dist/", "crates/sixmark/tests/distribution/repacked.rs"),
    ("(cd packaging/arch", "crates/sixmark/tests/distribution/repacked.rs"),
    ("nix ", "flake.nix"),
    ("sixmark run --cert ", "crates/sixmark/tests/program/cli/tls/clients.rs"),
    ("apt install ./sixmark", "crates/sixmark/tests/distribution/debian.rs"),
    ("man sixmark", "crates/sixmark/tests/distribution/debian.rs"),
    ("sixmark study run /usr/share", "crates/sixmark/tests/distribution/debian.rs"),
    ("systemctl enable", "crates/sixmark/tests/distribution/debian.rs"),
    ("podman ", "crates/sixmark/tests/distribution/image.rs"),
    ("scripts/release ", "crates/sixmark/tests/release/script.rs"),
    ("sixmark lab up", "crates/sixmark/tests/lab/many.rs"),
    ("sixmark lab status", "crates/sixmark/tests/lab/doors.rs"),
    ("sixmark lab exec", "crates/sixmark/tests/lab/nat64.rs"),
    ("sixmark lab down", "crates/sixmark/tests/lab/doors.rs"),
    ("sixmark study run regensburg --quick", "crates/sixmark/tests/servers/studies.rs"),
    ("sixmark study run anma --quick --in-lab", "crates/sixmark/tests/lab/in_labs.rs"),
    ("sixmark study run blackhole --quick", "crates/sixmark/tests/lab/in_labs.rs"),
    ("sixmark study run ipv6-only", "crates/sixmark/tests/lab/in_labs.rs"),
    ("sixmark study run lazy-eye", "crates/sixmark/tests/lab/inspection.rs"),
    ("sixmark study claims lazy-eye", "crates/sixmark/tests/lab/inspection.rs"),
    ("sixmark study run --resume", "crates/sixmark/tests/program/study/interrupted.rs"),
    ("sixmark study run regensburg --until", "crates/sixmark/tests/program/study/decided.rs"),
    ("sixmark study run towson --until", "crates/sixmark/tests/program/study/decided.rs"),
    ("sixmark watch -i", "crates/sixmark/tests/packets/live.rs"),
    ("sixmark watch --in server", "crates/sixmark/tests/lab/tutorials.rs"),
    ("sixmark watch --port", "crates/sixmark/tests/packets/live.rs"),
    ("sixmark check --in client", "crates/sixmark/tests/lab/check.rs"),
    ("sixmark check --resolver", "crates/sixmark/tests/lab/check.rs"),
    ("sixmark check --targets", "crates/sixmark/tests/lab/check.rs"),
    ("sixmark eyes ", "crates/sixmark/tests/lab/eyes_outputs.rs"),
    ("sixmark only6 ", "crates/sixmark/tests/lab/only6_outputs.rs"),
    ("sixmark verify ", "crates/sixmark/tests/lab/only6_outputs.rs"),
    ("sixmark history checks", "crates/sixmark/tests/program/cli/site_history.rs"),
    ("sixmark vitals --in server", "crates/sixmark/tests/lab/vitals.rs"),
    ("sixmark run --truth", "crates/sixmark/tests/packets/exchanges.rs"),
    ("sixmark traffic --listen", "crates/sixmark/tests/program/traffic/mixes.rs"),
    ("sixmark traffic --to", "crates/sixmark/tests/program/traffic/mixes.rs"),
    ("sixmark study run apache --in-lab --hosts", "crates/sixmark/tests/lab/study_fleets.rs"),
    ("sixmark study run apache --server", "crates/sixmark/tests/servers/apache_study.rs"),
    ("sixmark study run anma --server", "crates/sixmark/tests/servers/apache_study.rs"),
    (
        "sixmark study run mine/study.toml --target",
        "crates/sixmark/tests/program/study/elsewhere.rs",
    ),
    ("sixmark study run dell --target", "crates/sixmark/tests/program/study/elsewhere.rs"),
    ("sixmark run --hosts", "crates/sixmark/tests/lab/fleets.rs"),
    ("sixmark run --fleet", "crates/sixmark/tests/servers/fleet_loads.rs"),
    ("sixmark agent", "crates/sixmark/tests/servers/fleet_loads.rs"),
    ("sixmark fleet status", "crates/sixmark/tests/servers/fleet_loads.rs"),
    ("INPUT_START=", "crates/sixmark/tests/lab/action.rs"),
    ("nats-server -c", "crates/sixmark/tests/servers/fleet_server.rs"),
    ("sixmark origin", "crates/sixmark/tests/program/cli/origin.rs"),
];

/// The page whose commands are carried out as they stand, in a network of their own: `crates/sixmark/tests/lab/quickstart.rs`.
const AS_IT_STANDS: &str = "docs/quickstart.md";

/// The README of the package, which lies in no folder with the others.
const OF_PACKAGE: &str = "crates/sixmark/README.md";

/// Pages that are read for their links alone, beside those of docs/reproductions/, which scripts/reproductions writes.
const OTHERS_WITH_LINKS: [&str; 4] =
    ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "crates/README.md"];

/// Pages that don't begin with a command, and why.
const WITHOUT_A_COMMAND: [(&str, &str); 5] = [
    (OF_PACKAGE, "says first what it is"),
    ("docs/README.md", "the index"),
    ("docs/benchmarks.md", "written by benches/peers/run"),
    ("docs/metrics.md", "made from the source"),
    ("docs/reproductions.md", "written by scripts/reproductions"),
];

/// What a page names, and what stands here in its place: in this order, with less patience and shorter loads.
/// `{v6}` and `{v4}` are the origins, `{any}` both over TLS, `{secure}` these with the authority to trust.
const HERE: &[(&str, &str)] = &[
    ("--in client ", ""),
    ("--resolve 'staging.example.net:443:[::1],127.0.0.1' https://staging.example.net/", "{any}"),
    (
        "--a https://new.example.net/ --b https://old.example.net/",
        "--a {v6}/bytes/100 --b {v4}/bytes/100",
    ),
    ("-6 https://new.example.net/ https://old.example.net/", "-6 {v6}/bytes/100 {v6}/bytes/200"),
    ("https://www.example.net/", "{secure}"),
    ("--vitals-from http://www.example.net:9100/metrics ", ""),
    ("--service nginx ", ""),
    ("--prometheus '*:9101' --quiet", "--prometheus 0 -d 100ms"),
    ("ssh server tcpdump -i eth0 -w - tcp port 80", "cat capture.pcap"),
    ("capture.pcap.gz", "capture.pcap"),
    ("capture.pcapng", "capture.pcap"),
    ("trunk.pcap", "capture.pcap"),
    ("run -6 ", "run "),
    ("'http://[fd00:0:0:3::2]/bytes/1000' http://10.0.3.2/bytes/1000", "http://www.example.net/"),
    (
        "'http://[fd00:0:0:3::2]/bytes/100000' http://10.0.3.2/bytes/100000",
        "http://www.example.net/",
    ),
    ("http://www.test/", "http://www.example.net/"),
    ("'http://[fd00:0:0:4::2]/' http://10.0.4.2/", "http://www.example.net/"),
    ("http://[::1]:8080", "{v6}"),
    ("http://[::1]:8081", "{v6}"),
    ("http://127.0.0.1:8080", "{v4}"),
    ("http://www.example.net/sink", "{v6}/sink {v4}/sink"),
    ("http://www.example.net/bytes/4096", "{v6}/bytes/4096 {v4}/bytes/4096"),
    ("http://www.example.net/status/503", "{v6}/status/503"),
    ("http://www.example.net/status/200", "{v6}/status/200"),
    ("http://www.example.net/", "{v6}/bytes/100 {v4}/bytes/100"),
    ("--rate 2/s", "--rate 2k"),
    ("--blocks 10 --block 5s ", ""),
    ("--find-max 'response.p99 < 10ms'", "-d 100ms --find-max 'response.p99 < 1ns'"),
    ("body~Welcome", "size=100"),
    (":1m ", ":100ms "),
    ("100:10s,200:10s,400:10s", "100:50ms,200:50ms,400:50ms"),
    ("--warmup 1s", "--warmup 50ms"),
    ("--source fd00:1::/112 --source 127.1.0.0/24 ", ""),
    ("-c 100000 -t 6 -n 100000", "-c 50 -t 2 -n 100"),
    ("-c 100000 -t 6", "-c 50 -t 2"),
    ("-n 10000 -c 1000", "-n 200 -c 20"),
    ("-c 1k -n 2k", "-c 20 -n 40"),
    ("-n 1000", "-n 100"),
    ("-n 1k", "-n 100"),
    ("-d 28s", "-d 300ms"),
    ("-d 10s", "-d 300ms"),
    ("-d 30s", "-d 300ms"),
    ("-d 5s", "-d 300ms"),
    ("-d 3s", "-d 300ms"),
    ("--interval 1s", "--interval 100ms"),
    ("compare --calibrate --blocks 6 ", "compare --calibrate "),
    ("compare ", "compare --blocks 6 -n 50 --warmup 5ms "),
    ("run {", "run -n 20 {"),
    ("run --cacert", "run -n 20 --cacert"),
    ("run --insecure", "run -n 20 --insecure"),
    ("run --ratio", "run -n 20 --ratio"),
    ("run mine/study.toml --out results/mine", "run study.toml --quick --out results/mine"),
    ("mine/study.toml", "study.toml"),
    ("export 17", "export last"),
];

/// Commands that may end with status 1 or 3, as their pages say: a gate failed, or nothing could be compared.
const FAIL_ON_PURPOSE: [&str; 2] = ["--fail-if", "/status/503"];
/// Commands that print nothing on standard output.
const SILENT: [&str; 7] =
    ["--prometheus ", "--html ", "--quiet", "--svg ", " --out ", " delete ", " check "];

#[test]
fn every_documented_command_works_or_is_tested_elsewhere() {
    let [origin, secure] = [Origin::start(), Origin::secure()];
    let pages: Vec<Page> = pages().into_iter().filter(|page| page.name != AS_IT_STANDS).collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = try_page(page, &origin, &secure);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Carries out the commands of a page, in a folder of its own, and returns what is wrong with them.
fn try_page(page: &Page, origin: &Origin, secure: &Origin) -> Vec<String> {
    let commands: Vec<String> =
        page.commands().filter(|command| elsewhere(command).is_none()).collect();
    let mut wrong = Vec::new();
    if commands.is_empty() {
        return wrong;
    }
    let folder = tempfile::tempdir().unwrap();
    furnish(folder.path(), origin);
    for command in commands {
        let name = &page.name;
        if !command.contains("sixmark ") {
            wrong.push(format!("{name}: neither carried out nor named: {command}"));
            continue;
        }
        let typed = here(&command, origin, secure);
        let output = shell(&typed, folder.path());
        let complaint = String::from_utf8_lossy(&output.stderr);
        let on_purpose = FAIL_ON_PURPOSE.iter().any(|part| command.contains(part))
            && matches!(output.status.code(), Some(1 | 3));
        if !output.status.success() && !on_purpose {
            wrong.push(format!("{name}: {command}\n  as {typed}\n  {complaint}"));
        } else if output.stdout.is_empty() && !SILENT.iter().any(|part| command.contains(part)) {
            wrong.push(format!("{name}: {typed} prints nothing: {complaint}"));
        }
    }
    wrong
}

/// The files that pages name.
fn furnish(folder: &Path, origin: &Origin) {
    let [v6, v4] = origin.urls("/");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("targets.txt", &format!("{v6} weight=2\n{v4}\n"));
    write(
        "mix.toml",
        "[[request]]\npath = '/bytes/{{rand 1 9}}'\n[[request]]\nbody = 'x'\npath = '/sink'\n",
    );
    let line = "::1 - - [10/Oct/2000:13:55:36 +0000] \"GET /bytes/9 HTTP/1.1\" 200 9\n";
    write("access.log", &line.repeat(9));
    let port = UdpSocket::bind("[::1]:0").unwrap().local_addr().unwrap().port();
    write("script.mgn", &format!("0.0 LISTEN UDP {port}\n0.1 IGNORE UDP {port}\n"));
    let lab = first_block("docs/lab.md", "toml");
    write("net.toml", &lab);
    write("shop.toml", &first_block("docs/tutorials/measure-a-site.md", "toml"));
    write("study.toml", &first_block("docs/study.md", "toml"));
    write("published.toml", &nth_block("docs/study.md", "toml", 1));
    fs::copy(root().join("fuzz/seeds/wire/curl.pcap"), folder.join("capture.pcap")).unwrap();
    let both = "-n 20 $0 $1";
    for (file, command) in [
        ("result.json", format!("sixmark run {both}")),
        ("before.json", format!("sixmark run {both}")),
        ("after.json", format!("sixmark run {both}")),
        ("comparison.json", "sixmark compare --blocks 6 -n 50 --warmup 5ms $0 $1".to_owned()),
        ("watched.json", "sixmark watch -r capture.pcap".to_owned()),
    ] {
        let command = command.replace("$0", &v6).replace("$1", &v4);
        let output = shell(&format!("{command} --json {file}"), folder);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {complaint}");
    }
}

/// A command with this machine's servers in place of those that it names.
fn here(command: &str, origin: &Origin, secure: &Origin) -> String {
    let mut typed = command.to_owned();
    for (written, instead) in HERE {
        typed = typed.replace(written, instead);
    }
    if typed.starts_with("sixmark vitals") && !typed.contains(" -d ") {
        typed += " -d 200ms";
    }
    let [v6, v4] = origin.urls("");
    let any = secure.urls("/bytes/100").join(" ");
    let trusted = format!("--cacert {} {any}", secure.authority());
    let typed = typed.replace("{v6}", &v6).replace("{v4}", &v4);
    typed.replace("{secure}", &trusted).replace("{any}", &any)
}

fn shell(command: &str, folder: &Path) -> std::process::Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_sixmark")).parent().unwrap().to_owned();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null());
    shell.env("PATH", path).env("SIXMARK_STORE", folder.join("results.sqlite"));
    shell.output().unwrap()
}

fn elsewhere(command: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(begin, _)| command.starts_with(begin)).map(|(_, test)| *test)
}

#[test]
fn commands_tested_elsewhere_exist_in_the_docs_with_their_test_file() {
    let commands: Vec<String> = pages().iter().flat_map(Page::commands).collect();
    for (begin, test) in ELSEWHERE {
        assert!(commands.iter().any(|command| command.starts_with(begin)), "no page has {begin}");
        assert!(root().join(test).exists(), "{begin}: no {test}");
    }
    for (page, _) in WITHOUT_A_COMMAND {
        assert!(root().join(page).exists(), "no {page}");
    }
}

#[test]
fn every_documented_make_command_has_a_makefile_target() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    for page in pages() {
        for command in page.commands() {
            let Some(target) = command.strip_prefix("make ") else { continue };
            let target = target.split(' ').next().unwrap();
            assert!(makefile.contains(&format!("\n{target}:")), "the Makefile has no {target}");
        }
    }
}

/// zsh takes brackets, `?` and `*` outside quotes for patterns, and refuses a command where no file matches.
#[test]
fn every_command_can_be_pasted_into_zsh() {
    for page in pages() {
        for command in page.commands() {
            let mut quote = None;
            for letter in command.chars() {
                match (quote, letter) {
                    (None, '\'' | '"') => quote = Some(letter),
                    (Some(open), _) if open == letter => quote = None,
                    (None, '[' | ']' | '?' | '*') => panic!("{}: quote {command}", page.name),
                    _ => {}
                }
            }
            assert_eq!(quote, None, "{}: {command}", page.name);
        }
    }
}

#[test]
fn every_page_begins_with_a_command_and_its_output() {
    let exempt: BTreeSet<&str> = WITHOUT_A_COMMAND.iter().map(|(page, _)| *page).collect();
    let begins = |page: &Page| {
        let blocks = page.blocks();
        let Some(first) = blocks.first() else { return false };
        let command = first.language == "console" && first.text.starts_with("$ ");
        let output = first.text.lines().any(|line| !line.starts_with("$ ") && !line.is_empty());
        command && output && first.line <= 16
    };
    let asked = |page: &Page| page.name != "README.md" && !exempt.contains(page.name.as_str());
    let pages = pages().into_iter().filter(asked);
    let wrong: Vec<_> = pages.filter(|page| !begins(page)).map(|page| page.name).collect();
    assert!(wrong.is_empty(), "pages that don't begin with a command and its output: {wrong:?}");
}

#[test]
fn every_link_leads_to_a_page_and_to_a_heading() {
    let mut broken = Vec::new();
    let others =
        OTHERS_WITH_LINKS.map(str::to_owned).into_iter().chain(pages_of("docs/reproductions"));
    for page in pages().into_iter().chain(others.map(read_page)) {
        let folder = root().join(&page.name).parent().unwrap().to_owned();
        for link in page.links().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = if file.is_empty() { root().join(&page.name) } else { folder.join(file) };
            let has_heading = || {
                let text = fs::read_to_string(&path).unwrap();
                Page { name: file.to_owned(), text }.anchors().contains(anchor)
            };
            if !path.exists() || !(anchor.is_empty() || has_heading()) {
                broken.push(format!("{}: {link}", page.name));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_package_readme_has_no_relative_links() {
    let page = pages().into_iter().find(|page| page.name == OF_PACKAGE).unwrap();
    assert_eq!(page.links().filter(|link| !link.contains("://")).count(), 0);
}

#[test]
fn the_index_names_every_page() {
    let index = pages().into_iter().find(|page| page.name == "docs/README.md").unwrap();
    let links: BTreeSet<String> = index.links().collect();
    for page in pages() {
        let Some(name) = page.name.strip_prefix("docs/") else { continue };
        assert!(name == "README.md" || links.contains(name), "docs/README.md does not link {name}");
    }
}

#[test]
fn the_readme_has_at_most_150_lines() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= 150, "{lines} lines");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page of Markdown, by its path from the root of the repository.
struct Page {
    name: String,
    text: String,
}

/// A fenced block: what its fence says, and the line of its first line.
struct Block {
    language: String,
    line: usize,
    text: String,
}

/// The README, that of the package, and all pages of docs/.
fn pages() -> Vec<Page> {
    let mut names = vec!["README.md".to_owned(), OF_PACKAGE.to_owned()];
    names.extend(["docs", "docs/tutorials"].into_iter().flat_map(pages_of));
    names.sort();
    names.into_iter().map(read_page).collect()
}

/// The names of the pages in a folder.
fn pages_of(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let files = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    files.filter(|file| file.ends_with(".md")).map(|file| format!("{folder}/{file}")).collect()
}

fn read_page(name: String) -> Page {
    Page { text: fs::read_to_string(root().join(&name)).unwrap(), name }
}

fn first_block(page: &str, language: &str) -> String {
    nth_block(page, language, 0)
}

fn nth_block(page: &str, language: &str, number: usize) -> String {
    let page = pages().into_iter().find(|found| found.name == page).unwrap();
    let mut blocks = page.blocks().into_iter().filter(|block| block.language == language);
    blocks.nth(number).unwrap().text
}

impl Page {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for (line, number) in self.text.lines().zip(1..) {
            match (line.strip_prefix("```"), open.take()) {
                (Some(language), None) => {
                    let language = language.to_owned();
                    open = Some(Block { language, line: number + 1, text: String::new() });
                }
                (Some(_), Some(block)) => blocks.push(block),
                (None, Some(mut block)) => {
                    block.text += line;
                    block.text.push('\n');
                    open = Some(block);
                }
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a block has no end", self.name);
        blocks
    }

    /// What stands behind prompts, lines that end with `\` joined with the next.
    fn commands(&self) -> impl Iterator<Item = String> {
        let mut commands = Vec::new();
        for block in self.blocks() {
            let shown = block.text.replace("\\\n", " ");
            let typed = shown.lines().filter_map(|line| line.strip_prefix("$ ").map(str::to_owned));
            let typed: Vec<String> = typed.collect();
            let name = &self.name;
            assert!(
                typed.is_empty() || block.language == "console",
                "{name}: not console: {typed:?}"
            );
            commands.extend(typed);
        }
        commands.into_iter()
    }

    fn links(&self) -> impl Iterator<Item = String> {
        let mut prose = String::new();
        let mut inside = false;
        for line in self.text.lines() {
            inside ^= line.starts_with("```");
            if !inside {
                prose += line;
                prose.push('\n');
            }
        }
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        links.map(str::to_owned).collect::<Vec<_>>().into_iter()
    }

    /// The anchors of its headings, as GitHub makes them.
    fn anchors(&self) -> BTreeSet<String> {
        let headings = self.text.lines().filter(|line| line.starts_with('#'));
        let words = headings.map(|line| line.trim_start_matches('#').trim().to_lowercase());
        let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        words.map(|text| text.chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
    }
}

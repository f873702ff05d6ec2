//! Families that do not give what the other gives: nothing about their speed is said.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sixmark_origin::Options;
use sixmark_testkit::incomparable::{BLOCKS, GATES, compared, must_say};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::process::program;
use sixmark_testkit::web_server::{ServerKind, ServerSettings, ServerSite, WebServer};
use sixmark_testkit::{json, sixmark, skipped};

/// Over IPv6 each path is sick in its own way, over IPv4 each is a page of 4 KiB, but for what is made
/// anew each time and is well over both, and for what is down over both.
const SICK: ServerKind = ServerKind { secure: &[], prepare, ..NGINX };

fn prepare(site: &ServerSite<'_>, _: &ServerSettings) -> Vec<Command> {
    let conf = site.dir.join("conf");
    fs::write(&conf, configuration(site)).unwrap();
    let mut command = program("nginx");
    command.arg("-p").arg(site.dir).args(["-e", "errors", "-c"]).arg(conf);
    vec![command]
}

fn configuration(site: &ServerSite<'_>) -> String {
    let dir = site.dir.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {dir}/{kind};\n"))
        .concat();
    let [v6, v4] = servers(site.plain);
    format!(
        "daemon off;
         master_process off;
         pid {dir}/pid;
         error_log {dir}/errors;
         events {{ worker_connections 1024; }}
         http {{
             {temporary}
             access_log off;
             default_type text/plain;
             keepalive_requests 1000000;
             split_clients $request_id $half {{ 50% 503; * 200; }}
             split_clients $request_id $rare {{ 1% 503; * 200; }}
             split_clients $request_id $padding {{
                 33% \"\"; 33% ----------------; * --------------------------------;
             }}
             root {dir}/www;
             {v6}
             {v4}
         }}
         "
    )
}

/// The sick server of IPv6 and the healthy one of IPv4.
fn servers([v6, v4]: [SocketAddr; 2]) -> [String; 2] {
    // A nonce, a clock, the client's address, and padding of three lengths, in 2 KiB.
    let page = "p".repeat(2_000);
    let made = format!("return 200 \"$request_id $msec $remote_addr $padding {page}\";");
    let both = format!(
        "location = /name {{ }}
         location = /made {{ {made} }}
         location = /down {{ return 503 busy; }}
         location / {{ try_files /4k =404; }}"
    );
    let sick = format!(
        "server {{
             listen {v6} ipv6only=on;
             location = /all {{ return 503 busy; }}
             location = /half {{ if ($half = 503) {{ return 503 busy; }} try_files /4k =404; }}
             location = /rare {{ if ($rare = 503) {{ return 503 busy; }} try_files /4k =404; }}
             location = /other {{ return 200 \"Down for maintenance\"; }}
             location = /moved {{ return 301 /4k; }}
             {both}
         }}"
    );
    [sick, format!("server {{ listen {v4}; {both} }}")]
}

#[test]
fn a_comparison_does_not_compare_the_speed_of_unequal_answers() {
    if skipped(SICK.skip) {
        return;
    }
    let server = WebServer::start(&SICK, &ServerSettings::default());
    let many = ["--blocks", "12", "-n", "1000", "-c", "2"];
    let few = ["--blocks", "2", "-n", "30", "-c", "2"];
    for (path, load, headline, status, failures) in [
        ("/all", BLOCKS, "IPv6 answers 503 to every request; IPv4 200", 3, true),
        ("/all", few, "IPv6 answers 503 to every request; IPv4 200", 3, true),
        ("/half", BLOCKS, "IPv6 answers 503 to ", 1, true),
        ("/rare", many, "IPv6 answers 503 to ", 1, true),
        ("/other", BLOCKS, "IPv6 sends 20 bytes per response; IPv4 4,096 (of /other)", 1, false),
        ("/other", few, "IPv6 sends 20 bytes per response; IPv4 4,096 (of /other)", 1, false),
        ("/moved", BLOCKS, "IPv6 answers 301 to every request; IPv4 200", 1, false),
        ("/down", BLOCKS, "IPv6 returns only errors: 0 of 60 accepted; IPv4 returns", 3, true),
    ] {
        must_say(&server.urls(path), &load, headline, status, failures);
    }
    for path in ["/made", "/fine"] {
        let told = compared(&BLOCKS, &server.urls(path));
        let sameness = &told.document["comparison"]["sameness"];
        assert_eq!((&sameness["same"], &sameness["said"]), (&true.into(), &Value::Null));
        assert!(!told.page.contains("not comparable"), "{path}");
    }
}

#[test]
fn a_run_over_both_families_names_differing_answers() {
    if skipped(SICK.skip) {
        return;
    }
    let server = WebServer::start(&SICK, &ServerSettings::default());
    for (path, headline, status) in [
        ("/all", "NOT COMPARABLE: IPv6 answers 503 to every request; IPv4 200.", 3),
        ("/half", "NOT COMPARABLE: IPv6 answers 503 to ", 1),
        ("/other", "NOT COMPARABLE: IPv6 sends 20 bytes per response; IPv4 4,096 (of /other).", 0),
        ("/moved", "NOT COMPARABLE: IPv6 answers 301 to every request; IPv4 200.", 0),
        ("/down", "NOT COMPARABLE: IPv6 returns only errors: 0 of 2,000 accepted; IPv4", 3),
        ("/rare", "requests failed", 1),
    ] {
        let [v6, v4] = server.urls(path);
        let gate = ["--fail-if", GATES[1]];
        let output = sixmark(&[&["run", "-n", "4000", "-c", "4"], &gate[..], &[&v6, &v4]].concat());
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains(headline), "{path}: {shown}");
        assert_eq!(output.status.code(), Some(status), "{path}: {output:?}");
    }
    for path in ["/made", "/fine"] {
        let [v6, v4] = server.urls(path);
        let result = json(&["-n", "2000", "-c", "4", &v6, &v4]);
        assert_eq!(result["sameness"]["same"], true, "{path}: {:#}", result["sameness"]);
    }
}

#[test]
fn a_study_does_not_compare_the_speed_of_unequal_answers() {
    if skipped(SICK.skip) {
        return;
    }
    let server = WebServer::start(&SICK, &ServerSettings::default());
    let folder = tempfile::tempdir().unwrap();
    let down = "not comparable: IPv6 returns only errors: 0 of 120 accepted; IPv4 returns \
                only errors: 0 of 120 accepted";
    for (path, said) in [
        ("all", Some("not comparable: IPv6 answers 503 to every request; IPv4 200")),
        ("other", Some("not comparable: IPv6 sends 20 bytes per response; IPv4 4,096")),
        ("down", Some(down)),
        ("made", None),
    ] {
        let [v6, v4] = server.urls("").map(|url| format!("'{url}'"));
        let text = format!(
            "name = 'x'\ntitle = 'X'\ntargets = [{v6}, {v4}]\npath = '/{path}'\nrepetitions = 3\n\
             [options]\ncount = 40\nconcurrency = 2\n[factors]\nfamily = ['ipv6', 'ipv4']\n\
             [[comparisons]]\nname = 'f'\ntitle = 'F'\nmeasure = 'requests_per_s'\n\
             [[claims]]\nid = 'faster'\ntext = 'IPv6 is faster'\nmeasure = 'requests_per_s'\nkind = 'higher'\n\
             a = {{ family = 'ipv6' }}\nb = {{ family = 'ipv4' }}\n"
        );
        let (file, out) = (folder.path().join("study.toml"), folder.path().join(path));
        fs::write(&file, text).unwrap();
        let [file, to] = [&file, &out].map(|path| path.to_str().unwrap());
        let output = sixmark(&["study", "run", file, "--out", to, "--seed", "1"]);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let document = fs::read_to_string(out.join("study.json"))
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let document: Value = serde_json::from_str(&document).unwrap();
        sixmark_testkit::forms::STUDY.check(&document);
        study_says(&document, (&shown, &page_of(&out)), said);
    }
}

/// Its one comparison and its one claim say so, or neither does.
fn study_says(document: &Value, (shown, page): (&str, &str), said: Option<&str>) {
    let entry = &document["comparisons"][0]["entries"][0];
    let is_unlike = entry["finding"] == "not_comparable" && entry["ratio"].is_null();
    assert_eq!(is_unlike, said.is_some(), "{entry:#}");
    let found = &document["claims"][0]["measured"];
    let is_unlike = found["answer"] == "not_comparable" && found["estimate"].is_null();
    assert_eq!(is_unlike, said.is_some(), "{found:#}");
    assert_eq!(page.contains("not comparable"), said.is_some());
    let Some(said) = said else { return };
    assert_eq!(entry["sentence"], said);
    assert_eq!(format!("not comparable: {}", found["why"].as_str().unwrap()), said);
    let why = said.strip_prefix("not comparable: ").unwrap();
    assert_eq!(page.to_lowercase().matches(&said.to_lowercase()).count(), 2, "claim, comparison");
    let rows = page.replace('\u{a0}', " ").matches("≠ not comparable</td>").count();
    assert_eq!(rows, 2, "their rows");
    assert!(page.contains("headline not_comparable"));
    assert!(page.contains(&format!("<p class=\"sentence\">{why}")), "the verdict says the rest");
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("IPv6 is faster ≠ not comparable"), "{shown}");
    assert!(words.contains(&format!("IPv6 is faster: {said}.")), "{shown}");
    let last = words.rsplit("NOT COMPARABLE: ").next().unwrap();
    assert!(last.starts_with(why), "the answer comes last, and says it once: {shown}");
}

/// The page of a study.
fn page_of(out: &Path) -> String {
    let file = out.join("page.html");
    let [from, to] =
        [out.to_path_buf(), file.clone()].map(|path| path.to_str().unwrap().to_owned());
    let output = sixmark(&["report", &format!("{from}/study.json"), "--html", &to]);
    assert!(output.status.success(), "{output:?}");
    fs::read_to_string(file).unwrap()
}

/// A server on `::1` and two of three addresses of loopback that a name has, all on one port.
#[test]
fn names_the_dead_one_of_three_addresses() {
    let (origin, port) = on_two_of_three();
    let name = format!("three.test:{port}");
    let resolve = format!("{name}:[::1],127.0.0.1,127.0.0.2,127.0.0.3");
    let url = format!("http://{name}/bytes/1000");
    let load = ["-n", "240", "-c", "4", "--resolve", &resolve];
    let output = sixmark(&[&["run", "-q", "--json", "-"], &load[..], &[&url]].concat());
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = result["sameness"]["said"].as_str().unwrap();
    let expected = "IPv4 fails 33.3 % of requests (connection refused); IPv6 none";
    assert_eq!(said, expected);
    let addresses = result["families"]["ipv4"]["by_address"].as_array().unwrap();
    let dead = format!("127.0.0.3:{port}");
    assert_eq!(addresses[0]["address"], dead.as_str());
    let counts = addresses.iter().map(|of| (of["ended"].as_u64(), of["completed"].as_u64()));
    let counts: Vec<_> = counts.collect();
    assert_eq!(counts, [(Some(40), Some(0)), (Some(40), Some(40)), (Some(40), Some(40))]);
    assert_eq!(result["families"]["ipv6"]["by_address"], Value::Array(Vec::new()));
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = format!(
        "{dead} over IPv4 does not answer (0 of 40, connection refused); 2 other addresses do"
    );
    assert!(warned.contains(&told), "{warned}");
    let both = ["--blocks", "6", "-n", "60", "-c", "2", "--resolve", &resolve, &url];
    let output = sixmark(&[&["compare", "--warmup", "0"], &both[..]].concat());
    let shown = String::from_utf8_lossy(&output.stdout);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("NOT COMPARABLE: {expected}.")), "{shown}");
    assert!(String::from_utf8_lossy(&output.stderr).contains(&dead));
    drop(origin);
}

fn options(addresses: &[SocketAddr]) -> Options {
    Options { listen: addresses.to_vec(), threads: 1, ..Options::default() }
}

fn on_two_of_three() -> (sixmark_origin::Origin, u16) {
    loop {
        let port =
            TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let addresses = [
            SocketAddr::from((Ipv6Addr::LOCALHOST, port)),
            SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), port)),
        ];
        // Somebody else may have taken the port meanwhile.
        if addresses.iter().all(|address| TcpListener::bind(address).is_ok())
            && let Ok(origin) = sixmark_origin::Origin::start(options(&addresses))
        {
            return (origin, port);
        }
    }
}

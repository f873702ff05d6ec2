//! `--hosts`: loads from agents in hosts of a lab, and from hosts that real OpenSSH reaches.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::process::{Child, Command};

use serde_json::Value;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::nats::{SKIP, nats_server_folder};
use sixmark_testkit::ssh::{SshSite, without_openssh};
use sixmark_testkit::{Origin, check, command, complaint, finish, signal, skipped};
use sixmark_units::family::Family;

use super::traces::until;

/// Two clients and a web server behind one bridge.
const TWO: &str = r#"
name = "two"
title = "Two clients and a web server"
[hosts.a]
[hosts.b]
[hosts.server]
[bridges.lan]
[links]
a = ["a", "lan"]
b = ["b", "lan"]
server = ["server", "lan"]
[[files]]
path = "page"
size = 1000
[services.nginx]
host = "server"
account = "www-data"
command = ["nginx", "-p", "{dir}", "-e", "{dir}/errors", "-c", "{dir}/nginx.conf"]
package = "nginx"
urls = ["http://[{server.ipv6}]:80", "http://{server.ipv4}:80"]
ready = { get = "/page" }
[services.nginx.files]
"nginx.conf" = """
daemon off;
pid {dir}/pid;
worker_processes 1;
events { worker_connections 1024; }
http {
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    access_log off;
    error_log {dir}/errors;
    server {
        listen {server.ipv4}:80 backlog=4096;
        listen [{server.ipv6}]:80 ipv6only=on backlog=4096;
        root {www};
    }
}
"""
"#;

/// Creates a command that finds a nats-server.
fn fleet(words: &[&str]) -> Command {
    let mut command = command(words);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", nats_server_folder().display()));
    command
}

fn result_of(command: &mut Command) -> Value {
    let output = finish(command.spawn().unwrap());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the counts that must not depend on how many agents there are.
fn counts(result: &Value) -> Vec<Value> {
    let families = ["ipv6", "ipv4"].map(|family| &result["families"][family]);
    let paths = ["/requests/sent", "/requests/completed", "/status", "/bytes/body", "/outcomes"];
    let of = |family: &&Value| paths.map(|path| family.pointer(path).cloned().unwrap());
    families.iter().flat_map(of).collect()
}

#[test]
fn two_agents_together_count_what_one_agent_counts_alone() {
    if without(&["nginx", SKIP]) {
        return;
    }
    let lab = Lab::up("fleet", TWO, &[]);
    let [v6, v4] = [server_address(&lab, true), server_address(&lab, false)];
    let urls = [format!("http://[{v6}]/page"), format!("http://{v4}/page")];
    let run = |hosts: &str| {
        let hosts: Vec<String> =
            hosts.split(',').map(|host| format!("lab:{}/{host}", lab.name())).collect();
        let hosts = hosts.join(",");
        let words =
            ["run", "--hosts", &hosts, "-n", "3000", "-c", "8", "-t", "1", "--ratio", "2:1"];
        let more = ["--seed", "5", "--json", "-", &urls[0], &urls[1]];
        result_of(&mut fleet(&[&words[..], &more[..]].concat()))
    };
    let (one, two) = (run("a"), run("a,b"));
    [&one, &two].into_iter().for_each(check);
    assert_eq!(counts(&one), counts(&two));
    assert_eq!(two["ratio"]["sent"], serde_json::json!([2000, 1000]));
    let agents = two["fleet"]["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 2);
    for agent in agents {
        assert_eq!((&agent["share"], &agent["adds_up"]), (&0.5.into(), &true.into()), "{agent}");
        // Each agent sees the path from its own namespace.
        let ipv6 = &agent["families"]["ipv6"];
        assert_eq!((ipv6["mtu"].as_u64(), ipv6["mss"].as_u64()), (Some(1500), Some(1428)));
        assert_eq!(agent["environment"]["routes"].as_array().unwrap().len(), 2);
    }
    let sources = |agent: &Value| agent["environment"]["routes"][0]["from"].clone();
    assert_ne!(sources(&agents[0]), sources(&agents[1]));
}

/// Returns an address of the server.
fn server_address(lab: &Lab, ipv6: bool) -> String {
    let line = lab.said.lines().find(|line| line.trim().starts_with("server ")).unwrap();
    let mut addresses = line.split_whitespace().skip(1);
    addresses.find(|address| address.contains(':') == ipv6).unwrap().to_owned()
}

#[test]
fn a_comparison_runs_each_block_on_the_whole_fleet() {
    if without(&["nginx", SKIP]) {
        return;
    }
    let lab = Lab::up("fleet-compare", TWO, &[]);
    let [v6, v4] = [server_address(&lab, true), server_address(&lab, false)];
    let urls = [format!("http://[{v6}]/page"), format!("http://{v4}/page")];
    let hosts = format!("lab:{0}/a,lab:{0}/b", lab.name());
    let words = ["compare", "--hosts", &hosts, "-n", "100", "-c", "4", "-t", "1", "--blocks", "6"];
    let result =
        result_of(&mut fleet(&[&words[..], &["--json", "-", &urls[0], &urls[1]]].concat()));
    assert_eq!(result["comparison"]["pairs"], 6);
    let blocks = result["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 14);
    for block in blocks {
        assert_eq!(block["figures"]["requests"]["sent"], 100);
    }
    let agents = result["fleet"]["agents"].as_array().unwrap();
    let sent = |agent: &Value| {
        let families = ["ipv6", "ipv4"].map(|family| agent["families"][family]["sent"].as_u64());
        families.into_iter().flatten().sum::<u64>()
    };
    // The warm-up blocks, the first of each side, count for the agents as little as for the sides.
    assert_eq!(agents.iter().map(sent).collect::<Vec<_>>(), [600, 600]);
    // Each side has the path of its own family.
    let mtu = |agent: &Value| ["ipv6", "ipv4"].map(|of| agent["families"][of]["mtu"].as_u64());
    assert!(agents.iter().all(|agent| mtu(agent) == [Some(1500); 2]), "{agents:?}");
}

/// Only one agent's path is longer over IPv6.
#[test]
fn a_comparison_says_from_which_agent_a_family_is_slower() {
    if without(&["nginx", SKIP]) {
        return;
    }
    let link = |host: &str, ipv6: &str| {
        format!("{host} = {{ between = [\"{host}\", \"lan\"], delay = \"5ms\"{ipv6} }}")
    };
    let slow = link("b", ", ipv6 = { delay = \"10ms\" }");
    let text = TWO.replace("a = [\"a\", \"lan\"]", &link("a", ""));
    let lab = Lab::up("fleet-why", &text.replace("b = [\"b\", \"lan\"]", &slow), &[]);
    let [v6, v4] = [server_address(&lab, true), server_address(&lab, false)];
    let urls = [format!("http://[{v6}]/page"), format!("http://{v4}/page")];
    let hosts = format!("lab:{0}/a,lab:{0}/b", lab.name());
    let words = ["compare", "--hosts", &hosts, "-c", "4", "-t", "1", "--blocks", "12"];
    let load = ["--block", "300ms", "--json", "-", &urls[0], &urls[1]];
    let result = result_of(&mut fleet(&[&words[..], &load].concat()));
    let found = result["comparison"]["by_agent"].as_array().unwrap();
    let of = |agent: &Value| [agent["verdict"].clone(), agent["cause"].clone()];
    assert_eq!(found.len(), 2, "{found:?}");
    assert_ne!(of(&found[0])[0], "worse", "{found:?}");
    assert_eq!(of(&found[1]), ["worse", "round_trips"], "{found:?}");
}

/// The same clients, one of which is ten times as far from the server as the other. Both families
/// have the same path.
fn one_near_one_far() -> String {
    let link = |host: &str, delay: &str| {
        format!("{host} = {{ between = [\"{host}\", \"lan\"], {delay} }}")
    };
    let delayed = |text: String, host, delay: &str| {
        text.replace(&format!("{host} = [\"{host}\", \"lan\"]"), &link(host, delay))
    };
    let near = delayed(TWO.to_owned(), "a", "delay = \"2.5ms\"");
    delayed(near, "b", "delay = \"25ms\"")
}

/// Before, each agent's families were drawn, and equal families had medians of 7.5 and 51.3 ms.
#[test]
fn near_and_far_agents_each_split_a_constant_rate_evenly_by_family() {
    if without(&["nginx", SKIP]) {
        return;
    }
    let lab = Lab::up("fleet-far", &one_near_one_far(), &[]);
    let [v6, v4] = [server_address(&lab, true), server_address(&lab, false)];
    let urls = [format!("http://[{v6}]/page"), format!("http://{v4}/page")];
    let hosts = format!("lab:{0}/a,lab:{0}/b", lab.name());
    let words = ["run", "--hosts", &hosts, "--rate", "500", "-d", "2s", "-c", "100", "-t", "2"];
    let result =
        result_of(&mut fleet(&[&words[..], &["--json", "-", &urls[0], &urls[1]]].concat()));
    check(&result);
    let agents = result["fleet"]["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 2);
    for agent in agents {
        // Half of a thousand, of which a busy machine may not send all in time.
        let sent = ["ipv6", "ipv4"].map(|of| agent["families"][of]["sent"].as_u64().unwrap());
        let unsent = result["total"]["requests"]["unsent"].as_u64().unwrap();
        assert!(sent.iter().all(|&sent| sent <= 250 && sent + unsent >= 250), "{agent}");
    }
}

/// Three hosts with the real sixmark.
fn site() -> SshSite {
    let (v6, v4) = (Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into());
    let site = SshSite::start(&[v6, v4, v6]);
    let program = command(&[]).get_program().to_str().unwrap().to_owned();
    (0..3).for_each(|host| site.install(host, "sixmark", &format!("exec {program} \"$@\"")));
    site
}

fn over_ssh(site: &SshSite, words: &[&str]) -> Command {
    let mut command = fleet(words);
    command.env("SIXMARK_SSH", site.ssh());
    command
}

/// Returns the processes whose command line has this text.
fn running(text: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (line.contains(text) && !line.contains("cargo")).then_some(line)
    });
    lines.collect()
}

#[test]
fn three_hosts_over_ssh_carry_out_one_load_and_nothing_is_left() {
    if without_openssh() || skipped(SKIP) {
        return;
    }
    let (site, origin) = (site(), Origin::start());
    let urls = [origin.url(Family::Ipv6, "/bytes/100"), origin.url(Family::Ipv4, "/bytes/100")];
    let words = ["run", "--hosts", "h0,h1,h2", "-n", "900", "-c", "9", "-t", "1", "--json", "-"];
    let result = result_of(&mut over_ssh(&site, &[&words[..], &[&urls[0], &urls[1]]].concat()));
    check(&result);
    assert_eq!(result["total"]["requests"]["completed"], 900);
    let names: Vec<&Value> =
        result["fleet"]["agents"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names, ["h0", "h1", "h2"]);
    until("no agent is left", || running(&site.ssh()));
}

/// Starts an endless load over ssh, and waits until agents load the server, which never answers.
fn endless(site: &SshSite) -> Child {
    let server = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/", server.local_addr().unwrap());
    let words = ["run", "--hosts", "h0,h1", "--rate", "50", "-d", "1h", "-c", "2", &url];
    let child = over_ssh(site, &words).spawn().unwrap();
    server.set_nonblocking(true).unwrap();
    until("a connection arrives", || match server.accept() {
        Ok(_) => Vec::new(),
        Err(error) => vec![error.to_string()],
    });
    child
}

#[test]
fn a_signal_and_a_kill_leave_nothing_on_any_host() {
    if without_openssh() || skipped(SKIP) {
        return;
    }
    let site = site();
    let run = endless(&site);
    signal(run.id(), "INT");
    let output = finish(run);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    until("no agent is left after a signal", || running(&site.ssh()));
    for host in 0..2 {
        until("no folder is left after a signal", || entries(&site, host));
    }
    let run = endless(&site);
    signal(run.id(), "KILL");
    drop(finish(run));
    until("no agent is left after a kill", || running(&site.ssh()));
    for host in 0..2 {
        until("no folder is left after a kill", || entries(&site, host));
    }
}

fn entries(site: &SshSite, host: usize) -> Vec<String> {
    let entries = std::fs::read_dir(site.temporary(host)).unwrap().flatten();
    entries.map(|entry| entry.path().display().to_string()).collect()
}

#[test]
fn reports_each_unusable_host_in_one_line() {
    if without_openssh() || skipped(SKIP) {
        return;
    }
    let site = SshSite::start(&[Ipv6Addr::LOCALHOST.into()]);
    let line = |hosts: &str, status| {
        let words = ["run", "--hosts", hosts, "-n", "1", "http://[::1]:1/"];
        complaint(&finish(over_ssh(&site, &words).spawn().unwrap()), status)
    };
    assert!(line("h0", 3).contains("--copy-sixmark"));
    assert!(line("closed", 3).contains("closed"));
    assert!(line("stranger", 3).contains("stranger"));
    site.install(0, "sixmark", "echo sixmark 0.0.1");
    assert!(line("h0", 3).contains("0.0.1"));
    assert!(line("-x", 2).contains("-x"));
    assert!(line("h0,h0", 2).contains("twice"));
    let path = ["run", "--hosts", "h0", "-n", "1", "http://[::1]:1/"];
    let folder = tempfile::tempdir().unwrap();
    let mut without = over_ssh(&site, &path);
    without.env("PATH", folder.path());
    let said = complaint(&finish(without.spawn().unwrap()), 3);
    assert!(said.contains("nats-server"), "{said}");
}

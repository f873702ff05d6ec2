//! `sixmark check` against sites with one fault each: nginx, Caddy, unbound, and routers with nftables.

use std::fmt::Write as _;
use std::path::Path;

use sixmark_testkit::authority::Authority;
use sixmark_testkit::lab::{Lab, without};

use super::check::{check_with, differing};

const LAB: &str = include_str!("check_faults/lab.toml");
const NGINX: &str = include_str!("check_faults/nginx.conf");

/// The hosts that run nginx.
const WITH_NGINX: [&str; 6] = ["server", "slow", "hole", "upload", "behind1", "behind2"];
/// The resolver, and the one that makes addresses of IPv6.
const RESOLVERS: [&str; 2] = ["9.0.3.54", "9.0.3.54:5353"];

/// A site (with a scheme unless it is `https`), and what is to be found: the checks in which the families differ, and the verdict.
type FaultySite = (&'static str, &'static [&'static str], &'static str);

/// Sites whose names or records have a fault, or their responses.
const OF_SITES: [FaultySite; 17] = [
    ("www", &[], "as_good"),
    ("four", &["records"], "ipv4_only"),
    ("refused", &["connect"], "broken"),
    ("three", &["connect"], "worse"),
    ("slow", &["time"], "worse"),
    ("expired", &["certificate"], "broken"),
    ("another", &["certificate"], "as_good"),
    ("content", &["content"], "worse"),
    ("nonce", &[], "as_good"),
    ("limit", &[], "as_good"),
    ("literal", &["redirect"], "broken"),
    ("local", &["address-kinds"], "worse"),
    ("hints", &["https-hints"], "worse"),
    ("three-one", &["http3"], "worse"),
    ("dropped", &["records", "resolvers"], "cant_tell"),
    ("www.old", &["delegation"], "worse"),
    ("www.deaf", &["delegation"], "worse"),
];

/// Sites with a fault of the path.
const OF_PATHS: [FaultySite; 9] = [
    ("silent", &["connect"], "broken"),
    ("syn", &["retransmissions", "time"], "worse"),
    ("hello", &["tls"], "broken"),
    ("ecn", &["tcp-options"], "as_good"),
    ("hole", &["large-packets"], "broken"),
    ("upload", &["large-packets"], "broken"),
    ("http://upload", &["large-packets"], "worse"),
    ("balanced", &["large-packets"], "worse"),
    ("clamped", &["segment-size"], "as_good"),
];

/// Builds the lab. The folder has the certificates.
fn faulty_lab(name: &str, keys: &Path) -> Lab {
    let authority = Authority::create();
    std::fs::write(keys.join("authority.pem"), &authority.pem).unwrap();
    let all = OF_SITES
        .iter()
        .chain(&OF_PATHS)
        .map(|of| format!("{}.test", of.0.trim_start_matches("http://")));
    let names: Vec<String> = all.chain(["login.test".into(), "lies.test".into()]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    authority.issue(&names).write(keys, "site");
    authority.issue(&names).write(keys, "another");
    authority.issue_until(&names, 2020).write(keys, "expired");
    let folder = keys.to_str().unwrap();
    let mut text = LAB.to_owned();
    for host in WITH_NGINX {
        let conf = NGINX.replace("{keys}", folder);
        write!(
            text,
            "[services.{host}]\nhost = \"{host}\"\npackage = \"nginx\"\n\
             command = [\"nginx\", \"-p\", \"{{dir}}\", \"-e\", \"{{dir}}/errors\", \"-c\", \"{{dir}}/nginx.conf\"]\n\
             [services.{host}.files]\n\"nginx.conf\" = '''\n{conf}'''\n"
        )
        .unwrap();
    }
    let caddy = format!(
        "[services.caddy]\nhost = \"caddy\"\npackage = \"caddy\"\n\
         command = [\"sh\", \"-c\", \"HOME={{dir}} XDG_DATA_HOME={{dir}} XDG_CONFIG_HOME={{dir}} exec caddy run \
         --adapter caddyfile --config {{dir}}/conf\"]\nurls = [\"https://9.0.6.1:443\"]\n\
         [services.caddy.files]\nconf = '''\n{{\n admin off\n auto_https off\n}}\nhttps://three-one.test {{\n\
         tls {folder}/site.certificate.pem {folder}/site.key.pem\n root * {{www}}\n file_server\n}}\n\
         http://three-one.test {{\n redir https://three-one.test/\n}}\n'''\n"
    );
    text.push_str(&caddy);
    Lab::up(name, &text, &[])
}

/// Checks sites of the lab. Returns a line for each in which something else was found than its fault.
fn surprises(lab: &Lab, keys: &Path, sites: &[FaultySite]) -> Vec<String> {
    let roots = keys.join("authority.pem");
    let options = ["--cacert", roots.to_str().unwrap(), "--resolver", RESOLVERS[0]];
    let mut surprises = Vec::new();
    for (name, expected, verdict) in sites {
        let (scheme, host) = name.split_once("://").unwrap_or(("https", name));
        // Half of the connections to this one stall: with so many fetches some always do.
        let repeat = if *name == "balanced" { "10" } else { "5" };
        let options = [&options[..], &["--repeat", repeat]].concat();
        let site = check_with(lab, &options, &format!("{scheme}://{host}.test/page"));
        if differing(&site) != *expected || site["verdict"] != *verdict {
            let findings = site["findings"].as_array().unwrap().iter();
            let said = findings.filter(|of| of["state"] == "differs" || of["state"] == "cant_tell");
            let said: Vec<String> =
                said.map(|of| format!("{}: {}", of["check"], of["found"])).collect();
            surprises.push(format!("{name}: {}: {}", site["sentence"], said.join(" | ")));
        }
    }
    surprises
}

const NEEDED: [&str; 5] = ["nginx", "caddy", "unbound", "nftables", "tayga"];

#[test]
fn finds_each_fault_of_sites_and_nothing_else() {
    if without(&NEEDED) {
        return;
    }
    let keys = tempfile::tempdir().unwrap();
    let lab = faulty_lab("faults-sites", keys.path());
    let surprises = surprises(&lab, keys.path(), &OF_SITES);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn finds_each_fault_of_paths_and_nothing_else() {
    if without(&NEEDED) {
        return;
    }
    let keys = tempfile::tempdir().unwrap();
    let lab = faulty_lab("faults-paths", keys.path());
    let surprises = surprises(&lab, keys.path(), &OF_PATHS);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// Sites that say little, and resolvers that say nothing: one line each.
#[test]
fn says_in_one_line_what_can_not_be_told() {
    if without(&NEEDED) {
        return;
    }
    let keys = tempfile::tempdir().unwrap();
    let lab = faulty_lab("faults-lines", keys.path());
    let roots = keys.path().join("authority.pem");
    for (url, resolver, expected, verdict, sentence) in [
        ("https://four.test/page", RESOLVERS[1], &["dns64"][..], "ipv4_only", "DNS64 made"),
        ("https://login.test/", RESOLVERS[0], &[], "as_good", "a page of status 401"),
        ("https://lies.test/page", RESOLVERS[0], &[], "as_good", "no difference found"),
        ("https://nowhere.test/", RESOLVERS[0], &[], "cant_tell", "NXDOMAIN"),
        ("https://www.test/page", "2600:0:0:2::a", &[], "cant_tell", "no answer"),
    ] {
        let options = ["--cacert", roots.to_str().unwrap(), "--resolver", resolver];
        let site = check_with(&lab, &options, url);
        let said = site["sentence"].as_str().unwrap();
        assert!(said.contains(sentence) && !said.contains('\n'), "{url}: {said}");
        assert_eq!(
            (differing(&site), &site["verdict"]),
            (expected.to_vec(), &verdict.into()),
            "{said}"
        );
    }
}

//! Optional services: where they can't run, the study goes on without them.

use std::fs;

use serde_json::json;
use sixmark_testkit::complaint;
use sixmark_testkit::sixmark;
use sixmark_testkit::study::{ORIGIN, StudyFixture, assert_complete, fine, said};

/// Four servers, of which the first can always run. `{program}` is in the folder of the study.
const SERVERS: &str = r#"
name = "servers"
path = "/bytes/10"
repetitions = 3
published = "published.toml"

[options]
count = 5
concurrency = 1

[factors]
server = ["origin", "gone", "unfit", "fit"]
disk = [{ name = "ram" }, { name = "nvme" }]
family = ["ipv6", "ipv4"]

[[settings]]
where = { disk = "nvme" }
server = "unfit"

[[claims]]
id = "gone-is-faster"
text = "The second server serves more requests/s"
source = "the text"
kind = "higher"
measure = "requests_per_s"
a = { server = "gone" }
b = { server = "origin" }

[services.gone]
command = ["FOLDER/gone", "--listen", "127.0.0.1:{port}"]
package = "gone-bin"
optional = true

[services.unfit]
command = ["{sixmark}", "origin"]
optional = true
probe = ["sh", "{dir}/probe", "{www}"]

[services.unfit.files]
probe = "ls -d $1; echo 'the kernel has no nvme-tcp.' >&2; exit 1"

[services.fit]
command = ["{sixmark}", "origin", "--threads", "1", "--listen", "[::1]:{port6}", "--listen", "127.0.0.1:{port}"]
ready = { line = "Ctrl-C ends it." }
optional = true
probe = ["true"]
"#;

fn servers() -> StudyFixture {
    let fixture = StudyFixture::new("");
    let folder = fixture.path("").display().to_string();
    let text = format!("{SERVERS}{ORIGIN}").replace("FOLDER/", &folder);
    fs::write(fixture.path("study.toml"), text).unwrap();
    fs::write(fixture.path("published.toml"), "title = \"Theirs\"\nsource = \"somebody\"\n")
        .unwrap();
    fixture
}

#[test]
fn omits_levels_whose_service_cannot_run_also_on_resume() {
    let fixture = servers();
    let shown = fine(&sixmark(&["study", "show", &fixture.file()]));
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("gone is omitted: "), "{shown}");
    assert!(flat.contains("unfit is omitted if its probe fails when the study begins"), "{shown}");
    assert!(!flat.contains("the study needs"), "{shown}");

    let report = fine(&fixture.run(&[]));
    let document = fixture.document();
    assert_complete(&document);
    assert_eq!(document["cells_planned"], 12, "two servers, one disk, two families, three times");
    let gone =
        format!("{} is not installed (Debian package gone-bin)", fixture.path("gone").display());
    let at = |factor: &str, level: &str| json!({ "factor": factor, "level": level });
    assert_eq!(
        document["omitted"],
        json!([
            { "service": "gone", "reason": gone, "levels": [at("server", "gone")] },
            { "service": "unfit", "reason": "the kernel has no nvme-tcp",
              "levels": [at("disk", "nvme"), at("server", "unfit")] },
        ])
    );
    assert_eq!(document["factors"][0]["levels"], json!(["origin", "fit"]));
    assert_eq!(document["factors"][1]["levels"], json!(["ram"]));
    let claim = &document["claims"][0]["measured"];
    assert_eq!(claim["answer"], "not_tested");
    assert_eq!(claim["why"], format!("server gone is omitted: {gone}"));
    let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("unfit is omitted, with nvme: the kernel has no nvme-tcp."), "{report}");
    let page = fs::read_to_string(fixture.path("out/report.html")).unwrap();
    assert!(page.contains("the kernel has no nvme-tcp"));

    // What the study did without when it began it does without to its end.
    fs::remove_file(fixture.path("out/cells/c002-r3.json")).unwrap();
    let program = fixture.path("gone");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fine(&fixture.resume(&["--quiet"]));
    assert_complete(&fixture.document());
    assert_eq!(fixture.document()["omitted"], document["omitted"]);
}

#[test]
fn a_factor_without_a_level_that_can_run_is_refused_in_one_line() {
    let fixture = StudyFixture::alone(
        "name = \"x\"\n[factors]\nserver = [\"a\", \"b\"]\nfamily = [\"ipv6\", \"ipv4\"]\n\
         [services.a]\ncommand = [\"no-such-program\"]\noptional = true\n\
         [services.b]\ncommand = [\"{sixmark}\"]\noptional = true\nprobe = [\"false\"]\n",
    );
    let refused = fixture.run(&["--quiet"]);
    assert_eq!(
        complaint(&refused, 3),
        "sixmark: no level of server remains: these services can't run here: a (no-such-program is not \
         installed); b (its probe failed (exit status: 1))"
    );
    assert!(!fixture.path("out").exists());
}

#[test]
fn rejects_a_probe_on_a_service_that_is_not_optional() {
    let fixture = StudyFixture::alone(
        "name = \"x\"\n[services.a]\ncommand = [\"true\"]\nprobe = [\"{nowhere}\"]\n",
    );
    let refused = sixmark(&["study", "check", &fixture.file()]);
    let text = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(
        text.contains("services.a.probe: decides whether an optional service is omitted"),
        "{text}"
    );
    assert!(text.contains("{nowhere} has no value here"), "{text}");
}

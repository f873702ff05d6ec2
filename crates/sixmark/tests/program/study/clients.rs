//! What services and other clients are told, and what is refused of them.

use std::fs;

use sixmark_testkit::study::{ORIGIN, StudyFixture, fine};
use sixmark_testkit::{command, complaint, sixmark};

#[test]
fn services_see_nothing_of_the_callers_environment() {
    let origin = ORIGIN
        .replace("[\"{sixmark}\"", "[\"sh\", \"-c\", 'env; exec \"$0\" \"$@\"', \"{sixmark}\"");
    let fixture = StudyFixture::alone(&format!("name = \"plain\"\n[options]\ncount = 1\n{origin}"));
    let arguments = ["study", "run", &fixture.file(), "--out", &fixture.out(), "--quiet"];
    let mut study = command(&arguments);
    study.env("API_TOKEN", "not for others").env("LANG", "de_DE.UTF-8");
    fine(&study.output().unwrap());
    let log = fs::read_to_string(fixture.path("out/logs/origin.log")).unwrap();
    assert!(log.contains("PATH=") && log.contains("LC_ALL=C"), "{log}");
    assert!(!log.contains("API_TOKEN") && !log.contains("LANG="), "{log}");
}

#[test]
fn rejects_block_options_without_fio_and_request_options_with_fio() {
    for (options, part) in [
        ("depth = 2", "depth: applies only to client = \"fio\""),
        ("client = 'curl'\noperation = 'read'", "operation: applies only to client = \"fio\""),
        (
            "client = 'fio'\noperation = 'read'\nblock = '64k'\nsize = '1m'",
            "nbd://, nfs://, iscsi:// or nvme://",
        ),
        ("client = 'fio'\nrate = '5/s'", "rate: is an option of sixmark run"),
    ] {
        let text = format!("name = \"x\"\n[options]\n{options}\n[factors]\nfamily = [\"ipv6\"]\n");
        let fixture = StudyFixture::new(&text);
        let line = complaint(&sixmark(&["study", "check", &fixture.file()]), 2);
        assert!(line.contains(part), "{options}: {line}");
    }
}

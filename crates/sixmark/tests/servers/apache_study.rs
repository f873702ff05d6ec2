//! The study of Apache with programs that are not on every machine: two given Apaches, and Tomcat.

use std::fs;
use std::path::PathBuf;

use sixmark_sys::join;
use sixmark_testkit::study::{StudyFixture, assert_complete, fine};
use sixmark_testkit::{complaint, skipped};

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../experiments/apache/", $name))
    };
}

/// The study with these servers alone, and few requests; `more` is added to it.
fn cut(servers: &str, more: &str) -> StudyFixture {
    let quick = format!(
        "[quick]\nrepetitions = 3\ntakes = \"5s\"\n[quick.options]\ncount = 20\n[quick.factors]\n\
         server = [{servers}]\nclient = [\"ab\"]\n"
    );
    let whole = "[quick]\nrepetitions = 4\ntakes = \"20s\"\n";
    assert!(file!("study.toml").contains(whole));
    let text = file!("study.toml").replace(whole, &quick);
    let fixture = StudyFixture::alone(&format!("{text}{more}"));
    fs::write(fixture.path("published.toml"), file!("published.toml")).unwrap();
    fs::write(fixture.path("lab.toml"), file!("lab.toml")).unwrap();
    fixture
}

/// Puts Debian's Apache where one that was built from source would be.
fn build(fixture: &StudyFixture, name: &str) -> PathBuf {
    let folder = fixture.path(name).join("bin");
    fs::create_dir_all(&folder).unwrap();
    fs::copy("/usr/sbin/apache2", folder.join("httpd")).unwrap();
    folder.join("httpd")
}

#[test]
fn compares_two_given_apache_builds_in_one_study() {
    if ["nginx", "apache", "ab"].into_iter().any(skipped) {
        return;
    }
    let fixture = cut("\"old\", \"new\"", "");
    let given = |name: &str| format!("{name}={}", build(&fixture, name).display());
    let (old, new) = (given("old"), given("new"));
    let both = ["--quick", "--quiet", "--server", &old, "--server", &new];

    let refused = |more: &[&str]| {
        let words = [&["--quick"], more].concat();
        complaint(&fixture.run(&words), 2)
    };
    let line = refused(&["--server", "old=/etc/passwd"]);
    assert!(line.contains("old=/etc/passwd: is not an executable file"), "{line}");
    let line = refused(&["--server", &format!("older={}", &old[4..])]);
    assert!(line.contains("no service 'older'; it has: apache, nginx, tomcat, old, new"), "{line}");
    let line = complaint(&fixture.run(&["--quick", "--quiet"]), 3);
    assert!(
        line.contains("no level of server remains") && line.contains("--server old=PATH"),
        "{line}"
    );
    assert!(!fixture.path("out").exists());

    fine(&fixture.run(&both));
    let document = fixture.document();
    assert_complete(&document);
    for (name, path) in [("old", &old[4..]), ("new", &new[4..])] {
        let said = document["programs"][name].as_str().unwrap();
        assert!(said.contains("Apache/2.4") && said.ends_with(&format!("({path})")), "{said}");
    }
    let claims = document["claims"].as_array().unwrap();
    let older = claims.iter().find(|claim| claim["id"] == "older-version-more-requests").unwrap();
    assert_eq!(older["measured"]["blocks"], 3, "{older}");

    // It goes on with the same programs alone.
    fs::remove_file(fixture.path("out/cells/c001-r3.json")).unwrap();
    let line = complaint(&fixture.resume(&["--quiet"]), 2);
    assert!(line.contains("give it again, --server old=PATH"), "{line}");
    let other = format!("new={}", build(&fixture, "newer").display());
    let changed = fixture.resume(&["--quiet", "--server", &old, "--server", &other]);
    let line = complaint(&changed, 2);
    assert!(line.contains("new was ") && line.contains("newer/bin/httpd"), "{line}");
    fine(&fixture.resume(&["--quiet", "--server", &old, "--server", &new]));
    assert_complete(&fixture.document());
}

#[test]
fn tomcat_serves_the_study_as_the_www_data_user() {
    if ["nginx", "apache", "ab", "tomcat"].into_iter().any(skipped) {
        return;
    }
    // The brackets keep this program itself from being found.
    let look = "\n[hooks]\nafter_cell = [\"sh\", \"-c\", \"for p in /proc/[0-9]*; do grep -qs \
                'startup.[B]ootstrap' $p/cmdline && stat -c %U $p; done >FILE; true\"]\n";
    let fixture = cut("\"tomcat\", \"nginx\"", "");
    let accounts = fixture.path("accounts").display().to_string();
    let text = fs::read_to_string(fixture.path("study.toml")).unwrap();
    let text =
        text.replacen("\n[options]", &format!("{}\n[options]", look.replace("FILE", &accounts)), 1);
    fs::write(fixture.path("study.toml"), text).unwrap();

    fine(&fixture.run(&["--quick", "--quiet"]));
    let document = fixture.document();
    assert_complete(&document);
    let omitted = document["omitted"].as_array().unwrap();
    let names: Vec<&str> = omitted.iter().map(|one| one["service"].as_str().unwrap()).collect();
    assert_eq!(names, ["old", "new"], "tomcat10-common is needed: {omitted:?}");
    let cells = document["cells"].as_array().unwrap();
    for (cell, family) in
        cells.iter().flat_map(|cell| ["ipv6", "ipv4"].map(|family| (cell, family)))
    {
        let figures = &cell["families"][family];
        assert!(figures.is_null() || figures["completed"] == 20.0, "{cell}");
    }
    if join::account() == 0 {
        let accounts = fs::read_to_string(accounts).unwrap();
        assert!(accounts.lines().any(|account| account == "www-data"), "{accounts}");
        assert!(accounts.lines().all(|account| account == "www-data"), "{accounts}");
    }
}

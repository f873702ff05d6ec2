//! The Debian package: clean, installed, used and purged.

use std::fs;
use std::path::PathBuf;

use sixmark_testkit::skipped;

use crate::nats_server::found_in;

use crate::files::{find_file, output_of, run_command, target_folder, text_of};

/// The exposure of a service, tenths of what systemd-analyze(1) prints: 0 is the least, 100 the most.
const MOST_EXPOSURE: &str = "20";

/// The small Debian that `scripts/install-debian` has made.
fn base_archive() -> PathBuf {
    let archive = target_folder().join("peers/debian-bookworm.tar");
    assert!(archive.exists(), "no {}: scripts/install-debian makes it", archive.display());
    archive
}

/// Run in namespaces of their own, with the folder of the chroot as `$1`.
const LIFE: &str = r#"set -eu
ip link set lo up
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
root=$1
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path './var/lib/dpkg/*' -o -path './var/log/*' \) -prune -o -print | sort); }
# A system has this file. This one has none, and a lab, which `doctor` tries, makes it to mount its own there.
: >>"$root/etc/hosts"
files >"$root/tmp/before"

echo "== install"
inside dpkg --install /tmp/sixmark.deb
inside dpkg --verify sixmark
echo "== use"
inside sixmark --version
inside sixmark demo
inside sixmark study list
inside sixmark vitals --duration 300ms
test -s "$root/usr/share/man/man1/sixmark-run.1.gz"
inside bash -c '. /usr/share/bash-completion/completions/sixmark && complete -p sixmark'
inside sixmark study check /usr/share/sixmark/studies/towson/study.toml
inside sixmark doctor --json /tmp/doctor.json >/dev/null || true
cat "$root/tmp/doctor.json"
echo "== services"
for unit in vitals agent; do
    test -s "$root/lib/systemd/system/sixmark-$unit.service" || test -s "$root/usr/lib/systemd/system/sixmark-$unit.service"
    test -s "$root/etc/default/sixmark-$unit"
done
test ! -e "$root/etc/systemd/system/multi-user.target.wants/sixmark-agent.service"
echo "== purge"
inside dpkg --purge sixmark
inside sh -c '! command -v sixmark'
files >"$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after"
echo "== nothing is left"
"#;

#[test]
fn the_package_is_installed_used_and_purged_in_a_clean_debian() {
    if skipped("distribution") || skipped("debian") || skipped("netns") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    run_command(
        "tar",
        &["-xf", base_archive().to_str().unwrap(), "-C", root, "--exclude", "./dev/*"],
    );
    fs::copy(find_file(".deb"), folder.path().join("tmp/sixmark.deb")).unwrap();
    let namespaces =
        ["--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", LIFE, "sh", root];
    let text = run_command("unshare", &namespaces);
    println!("{text}");
    // Not in PATH, which is the place of Debian's own.
    assert_eq!(found_in(&text).as_deref(), Some("/usr/lib/sixmark/nats-server"), "{text}");
    for step in ["== use", "no request failed", "towson", "== nothing is left"] {
        assert!(text.contains(step), "{step}: {text}");
    }
}

#[test]
fn lintian_reports_no_errors_or_warnings() {
    if skipped("distribution") || skipped("debian") {
        return;
    }
    let package = find_file(".deb");
    let text = run_command("lintian", &["--fail-on", "error,warning", package.to_str().unwrap()]);
    println!("{text}");
    assert!(!text.contains("W: ") && !text.contains("E: "), "{text}");
}

#[test]
fn systemd_units_are_valid_and_have_low_exposure() {
    if skipped("distribution") || skipped("debian") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let package = find_file(".deb");
    run_command("dpkg-deb", &["-x", package.to_str().unwrap(), folder.path().to_str().unwrap()]);
    for name in ["agent", "vitals"] {
        let places = ["lib/systemd/system", "usr/lib/systemd/system"];
        let units =
            places.map(|place| folder.path().join(format!("{place}/sixmark-{name}.service")));
        let unit = units.iter().find(|unit| unit.exists()).expect("the package has the unit");
        let unit = unit.to_str().unwrap();
        let option = format!("--threshold={MOST_EXPOSURE}");
        let options = ["security", "--offline=true", "--no-pager", &option, unit];
        let text = run_command("systemd-analyze", &options);
        println!("{}", text.lines().last().unwrap());
        // The unit is right but for the program, which is not installed here.
        let said = text_of(&output_of("systemd-analyze", &["verify", "--man=no", unit]));
        let wrong = said
            .lines()
            .find(|line| line.contains("sixmark-") && !line.contains("is not executable"));
        assert_eq!(wrong, None, "{said}");
    }
}

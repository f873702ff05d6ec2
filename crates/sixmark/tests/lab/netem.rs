//! Whether the kernel has netem is told, and nothing is guessed.

use sixmark_lab::netem;
use sixmark_testkit::skipped;

#[test]
fn netem_detection_agrees_with_the_kernel_configuration() {
    if skipped("netns") {
        return;
    }
    let found = netem::is_there().unwrap();
    assert_eq!(netem::is_there(), Ok(found), "it is tried once");
    let Some(configured) = configured() else { return };
    assert_eq!(found, configured);
}

/// What /proc/config.gz says, of kernels that have it. A module may be missing, so that only `y` and
/// `n` are certain.
fn configured() -> Option<bool> {
    let output = std::process::Command::new("zcat").arg("/proc/config.gz").output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|text| !text.is_empty())?;
    match text.lines().find(|line| line.contains("CONFIG_NET_SCH_NETEM"))? {
        "CONFIG_NET_SCH_NETEM=y" => Some(true),
        "# CONFIG_NET_SCH_NETEM is not set" => Some(false),
        _ => None,
    }
}

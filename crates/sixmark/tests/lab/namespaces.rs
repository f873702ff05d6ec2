//! What the kernel is asked for to build hosts: namespaces, devices and their features.

use std::path::PathBuf;
use std::time::Instant;

use sixmark_sys::ethtool::{Ethtool, Feature};
use sixmark_sys::interface;
use sixmark_sys::netns::NetNs;
use sixmark_sys::tap::Tap;
use sixmark_testkit::{DEADLINE, skipped};

/// What names the network namespace that the calling thread is in.
fn namespace_of_thread() -> PathBuf {
    std::fs::read_link("/proc/thread-self/ns/net").unwrap()
}

#[test]
fn a_new_namespace_is_separate_and_the_caller_stays_in_its_own() {
    if skipped("netns") {
        return;
    }
    let here = namespace_of_thread();
    let new = NetNs::create().expect("this needs root");
    let tap = new.within(|| Tap::create("sixmark-test")).unwrap();
    let found = new.within(|| Ok(interface::index("sixmark-test"))).unwrap();
    assert!(found.is_some());
    assert_eq!(interface::index("sixmark-test"), None, "not in the caller's");
    assert_eq!(namespace_of_thread(), here);
    assert_ne!(new.within(|| Ok(namespace_of_thread())).unwrap(), here);
    drop(tap);
    // A program that another test is just starting has the descriptor too, until it begins.
    let start = Instant::now();
    while new.within(|| Ok(interface::index("sixmark-test"))).unwrap().is_some() {
        assert!(start.elapsed() < DEADLINE, "the device outlives its descriptor");
        std::thread::yield_now();
    }
}

#[test]
fn switching_a_device_feature_changes_only_that_feature() {
    if skipped("netns") {
        return;
    }
    let here = NetNs::create().expect("this needs root");
    let look = || {
        let _tap = Tap::create("switched")?;
        let tool = Ethtool::open()?;
        let before = tool.features("switched")?;
        tool.switch("switched", &[("rx-gro", false), ("no such", true)])?;
        Ok((before, tool.features("switched")?))
    };
    let (before, after) = here.within(look).unwrap();
    let gro = |features: &[Feature]| features.iter().find(|f| f.name == "rx-gro").unwrap().on;
    assert!(gro(&before));
    assert!(!gro(&after));
    let differ = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    assert_eq!(differ, 1);
    let absent = here.within(|| Ethtool::open()?.features("absent")).unwrap_err();
    assert_eq!(absent.raw_os_error(), Some(libc::ENODEV));
}

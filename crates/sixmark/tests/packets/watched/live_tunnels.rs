//! Tags and tunnels on an interface: what the kernel's filter lets through, and what is made of it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde_json::Value;
use sixmark_sys::netns::NetNs;
use sixmark_sys::tap::Tap;
use sixmark_testkit::watch::{check_account, watched};
use sixmark_testkit::wraps::WRAPS;
use sixmark_testkit::{command, document, finish, signal, skipped};
use sixmark_wire::Link as LinkType;
use sixmark_wire::pcap::{self, Record};

use super::made::{Link, Made, Origin, host, ip, load, set};
use super::{left_out, loaded};

/// Figures of a family that do not depend on the times of packets.
fn said(document: &Value, family: &str) -> Vec<Value> {
    let of = |place: &str, paths: &[&str]| -> Vec<Value> {
        let figures = document.pointer(place).unwrap();
        paths.iter().map(|path| figures.pointer(path).unwrap().clone()).collect()
    };
    let counted = [
        "/requests/completed",
        "/status",
        "/connections/opened",
        "/bytes/body",
        "/bytes/received",
        "/bytes/sent",
    ];
    let seen = ["/connections", "/closures", "/spoken", "/via", "/from_client/frame_bytes"];
    let counted = of(&format!("/families/{family}"), &counted);
    [counted, of(&format!("/watched/families/{family}"), &seen)].concat()
}

/// The document of a watch of these interfaces of a host, while something is done.
fn watch(host: &NetNs, words: &[&str], work: impl FnOnce()) -> Value {
    let arguments = [&["watch", "--json", "-"], words].concat();
    let mut command = command(&arguments);
    let mut watch = host.within(|| command.spawn()).unwrap();
    let mut errors = BufReader::new(watch.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("watching ") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "it ended before it watched");
    }
    work();
    signal(watch.id(), "INT");
    let document = document(&finish(watch));
    assert_eq!(document["watched"]["dropped"], 0);
    check_account(&document);
    document
}

/// Every frame of a capture in every wrap, one capture after the other, and a frame of ARP.
fn all_frames(made: &Made) -> Vec<Vec<u8>> {
    let frames = made.frames();
    let wrapped = WRAPS.iter().filter(|wrap| wrap.name != "MPLS");
    let wrapped = wrapped.flat_map(|wrap| frames.iter().map(|(_, frame)| wrap.frame(frame)));
    let arp = [&[2; 12][..], &[8, 6], &[0; 46]].concat();
    wrapped.chain([arp]).collect()
}

fn write(path: &Path, frames: &[Vec<u8>]) {
    let mut file = pcap::header(262_144, LinkType::Ethernet).to_vec();
    for (number, bytes) in frames.iter().enumerate() {
        // As dense as they are live, so that none is late.
        let at_ns = 1_700_000_000_000_000_000 + number as u64 * 1_000;
        pcap::write_record(&Record { at_ns, length: bytes.len() as u32, bytes }, &mut file);
    }
    std::fs::write(path, file).unwrap();
}

#[test]
fn the_kernel_filter_passes_connections_inside_tunnels() {
    if left_out() {
        return;
    }
    let made = loaded(&Link::plain(), &["-n", "20", "-c", "2"], "/bytes/3000");
    let (frames, ports) = (all_frames(&made), made.ports.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all");
    write(&path, &frames);
    let ports = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
    let (file, _) = watched(&path, &["--port", &ports]);
    let place = host();
    let tap = place.within(|| Tap::create("trunk")).unwrap();
    // The kernel then sends nothing of its own.
    set(&place, "net/ipv6/conf/trunk/disable_ipv6", "1");
    ip(&place, "link set trunk up");
    let live = watch(&place, &["-i", "trunk", "--port", &ports], || {
        frames.iter().for_each(|frame| tap.write(frame).unwrap());
    });
    for family in ["ipv6", "ipv4"] {
        assert_eq!(said(&live, family), said(&file, family));
    }
    assert_eq!(live["watched"]["followed"], file["watched"]["followed"]);
    // Of what is not followed the kernel omits other ports of TCP and UDP, where it can tell them.
    let others = |document: &Value| {
        let mut others = document["watched"]["not_followed"].as_object().unwrap().clone();
        others.retain(|name, _| !name.ends_with("to other ports"));
        others
    };
    assert_eq!(others(&live), others(&file));
    assert_eq!(others(&live)["ARP"], others(&file)["ARP"]);
}

#[test]
fn sees_connections_inside_the_kernels_vxlan_tunnel() {
    if left_out() || skipped("vxlan") {
        return;
    }
    let link = Link::vxlan();
    let origin = Origin::start(&link, &[]);
    let ports = origin.ports().iter().map(u16::to_string).collect::<Vec<_>>().join(",");
    let (host, interface) = link.vantage();
    let seen = watch(host, &["-i", interface, "--port", &ports, "--settle", "10s"], || {
        load(&link, &["-n", "40", "-c", "2", "--no-keep-alive"], &origin.urls("/bytes/3000"));
    });
    for family in ["ipv6", "ipv4"] {
        let of = &seen["watched"]["families"][family];
        assert_eq!((&of["connections"], &of["via"]["vxlan 42"]), (&20.into(), &20.into()));
        assert_eq!(seen["families"][family]["requests"]["completed"], 20);
    }
}

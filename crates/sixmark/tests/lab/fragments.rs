//! Large packets on their way through a core that takes smaller ones: cut up by a router, or made to fit.

use sixmark_testkit::lab::{Lab, without};

const LAB: &str = include_str!("../../../../experiments/dell/lab.toml");

fn fetch(lab: &Lab, host: &str) {
    let url = format!("http://{host}/bytes/262144");
    let words =
        ["curl", "-sS", "--max-time", "60", "-w", "%{size_download}", "-o", "/dev/null", &url];
    assert_eq!(lab.says("client", &words), "262144");
}

#[test]
fn routers_fragment_ipv4_only_where_its_senders_let_them() {
    if without(&["bird2", "nftables", "curl"]) {
        return;
    }
    for (pmtu, fragmented) in [("fragmented", true), ("discovery", false)] {
        let choice = format!("pmtu={pmtu}");
        let lab = Lab::up(pmtu, LAB, &[&choice, "tso=off"]);
        fetch(&lab, "10.0.5.2");
        // r4 stands before the core on the server's side.
        let [made, refused] = ["IpFragCreates", "IpFragFails"].map(|name| lab.counter("r4", name));
        assert_eq!((made > 0, refused > 0), (fragmented, !fragmented), "{pmtu}: {made}, {refused}");
        fetch(&lab, "[fd00:0:0:5::2]");
        assert!(lab.counter("r4", "Icmp6OutPktTooBigs") > 0);
        assert_eq!(lab.counter("r4", "Ip6FragCreates"), 0, "no router fragments IPv6");
    }
}

//! Translation of IPv4 addresses.

use sixmark_testkit::lab::{Lab, without};

const HOME: &str = r#"
name = "home"
[hosts]
client = {}
home = { forwards = true, nat44 = { masquerade = ["server"], forward = [{ port = 8080, to = "client", to-port = 80 }] } }
server = {}
[links]
inside = ["client", "home"]
outside = ["home", "server"]
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80", "--listen", "{server.ipv4}:80"]
[services.own]
host = "client"
command = ["{sixmark}", "origin", "--listen", "[{client.ipv6}]:80", "--listen", "{client.ipv4}:80"]
"#;

#[test]
fn a_server_sees_the_routers_ipv4_address_and_the_clients_ipv6_address() {
    if without(&["nftables", "curl"]) {
        return;
    }
    let lab = Lab::up("nat44", HOME, &[]);
    let get = |url: &str| lab.says("client", &["curl", "-sS", "--max-time", "60", url]);
    let page = get("http://10.0.2.2/dynamic");
    assert!(page.contains("10.0.2.1") && !page.contains("10.0.1.1"), "{page}");
    let page = get("http://[fd00:0:0:2::2]/dynamic");
    assert!(page.contains("fd00:0:0:1::1"), "{page}");
}

#[test]
fn a_port_of_the_router_leads_to_a_host_behind_it() {
    if without(&["nftables", "curl"]) {
        return;
    }
    let lab = Lab::up("dnat", HOME, &[]);
    let words = ["curl", "-sS", "--max-time", "60", "http://10.0.2.1:8080/dynamic"];
    let page = lab.says("server", &words);
    assert!(page.contains("10.0.2.2"), "it answers whoever asked: {page}");
    let ours = lab.exec("server", &["curl", "-sS", "--max-time", "60", "http://10.0.2.1/"]);
    assert_eq!(ours.status.code(), Some(7), "no other port is open: {ours:?}");
}

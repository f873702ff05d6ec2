//! DHCPv4 in a lab: hosts get the addresses that they have, and those that can do without IPv4 are told to.

use serde_json::{Value, json};
use sixmark_testkit::lab::{Lab, without};

/// Two routers: one tells clients to do without IPv4 for a while, the other does not.
const LAB: &str = r#"
name = "dhcp"
[hosts]
mostly = { forwards = true, dhcp = { v6only-wait = "1800s" } }
plain = { forwards = true, dhcp = {}, name-server = true }
client = { resolver = "plain" }
other = {}
[bridges.lan]
[links]
mostly = ["mostly", "lan"]
client = ["client", "lan"]
other = ["other", "lan"]
far = ["mostly", "plain"]
second = { between = ["client", "plain"], at.client.name = "second" }
"#;

/// A client of DHCPv4. Sends malformed messages, then one for each word: its type, the address that it asks for, and
/// the codes in its list. Prints of each answer the type, the address and the options.
const ASK: &str = r"
import fcntl, json, os, socket, struct, sys
link, *words = sys.argv[1:]
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
own.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, link.encode())
own.bind(('', 68))
own.settimeout(60)
hardware = fcntl.ioctl(own, 0x8927, struct.pack('256s', link.encode()))[18:24]
server = ('255.255.255.255', 67)
for size in (0, 1, 239, 300, 1472):
    own.sendto(os.urandom(size), server)
for number, word in enumerate(words):
    kind, address, codes = word.split('/')
    head = struct.pack('!4BIHH16s16s192x4B', 1, 1, 6, 0, number, 0, 0x8000, b'', hardware, 99, 130, 83, 99)
    options = bytes([53, 1, int(kind)])
    if address:
        options += bytes([50, 4]) + socket.inet_aton(address)
    codes = bytes(map(int, codes.split('+')))
    own.sendto(head + options + bytes([55, len(codes)]) + codes + bytes([255]), server)
    while True:
        data, sender = own.recvfrom(1500)
        if data[0] == 2 and struct.unpack_from('!I', data, 4)[0] == number:
            break
    assert data[28:34] == hardware
    rest, found = data[240:], {}
    while rest[0] != 255:
        code, length = rest[:2]
        found[code] = rest[2:2 + length].hex()
        rest = rest[2 + length:]
    print(json.dumps([sender, found.pop(53), socket.inet_ntoa(data[16:20]), found]))
";

/// Returns the answers to these messages.
fn ask(lab: &Lab, host: &str, link: &str, words: &[&str]) -> Vec<Value> {
    let said = lab.says(host, &[&["python3", "-c", ASK, link], words].concat());
    let found = said.lines().map(|line| serde_json::from_str(line).unwrap());
    let found: Vec<Value> = found.collect();
    assert_eq!(found.len(), words.len(), "{said}");
    found
}

#[test]
fn hosts_get_their_addresses_and_option_108_only_if_they_ask_for_it() {
    if without(&["python3", "unbound"]) {
        return;
    }
    let lab = Lab::up("dhcp", LAB, &[]);
    let mostly = json!(["10.0.1.1", 67]);
    // A discovery and a request, with the code in the list and without; an address of another host; and what a client
    // asks for that has an address.
    let words = [
        "1//1+3+6+108",
        "3/10.0.1.2/1+3+6+108",
        "1//1+3+6",
        "3/10.0.1.2/1+3+6",
        "3/10.0.1.3/1+108",
        "8//1+108",
    ];
    let given = json!({ "54": "0a000101", "51": "00015180", "1": "ffffff00", "3": "0a000101", "6": "0a000202" });
    let mut with_option = given.clone();
    with_option["108"] = json!("00000708");
    let mut without_time = with_option.clone();
    without_time.as_object_mut().unwrap().remove("51");
    let expected = [
        json!([mostly, "02", "10.0.1.2", with_option]),
        json!([mostly, "05", "10.0.1.2", with_option]),
        json!([mostly, "02", "10.0.1.2", given]),
        json!([mostly, "05", "10.0.1.2", given]),
        json!([mostly, "06", "0.0.0.0", { "54": "0a000101" }]),
        json!([mostly, "05", "0.0.0.0", without_time]),
    ];
    assert_eq!(ask(&lab, "client", "lan", &words), expected);
    // A host without a name server, and a router that has no such option.
    let found = &ask(&lab, "other", "lan", &["1//108"])[0];
    assert_eq!((&found[2], &found[3]["108"]), (&json!("10.0.1.3"), &json!("00000708")));
    assert_eq!(found[3].get("6"), None, "{found}");
    let found = &ask(&lab, "client", "second", &["1//1+3+6+108"])[0];
    assert_eq!((&found[0], &found[2]), (&json!(["10.0.3.2", 67]), &json!("10.0.3.1")));
    assert_eq!(found[3].get("108"), None, "{found}");
}

//! Hosts without the stack of a family, which is more than being without an address of it.

use sixmark_testkit::lab::{Lab, without};

const LAB: &str = r#"
name = "stacks"
[hosts]
both = {}
only6 = { families = ["ipv6"], stacks = ["ipv6"] }
only4 = { families = ["ipv4"], stacks = ["ipv4"] }
[links]
six = ["both", "only6"]
four = ["both", "only4"]
[services.own]
host = "only6"
command = ["{sixmark}", "origin", "--listen", "[::]:80"]
urls = ["http://[{only6.ipv6}]:80"]
"#;

#[test]
fn programs_of_a_host_without_a_stack_can_not_open_its_sockets() {
    if without(&["curl", "python3"]) {
        return;
    }
    let lab = Lab::up("stacks", LAB, &[]);
    let exit = |host: &str, url: &str| {
        let words = ["curl", "-sS", "-o", "/dev/null", "--max-time", "60", "-g", url];
        lab.exec(host, &words).status.code()
    };
    assert_eq!(exit("only6", "http://[::1]/health"), Some(0));
    // With a stack of the family these would be refused, because nobody listens there.
    let absent = ["http://127.0.0.1/health", "http://[::ffff:127.0.0.1]/health"];
    let absent =
        absent.map(|url| ("only6", url)).into_iter().chain([("only4", "http://[::1]/health")]);
    for (host, url) in absent {
        let refused = lab.exec(host, &["curl", "-v", "--max-time", "60", "-g", url]);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_ne!(refused.status.code(), Some(0), "{host}: {url}");
        assert!(!said.contains("Connection refused"), "{host}: {url}: {said}");
    }
    let program = "import socket; socket.socket(socket.AF_INET)";
    let failed = lab.exec("only6", &["python3", "-c", program]);
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(said.contains("Address family not supported by protocol"), "{said}");
    assert_eq!(lab.exec("both", &["python3", "-c", program]).status.code(), Some(0));
    // Children have no way back.
    let shell = format!("sh -c 'python3 -c \"{program}\"'");
    assert_ne!(lab.exec("only6", &["sh", "-c", &shell]).status.code(), Some(0));
    // Others reach it.
    let url = "http://[{}]/health".replace("{}", lab.says("only6", &["hostname", "-I"]).trim());
    assert_eq!(exit("both", &url), Some(0), "{url}");
}

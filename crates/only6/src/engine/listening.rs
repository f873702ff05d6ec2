//! The sockets that listen in a host, as the kernel lists them.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_units::family::Family;

use crate::app_start::ListeningSocket;

use super::cannot;

/// The state of a socket that listens, in hexadecimal (proc_pid_net(5)).
const LISTEN: &str = "0A";

/// Returns the sockets of TCP that listen on a port in a host, in order and each once.
///
/// # Errors
/// Returns an error if the kernel's lists can't be read.
pub(super) fn listening_sockets(
    host: &Host,
    port: u16,
) -> Result<Vec<ListeningSocket>, CommandError> {
    let read = || {
        let of = |family: Family| {
            let file = match family {
                Family::Ipv6 => "/proc/thread-self/net/tcp6",
                Family::Ipv4 => "/proc/thread-self/net/tcp",
            };
            let text = fs::read_to_string(file);
            let text = text.map_err(|error| cannot(&format!("{file} can't be read"), error))?;
            Ok(parse_sockets(&text, family, port))
        };
        let [ipv6, ipv4] = Family::BOTH.map(of);
        let mut all: Vec<ListeningSocket> = ipv6?.into_iter().chain(ipv4?).collect();
        all.sort_unstable();
        all.dedup();
        Ok(all)
    };
    host.within(read)
}

fn parse_sockets(text: &str, family: Family, port: u16) -> Vec<ListeningSocket> {
    let socket = |line: &str| {
        let mut fields = line.split_whitespace();
        let (address, own_port) = fields.nth(1)?.split_once(':')?;
        let state = fields.nth(1)?;
        let is_meant = state == LISTEN && u16::from_str_radix(own_port, 16).ok()? == port;
        let address = parse_address(address)?;
        is_meant.then_some(ListeningSocket { family, address })
    };
    text.lines().skip(1).filter_map(socket).collect()
}

/// Parses an address of one word or of four: each is in the byte order of the machine.
fn parse_address(text: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let word = u32::from_str_radix(text.get(at * 8..at * 8 + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    match text.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let octets = [word(0)?, word(1)?, word(2)?, word(3)?].concat();
            let octets: [u8; 16] = octets.try_into().ok()?;
            Some(Ipv6Addr::from(octets).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn reads_the_kernels_lists() {
        let text = "  sl  local_address rem_address   st tx_queue\n   \
                    0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n   \
                    1: 00000000:1F90 00000000:0000 0A 00000000:00000000\n   \
                    2: 00000000:1F90 0100007F:0050 01 00000000:00000000\n   \
                    3: 00000000:0050 00000000:0000 0A 00000000:00000000\n";
        let found = parse_sockets(text, Family::Ipv4, 8080);
        let addresses: Vec<String> = found.iter().map(|of| of.address.to_string()).collect();
        assert_eq!(addresses, ["127.0.0.1", "0.0.0.0"]);
        let text = "  sl  local_address rem_address   st\n   \
                    0: B80D0120000002000000000050000000:0050 00000000000000000000000000000000:0000 0A\n";
        let found = parse_sockets(text, Family::Ipv6, 80);
        assert_eq!(found[0].address.to_string(), "2001:db8:2::50");
        assert_eq!(parse_sockets("x\ny z\n 1: 00:zz a 0A\n", Family::Ipv6, 80), []);
    }
}

//! Sends Router Advertisements from a host: at start, in intervals, and in answer to solicitations.

use std::io;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use crate::plan::{AdvertisementPlan, Lab, LinkEnd};
use sixmark_sys::interface;
use sixmark_sys::segment_socket::SegmentSocket;
use sixmark_units::family::Family;
use sixmark_units::net::Net;
use sixmark_units::random::Random;

use super::advertisement::{advertisement_bytes, advertisement_intervals, is_valid_solicitation};
use super::host::Host;
use super::part::error_of_part;
use super::responder::{Responder, ResponderWork};
use sixmark_sys::command_error::CommandError;

/// All nodes of a link (RFC 4291, 2.7.1).
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
/// The number of advertisements after the start that follow each other sooner, and their longest interval (RFC
/// 4861, 10).
const FIRST_ONES: u32 = 3;
const FIRST_INTERVAL: Duration = Duration::from_secs(16);
/// The least time between two advertisements to all nodes (RFC 4861, 10).
const LEAST_BETWEEN: Duration = Duration::from_secs(3);
/// The time after which one that could not be sent is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest solicitation that is read; longer ones are cut and thus invalid.
const LONGEST: usize = 1_500;

/// What a thread needs to advertise a router on its links.
struct Advertiser {
    socket: SegmentSocket,
    links: Vec<AdvertisedLink>,
    intervals: [Duration; 2],
    random: Random,
}

/// An interface of the router.
#[derive(Debug)]
struct AdvertisedLink {
    interface: u32,
    message: Vec<u8>,
    due: Instant,
    /// When the last one was sent to all nodes.
    last: Option<Instant>,
    /// How many were sent to all nodes.
    sent: u32,
}

/// Starts the advertisements of a host that are in its plan. They end when the result is dropped.
pub(super) fn advertise(
    lab: &Lab,
    number: usize,
    plan: &AdvertisementPlan,
    host: &Host,
) -> Result<Responder, CommandError> {
    let start = || {
        let now = Instant::now();
        let links = lab.ends(number).filter_map(|end| advertised_link(plan, end, now).transpose());
        let links: Vec<AdvertisedLink> = links.collect::<io::Result<_>>()?;
        let interfaces: Vec<u32> = links.iter().map(|link| link.interface).collect();
        let advertiser = Advertiser {
            socket: SegmentSocket::open_for_solicitations(&interfaces)?,
            links,
            intervals: advertisement_intervals(plan),
            random: Random::new(lab.seed, number as u64),
        };
        Responder::start(&format!("RA {}", host.name()), advertiser)
    };
    host.net().within(start).map_err(error_of_part(host.name()))
}

/// Returns the interface at an end of a link; `None` if it has no IPv6.
fn advertised_link(
    plan: &AdvertisementPlan,
    end: &LinkEnd,
    now: Instant,
) -> io::Result<Option<AdvertisedLink>> {
    let networks = end.addresses.iter().filter(|net| net.family() == Family::Ipv6);
    let networks: Vec<Net> = networks.copied().collect();
    if networks.is_empty() {
        return Ok(None);
    }
    let absent = || io::Error::from_raw_os_error(libc::ENODEV);
    let interface = interface::index(&end.interface).ok_or_else(absent)?;
    let message = advertisement_bytes(plan, &networks);
    Ok(Some(AdvertisedLink { interface, message, due: now, last: None, sent: 0 }))
}

impl ResponderWork for Advertiser {
    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn send_due(&mut self, now: Instant) -> Option<Duration> {
        let [least, most] = self.intervals;
        for link in self.links.iter_mut().filter(|link| link.due <= now) {
            let wait = least + (most - least).mul_f64(self.random.unit());
            link.send_to_all(&self.socket, now, wait);
        }
        let next = self.links.iter().map(|link| link.due).min()?;
        Some(next.saturating_duration_since(now))
    }

    fn answer(&mut self, now: Instant) -> io::Result<()> {
        let mut buffer = [0; LONGEST];
        let heard = self.socket.receive(&mut buffer)?;
        let SocketAddr::V6(from) = heard.from else { return Ok(()) };
        let known = self.links.iter_mut().find(|link| link.interface == heard.interface);
        let Some(link) = known else { return Ok(()) };
        if !is_valid_solicitation(&buffer[..heard.length], *from.ip(), heard.hop_limit) {
            return Ok(());
        }
        if from.ip().is_unspecified() {
            link.hasten(now);
        } else {
            // Whoever asked may be gone.
            let _ = self.socket.send(&link.message, &from.into(), link.interface);
        }
        Ok(())
    }
}

impl AdvertisedLink {
    /// Sends an advertisement to all nodes of the link, and sets when the next one is due: after `wait`, or sooner
    /// if it is one of the first or could not be sent.
    fn send_to_all(&mut self, socket: &SegmentSocket, now: Instant, wait: Duration) {
        let all = SocketAddrV6::new(ALL_NODES, 0, 0, self.interface);
        // An interface without carrier has no address yet.
        if socket.send(&self.message, &all.into(), self.interface).is_err() {
            self.due = now + AGAIN;
            return;
        }
        self.sent = self.sent.saturating_add(1);
        self.last = Some(now);
        self.due = now + if self.sent < FIRST_ONES { wait.min(FIRST_INTERVAL) } else { wait };
    }

    /// Makes the next advertisement to all nodes due as soon as it is allowed (RFC 4861, 6.2.6): whoever asked has no
    /// address that an answer could be sent to.
    fn hasten(&mut self, now: Instant) {
        let allowed = self.last.map_or(now, |last| now.max(last + LEAST_BETWEEN));
        self.due = self.due.min(allowed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_all_nodes_keeps_three_seconds_from_the_last_one() {
        let start = Instant::now();
        let link = |last| AdvertisedLink {
            interface: 1,
            message: Vec::new(),
            due: start + Duration::from_secs(60),
            last,
            sent: 1,
        };
        let at = |seconds| start + Duration::from_secs(seconds);
        let due = |last, now| {
            let mut of = link(last);
            of.hasten(now);
            of.due
        };
        assert_eq!(due(Some(start), at(1)), at(3));
        assert_eq!(due(Some(start), at(10)), at(10));
        assert_eq!(due(None, at(10)), at(10));
        assert_eq!(due(Some(at(59)), at(59)), at(60), "it is not put off");
    }
}

//! The smoltcp stack with its sockets, for one thread. The caller passes the time.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::time::Duration;

use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::{Duration as StackDuration, Instant};
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, Ipv6Address, Ipv6Cidr};

use super::neighbours::Neighbours;
use super::slot::ConnectionSlot;
use super::wire::{BareDevice, Port};
use super::{BareOptions, Congestion, Statistics};
use crate::turbo::request_handler::RequestHandler;

/// The time without any sign of the client after which its connection is aborted.
const PATIENCE: StackDuration = StackDuration::from_secs(120);

/// The server: everything between received frames and responses.
pub(super) struct Stack<P> {
    interface: Interface,
    wire: BareDevice<P>,
    sockets: SocketSet<'static>,
    slots: Vec<ConnectionSlot>,
    handler: RequestHandler,
    manner: SocketManner,
    connections: u64,
}

/// The parameters of each socket.
#[derive(Clone, Copy, Debug)]
struct SocketManner {
    port: u16,
    buffer: usize,
    congestion: Congestion,
}

impl<P: Port> Stack<P> {
    /// Creates a server on this port, whose clock starts now.
    ///
    /// # Errors
    /// Fails if there are more addresses than the stack supports.
    pub(super) fn new(options: &BareOptions, port: P) -> io::Result<Stack<P>> {
        let mac = EthernetAddress(options.hardware_address());
        let networks = networks(options, mac);
        let gateways: Vec<IpAddress> =
            options.gateways.iter().copied().map(IpAddress::from).collect();
        let mut wire = BareDevice::new(
            port,
            mac,
            Neighbours::new(mac, &networks, &gateways),
            options.loss_recovery,
        );
        let mut config = Config::new(mac.into());
        config.random_seed = RandomState::new().hash_one(std::process::id());
        let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
        give_addresses(&mut interface, &networks, &gateways)?;
        let (port, buffer) = (options.port, options.buffer_bytes);
        let manner = SocketManner { port, buffer, congestion: options.congestion };
        let mut sockets = SocketSet::new(Vec::new());
        let slots = (0..options.sockets)
            .map(|_| ConnectionSlot::new(sockets.add(manner.socket())))
            .collect();
        Ok(Stack {
            interface,
            wire,
            sockets,
            slots,
            handler: RequestHandler::default(),
            manner,
            connections: 0,
        })
    }

    /// Processes everything possible now. Returns how long until there is more to do if no frame
    /// arrives, or `None` if there is no such time.
    pub(super) fn turn(&mut self, now: Duration) -> Option<Duration> {
        let now = Instant::from_micros(i64::try_from(now.as_micros()).unwrap_or(i64::MAX));
        loop {
            self.interface.poll(now, &mut self.wire, &mut self.sockets);
            if !self.serve() {
                break;
            }
        }
        self.interface.poll_delay(now, &self.sockets).map(Into::into)
    }

    /// Resets every connection.
    pub(super) fn stop(&mut self, now: Duration) {
        for slot in &self.slots {
            self.sockets.get_mut::<Socket<'_>>(slot.socket).abort();
        }
        let now = Instant::from_micros(i64::try_from(now.as_micros()).unwrap_or(i64::MAX));
        self.interface.poll(now, &mut self.wire, &mut self.sockets);
    }

    /// Returns the statistics so far.
    pub(super) fn statistics(&mut self) -> Statistics {
        Statistics {
            connections: self.connections,
            requests: self.handler.served(),
            ..self.wire.flows().counts
        }
    }

    /// Returns the error after which no more frames can be received, if any.
    pub(super) fn end(&mut self) -> Option<io::Error> {
        self.wire.end()
    }

    /// Returns the port that carries the frames.
    pub(super) fn port(&self) -> &P {
        self.wire.port()
    }

    fn serve(&mut self) -> bool {
        let mut moved = false;
        for slot in &mut self.slots {
            let socket = self.sockets.get_mut::<Socket<'_>>(slot.socket);
            self.connections += u64::from(slot.accept(socket));
            moved |= slot.go_on(socket, &mut self.handler);
            // A connection in TIME-WAIT has nothing more to send, and sockets are few, so it is
            // freed.
            if matches!(socket.state(), State::Closed | State::TimeWait) {
                if let Some((client, own)) = slot.ends {
                    self.wire.flows().forget(client, own);
                }
                *socket = self.manner.socket();
                *slot = ConnectionSlot::new(slot.socket);
                moved = true;
            }
        }
        moved
    }
}

impl SocketManner {
    /// Creates a listening socket. A socket is not reused, because it would keep state of its last
    /// connection.
    fn socket(self) -> Socket<'static> {
        let buffer = || SocketBuffer::new(vec![0; self.buffer]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_nagle_enabled(false);
        socket.set_ack_delay(None);
        socket.set_timeout(Some(PATIENCE));
        socket.set_congestion_control(match self.congestion {
            Congestion::None => CongestionControl::None,
            Congestion::Reno => CongestionControl::Reno,
            Congestion::Cubic => CongestionControl::Cubic,
        });
        // This cannot fail: the socket is new and the port is not 0.
        let _ = socket.listen(self.port);
        socket
    }
}

/// Returns the networks of the interface. They include a link-local one for IPv6, so that the
/// server can answer routers that solicit it from their link-local addresses. Otherwise such an
/// answer would go to the gateway, whose MAC address is not known yet, and the router would repeat
/// its request only after a second.
fn networks(options: &BareOptions, mac: EthernetAddress) -> Vec<IpCidr> {
    let own = options.addresses.iter().map(|one| IpCidr::new(one.address.into(), one.length));
    let ipv6 = options.addresses.iter().any(|one| one.address.is_ipv6());
    own.chain(ipv6.then(|| link_local(mac))).collect()
}

/// Returns the link-local address of a MAC address (RFC 4291, appendix A).
fn link_local(mac: EthernetAddress) -> IpCidr {
    let [a, b, c, d, e, f] = mac.0;
    let halves = [[a ^ 2, b], [c, 0xff], [0xfe, d], [e, f]].map(u16::from_be_bytes);
    let address = Ipv6Address::new(0xfe80, 0, 0, 0, halves[0], halves[1], halves[2], halves[3]);
    IpCidr::Ipv6(Ipv6Cidr::new(address, 64))
}

fn give_addresses(
    interface: &mut Interface,
    networks: &[IpCidr],
    gateways: &[IpAddress],
) -> io::Result<()> {
    let mut fits = true;
    interface.update_ip_addrs(|addresses| {
        fits = networks.iter().all(|&network| addresses.push(network).is_ok());
    });
    let routes = interface.routes_mut();
    for &gateway in gateways {
        // There is room for one route per family, and the options allow no more.
        let _ = match gateway {
            IpAddress::Ipv4(gateway) => routes.add_default_ipv4_route(gateway),
            IpAddress::Ipv6(gateway) => routes.add_default_ipv6_route(gateway),
        };
    }
    if fits {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "too many addresses"))
    }
}

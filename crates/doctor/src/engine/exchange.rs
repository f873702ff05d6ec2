//! A connection over loopback by a driver of sixmark, which shows that driver and family work.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use sixmark_sys::driver::{Close, Driver, EventKind, Message, ReceiveStamps, SocketRoute};
use sixmark_units::family::Family;

/// How long anything may take, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Connects over loopback, sends a byte and receives one.
///
/// # Errors
/// Returns what failed, in a few words with the kernel's error.
pub(super) fn exchange(driver: &mut dyn Driver, family: Family) -> Result<(), String> {
    let address: IpAddr = match family {
        Family::Ipv6 => Ipv6Addr::LOCALHOST.into(),
        Family::Ipv4 => Ipv4Addr::LOCALHOST.into(),
    };
    let said = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    let listener = TcpListener::bind(SocketAddr::new(address, 0)).map_err(said("listen"))?;
    let to = listener.local_addr().map_err(said("listen"))?;
    let way = SocketRoute {
        to,
        from: None,
        no_delay: true,
        lasting: true,
        ask_handshake: false,
        stamps: ReceiveStamps::Absent,
        datagrams: false,
    };
    driver.connect(0, &way);
    let done = await_connected(driver).and_then(|()| {
        let (mut peer, _) = listener.accept().map_err(said("accept"))?;
        peer.set_read_timeout(Some(std::time::Duration::from_nanos(PATIENCE_NS)))
            .map_err(said("accept"))?;
        driver.send(0, &Message::new(*b"?"));
        // io_uring sends with the next wait.
        driver.wait(driver.now());
        let mut byte = [0; 1];
        peer.read_exact(&mut byte).map_err(said("send"))?;
        peer.write_all(b"!").map_err(said("receive"))?;
        await_byte(driver)
    });
    driver.close(0, Close::Reset);
    done
}

fn await_connected(driver: &mut dyn Driver) -> Result<(), String> {
    await_event(driver, "connect", |kind| matches!(kind, EventKind::Connected(_)))
}

fn await_byte(driver: &mut dyn Driver) -> Result<(), String> {
    await_event(driver, "receive", |kind| matches!(kind, EventKind::Received(_)))
}

/// Waits for an event. Others are ignored, but for failures.
fn await_event(
    driver: &mut dyn Driver,
    what: &str,
    is_wanted: impl Fn(EventKind) -> bool,
) -> Result<(), String> {
    let until = driver.now().saturating_add(PATIENCE_NS);
    while driver.now() < until {
        while let Some(event) = driver.next() {
            match event.kind {
                kind if is_wanted(kind) => return Ok(()),
                EventKind::Failed(errno) | EventKind::NoSource(errno) => {
                    let error = std::io::Error::from_raw_os_error(errno);
                    return Err(format!("{what}: {error}"));
                }
                EventKind::Ended => return Err(format!("{what}: the connection ended")),
                _ => {}
            }
        }
        driver.wait(until);
    }
    Err(format!("{what}: nothing within {} s", PATIENCE_NS / 1_000_000_000))
}

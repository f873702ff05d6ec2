//! Checks before a run for what is certain or likely to fail: routes, ports, open files.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::num::{NonZeroU32, NonZeroU64};

use sixmark_document::provenance::{RouteTaken, Warning};
use sixmark_http::HttpVersion;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_plan::plan::{Close, Driver, LoadPlan, Plan, SourceAddresses};
use sixmark_sys::driver::{Epoll, PeerWrites, Uring};
use sixmark_sys::{limit, route};
use sixmark_units::family::Family;

use sixmark_load::PreparedLoad;
use sixmark_result::warnings as warning;
use sixmark_sys::command_error::CommandError;

/// How long, in seconds, Linux keeps a connection in TIME-WAIT that this side closed
/// (TCP_TIMEWAIT_LEN).
const TIME_WAIT_S: f64 = 60.0;
/// Descriptors in use besides the connections: standard streams, epoll, files.
const OTHER_FILES: u64 = 64;

/// Checks that the plan can be carried out. Returns it prepared, with the driver to use, the routes
/// to its addresses, and warnings about it.
pub(crate) fn check_plan(
    plan: Plan,
) -> Result<(PreparedLoad, Vec<RouteTaken>, Vec<Warning>), CommandError> {
    multiplexed(&plan)?;
    let (driver, refused) = choose_driver(&plan)?;
    let plan = Plan { load: LoadPlan { driver, ..plan.load }, ..plan };
    let prepared = PreparedLoad::new(&plan)?;
    linger(&plan)?;
    open_files(&plan)?;
    plan.families().flat_map(|family| &plan.sources[family]).try_for_each(source)?;
    let mut routes = Vec::new();
    let mut doubts = Vec::from_iter(refused.as_ref().map(warning::no_io_uring));
    for family in plan.families() {
        let (found, unroutable) = look_up_all(&plan, family)?;
        routes.extend(found);
        doubts.extend(unroutable);
        doubts.extend(ports(&plan, family));
    }
    Ok((prepared, routes, doubts))
}

/// Returns the driver to use, which works on this host and supports what the plan asks for, and the
/// error for which it is not io_uring though the plan would allow that.
fn choose_driver(plan: &Plan) -> Result<(Driver, Option<io::Error>), CommandError> {
    let works = || Uring::new(1, PeerWrites::Single).map(drop);
    match (plan.load.driver, plan.load.timestamps) {
        (Driver::Uring, Timestamps::Kernel) => {
            let line = "--timestamps kernel needs the epoll driver; omit --driver uring";
            Err(CommandError::Usage(line.into()))
        }
        (_, Timestamps::Kernel) => stamps().map(|driver| (driver, None)),
        (Driver::Epoll, _) => Ok((Driver::Epoll, None)),
        (Driver::Uring, _) => works().map(|()| (Driver::Uring, None)).map_err(|error| {
            let line = format!("io_uring can't be used here ({error}); use --driver epoll");
            CommandError::Measure(line)
        }),
        // Old kernels and many containers lack io_uring.
        (Driver::Auto, _) => Ok(match works() {
            Ok(()) => (Driver::Uring, None),
            Err(error) => (Driver::Epoll, Some(error)),
        }),
    }
}

/// Rejects options that don't work with several exchanges on one connection.
fn multiplexed(plan: &Plan) -> Result<(), CommandError> {
    if plan.http.version.is_http1() {
        return Ok(());
    }
    let name = plan.http.version.name();
    match plan.load.timestamps {
        // The kernel's single timestamp of data from several exchanges would belong to none of
        // them.
        Timestamps::Kernel => Err(CommandError::Usage(format!(
            "--timestamps kernel supports only HTTP/1.1; omit it for {name}"
        ))),
        Timestamps::User => Ok(()),
    }
}

/// Checks for `--linger`, which over io_uring needs Linux 6.12 or newer, and which would delay what
/// the kernel's timestamps are asked for.
fn linger(plan: &Plan) -> Result<(), CommandError> {
    if plan.load.linger.is_none_or(|linger| linger.is_zero()) {
        return Ok(());
    }
    if plan.load.timestamps == Timestamps::Kernel {
        let line = "--linger delays the client, --timestamps kernel excludes it; omit one";
        return Err(CommandError::Usage(line.into()));
    }
    let lingers = || Uring::new(1, PeerWrites::Single).is_ok_and(|driver| driver.can_linger());
    if plan.load.driver == Driver::Uring && !lingers() {
        let line =
            "--linger over io_uring needs Linux 6.12 or newer; omit it, or use --driver epoll";
        return Err(CommandError::Measure(line.into()));
    }
    Ok(())
}

/// Checks that the kernel provides timestamps. If the user asked for them, no other clock replaces
/// them silently.
fn stamps() -> Result<Driver, CommandError> {
    let cannot = |error| CommandError::Measure(format!("--timestamps kernel: {error}"));
    Epoll::with_kernel_stamps().map(|_| Driver::Epoll).map_err(cannot)
}

/// Raises the limit on open files to what the plan needs. Fails if the limit stays too low.
fn open_files(plan: &Plan) -> Result<(), CommandError> {
    let wanted = u64::from(plan.connection.most_open.get());
    let allowed = limit::raise_open_files(wanted + OTHER_FILES).unwrap_or(0);
    if room(plan, allowed) < wanted { Err(too_many(plan, allowed)) } else { Ok(()) }
}

/// Returns `wanted`, or the number of connections that may be open if that is less, but never less
/// than the plan's number.
pub(crate) fn most_connections(plan: &Plan, wanted: NonZeroU32) -> NonZeroU32 {
    let allowed = limit::raise_open_files(u64::from(wanted.get()) + OTHER_FILES).unwrap_or(0);
    let room = u32::try_from(room(plan, allowed)).unwrap_or(u32::MAX);
    let most = NonZeroU32::new(room.min(wanted.get()));
    most.map_or(plan.load.connections, |most| most.max(plan.load.connections))
}

/// Returns how many connections fit if the process may open `allowed` files. The table of a ring
/// does not count towards that limit: each table may have as many entries again.
fn room(plan: &Plan, allowed: u64) -> u64 {
    let listed = is_listed(plan);
    let rings = if listed { u64::from(plan.load.threads.get()) } else { 1 };
    // With one table per worker, no worker may need more entries than one table has.
    let each = if listed { allowed } else { allowed.saturating_sub(OTHER_FILES) };
    each.saturating_mul(rings)
}

/// Reports whether connections are entries in the rings' tables and not files of the process.
fn is_listed(plan: &Plan) -> bool {
    let tcp = plan.http.version != HttpVersion::Http3;
    let lasting = tcp && plan.load.driver == Driver::Uring && plan.connection.lasting();
    lasting && Uring::new(1, PeerWrites::Single).is_ok_and(|driver| driver.has_table())
}

fn too_many(plan: &Plan, allowed: u64) -> CommandError {
    let in_flight = plan.load.connections.get();
    let needed = u64::from(in_flight) + OTHER_FILES;
    CommandError::Measure(if is_listed(plan) {
        format!(
            "{in_flight} connections over {} threads need more than the {allowed} open files that \
             each may have; use at least {} threads (-t), raise the limit (ulimit -Hn) or lower -c",
            plan.load.threads,
            u64::from(in_flight).div_ceil(allowed.max(1)),
        )
    } else {
        format!(
            "{in_flight} connections need {needed} open files, but only {allowed} are allowed; \
             raise the limit (ulimit -Hn) or lower -c"
        )
    })
}

/// Checks a source: a single address must be one of this host's, and a prefix must be routed to
/// this host.
fn source(source: &SourceAddresses) -> Result<(), CommandError> {
    let (address, whole) = match source.address {
        IpAddr::V4(v4) => (SocketAddr::new(v4.into(), 0), 32),
        IpAddr::V6(v6) => (SocketAddrV6::new(v6, 0, 0, source.scope).into(), 128),
    };
    if source.prefix < whole {
        return prefix(source);
    }
    let cannot = |error| {
        let line = format!("--source {address}: {error}; give an address of this host");
        CommandError::Measure(line.replace(":0: ", ": "))
    };
    route::check_source(address).map_err(cannot)
}

/// Checks that a prefix is routed to this host. Otherwise no responses to its addresses would
/// arrive.
fn prefix(source: &SourceAddresses) -> Result<(), CommandError> {
    let SourceAddresses { address, prefix, .. } = source;
    // One address of the prefix may belong to an interface while its neighbours belong to other
    // hosts.
    if ends(source).into_iter().all(|end| route::is_local(end).unwrap_or(true)) {
        return Ok(());
    }
    let ip = if address.is_ipv6() { "ip -6" } else { "ip" };
    Err(CommandError::Measure(format!(
        "--source {address}/{prefix}: not routed to this host, so no answer would arrive; add a \
         route: {ip} route add local {address}/{prefix} dev lo"
    )))
}

/// Returns the first and the last address of a prefix.
fn ends(source: &SourceAddresses) -> [IpAddr; 2] {
    match source.address {
        IpAddr::V4(v4) => {
            let last = u32::MAX.checked_shr(source.prefix.into()).unwrap_or(0);
            let number = u32::from(v4);
            [number & !last, number | last].map(|end| IpAddr::V4(end.into()))
        }
        IpAddr::V6(v6) => {
            let last = u128::MAX.checked_shr(source.prefix.into()).unwrap_or(0);
            let number = u128::from(v6);
            [number & !last, number | last].map(|end| IpAddr::V6(end.into()))
        }
    }
}

/// Looks up the routes to all addresses of a family, with a warning if some addresses have none.
/// Exchanges with those fail and are counted. Fails if no address has a route, since nothing could
/// be measured.
fn look_up_all(
    plan: &Plan,
    family: Family,
) -> Result<(Vec<RouteTaken>, Option<Warning>), CommandError> {
    let addresses: BTreeSet<SocketAddr> =
        plan.endpoints(family).into_iter().map(|endpoint| endpoint.address).collect();
    let mut routes = Vec::new();
    let mut unroutable = Vec::new();
    for to in addresses {
        match route::way_to(to) {
            Ok(way) => routes.push(RouteTaken { to, from: Some(way.source), mtu: way.mtu }),
            Err(error) => {
                routes.push(RouteTaken { to, from: None, mtu: None });
                unroutable.push((to, error));
            }
        }
    }
    match unroutable.first() {
        Some((to, error)) if unroutable.len() == routes.len() => {
            let other = if family == Family::Ipv6 { "-4" } else { "-6" };
            Err(CommandError::Measure(format!(
                "this host can't send to {to} over {family} ({error}); add a route, or load only \
                 the other family with {other}"
            )))
        }
        Some((to, error)) => {
            let warning = warning::unroutable(family, (*to, error), unroutable.len());
            Ok((routes, Some(warning)))
        }
        None => Ok((routes, None)),
    }
}

/// Returns a warning if the local ports of a family can't carry the load. Each connection from one
/// source to one destination needs its own port, and a closed connection keeps its port for a while
/// (TIME-WAIT).
fn ports(plan: &Plan, family: Family) -> Option<Warning> {
    let (low, high) = port_range()?;
    let sources = plan.sources[family].iter().map(addresses_of).fold(0, u64::saturating_add).max(1);
    let destinations: BTreeSet<_> = plan.endpoints(family).iter().map(|e| e.address).collect();
    let each = (high - low + 1).saturating_mul(destinations.len() as u64);
    let ports = each.saturating_mul(sources);
    let needed = needed_ports(plan, family);
    (needed > ports).then(|| warning::few_ports(family, needed, ports))
}

fn addresses_of(source: &SourceAddresses) -> u64 {
    let bits = if source.address.is_ipv6() { 128 } else { 32 };
    1u64.checked_shl(bits - u32::from(source.prefix)).unwrap_or(u64::from(u32::MAX))
}

/// Returns the most ports that connections may occupy at once, including TIME-WAIT if this side
/// closes.
fn needed_ports(plan: &Plan, family: Family) -> u64 {
    let at_once = u64::from(plan.load.connections.get());
    // UDP has no TIME-WAIT.
    let leaves_none =
        plan.connection.close == Close::Rst || plan.http.version == HttpVersion::Http3;
    match requests_in_time_wait(plan) {
        Some(total) if !plan.connection.keep_alive && !leaves_none => {
            at_once.max(plan.ratio.part_of(total, family))
        }
        _ => at_once,
    }
}

/// Returns how many requests can end while a port stays in TIME-WAIT, if that is known in advance.
/// It is unknown for a closed loop without a total, which sends as many as it can.
fn requests_in_time_wait(plan: &Plan) -> Option<u64> {
    let total = plan.load.requests.map(NonZeroU64::get);
    let at_rate = plan.load.pace.open().map(|open| {
        let seconds = plan.load.duration.map_or(TIME_WAIT_S, |duration| duration.as_secs_f64());
        (open.mean_per_s() * seconds.min(TIME_WAIT_S)) as u64
    });
    total.into_iter().chain(at_rate).min()
}

/// Returns the range of ports that the kernel uses for connections (ip-sysctl, ip_local_port_range,
/// both families).
fn port_range() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

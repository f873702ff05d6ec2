//! `sixmark origin`.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::out::print;
use super::stop_flag;
use crate::Error;
use crate::origin::{Options, Origin, Pause, Turbo};

/// Open files that are asked for.
const MOST: u64 = 1 << 20;

/// Connections of a turbo thread, each of which is some memory whether there is one or not.
const ROOM: u64 = 1 << 16;

/// Serve HTTP on both families to test against: sizes, delays, resets, stalls, uploads.
///
/// GET / lists what can be asked for. Ends with Ctrl-C.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to listen, repeatable; port 0 is a free one [default: [::1]:0 and 127.0.0.1:0]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Vec<SocketAddr>,

    /// Threads that serve [default: one a core]
    #[arg(short, long, value_name = "N", default_value = "0", hide_default_value = true)]
    threads: usize,

    /// Stand still for LENGTH at the end of every EVERY: answers due in it are held until it ends
    #[arg(long, value_name = "LENGTH/EVERY", conflicts_with = "turbo")]
    pause: Option<Pause>,

    /// Answer little and fast, over io_uring: /, /bytes/N and uploads to /sink, for benchmarks
    #[arg(long)]
    turbo: bool,

    /// Print the addresses as JSON
    #[arg(long)]
    json: bool,
}

/// Whichever origin was asked for.
enum Any {
    Full(Origin),
    Turbo(Turbo),
}

/// Serves until a signal comes.
pub(super) fn main(args: &Args) -> Result<u8, Error> {
    let stop = stop_flag()?;
    let origin = start(args)?;
    print(&announcement(&origin, args.json))?;
    while !stop.load(Ordering::Relaxed) {
        // A signal cuts the sleep short only in its own thread, so it is kept brief.
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(origin);
    Ok(0)
}

fn start(args: &Args) -> Result<Any, Error> {
    let mut options = Options { threads: args.threads, pause: args.pause, ..Options::default() };
    if !args.listen.is_empty() {
        options.listen.clone_from(&args.listen);
    }
    // As many connections as the system lets us hold; fewer are no error here.
    let files = sixmark_sys::limit::raise_open_files(MOST).unwrap_or(1024);
    let started = if args.turbo {
        Turbo::start(&options, files.min(ROOM) as u32).map(Any::Turbo)
    } else {
        Origin::start(options).map(Any::Full)
    };
    started.map_err(|error| Error::Measure(error.to_string()))
}

fn announcement(origin: &Any, json: bool) -> String {
    let (addresses, description) = match origin {
        Any::Full(origin) => (origin.addresses(), origin.describe()),
        Any::Turbo(turbo) => (turbo.addresses(), turbo.describe()),
    };
    if json {
        return format!("{description}\n");
    }
    let urls = addresses.iter().map(|address| format!("http://{address}/\n"));
    urls.collect::<String>() + "Ctrl-C ends it.\n"
}

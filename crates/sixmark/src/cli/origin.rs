//! `sixmark origin`.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::out::print;
use super::stop_flag;
use crate::Error;
use crate::origin::{Options, Origin, Pause};

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
    #[arg(long, value_name = "LENGTH/EVERY")]
    pause: Option<Pause>,

    /// Print the addresses as JSON
    #[arg(long)]
    json: bool,
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
    origin.stop();
    Ok(0)
}

fn start(args: &Args) -> Result<Origin, Error> {
    let mut options = Options { threads: args.threads, pause: args.pause, ..Options::default() };
    if !args.listen.is_empty() {
        options.listen.clone_from(&args.listen);
    }
    // As many connections as the system lets us hold; fewer are no error here.
    let _ = sixmark_sys::limit::raise_open_files(1 << 20);
    Origin::start(options).map_err(|error| Error::Measure(error.to_string()))
}

fn announcement(origin: &Origin, json: bool) -> String {
    if json {
        return format!("{}\n", origin.describe());
    }
    let urls = origin.addresses().iter().map(|address| format!("http://{address}/\n"));
    urls.collect::<String>() + "Ctrl-C ends it.\n"
}

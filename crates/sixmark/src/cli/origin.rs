//! `sixmark origin`.

mod bare;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::out::print;
use super::stop_flag;
use sixmark_origin::{Bare, Identity, Limits, Options, Origin, Pause, Turbo};
use sixmark_sys::command_error::CommandError;

/// The limit on open files that is asked for.
const MOST: u64 = 1 << 20;

/// Maximum number of connections of a turbo thread. Memory is allocated for each, whether it is
/// used or not.
const ROOM: u64 = 1 << 16;

/// Start an HTTP test server on both families.
///
/// It serves sizes, delays, resets, stalls and uploads. GET / lists the paths. Runs until Ctrl-C.
#[derive(Debug, clap::Args)]
pub(super) struct OriginArgs {
    /// Address and port to listen on; repeatable; port 0 chooses a free one [default: [::1]:0 and
    /// 127.0.0.1:0]
    #[arg(long, value_name = "ADDR:PORT", value_parser = listen_address)]
    listen: Vec<SocketAddr>,

    /// Number of server threads [default: one per core]
    #[arg(short, long, value_name = "N")]
    threads: Option<usize>,

    /// Pause for LENGTH at the end of every EVERY: responses due in a pause are delayed until its
    /// end
    #[arg(long, value_name = "LENGTH/EVERY", conflicts_with = "turbo")]
    pause: Option<Pause>,

    /// Serve HTTPS with a newly created certificate
    #[arg(long, conflicts_with = "turbo")]
    tls: bool,

    /// Serve HTTPS with this certificate, a PEM file that also contains its chain
    #[arg(long, value_name = "FILE", requires = "key", conflicts_with_all = ["tls", "turbo"])]
    cert: Option<PathBuf>,

    /// Private key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// Write the CA certificate that clients need (--cacert) to this PEM file
    #[arg(long, value_name = "FILE", requires = "tls")]
    write_ca: Option<PathBuf>,

    /// Also serve HTTP/3, over UDP on the same ports; needs --tls, or --cert and --key
    #[arg(long, conflicts_with = "turbo")]
    http3: bool,

    /// Validate the address of QUIC clients with a Retry
    #[arg(long, requires = "http3")]
    retry: bool,

    /// Maximum number of concurrent streams per HTTP/2 or HTTP/3 connection [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
          conflicts_with = "turbo")]
    streams: Option<u32>,

    /// Close each connection after N requests (GOAWAY, or with HTTP/1.1 `Connection: close`)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
          conflicts_with = "turbo")]
    goaway_after: Option<u64>,

    /// For benchmarks: serve only /, /bytes/N and uploads to /sink, over io_uring and HTTP/1.1 in
    /// plain text
    #[arg(long)]
    turbo: bool,

    /// Print the addresses as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    bare: bare::BareArgs,
}

/// The kind of origin that the options select.
enum AnyOrigin {
    Full(Origin),
    Turbo(Turbo),
    Bare(Bare),
}

/// Serves until a signal arrives.
pub(super) fn main(args: &OriginArgs) -> Result<u8, CommandError> {
    let stop = stop_flag()?;
    let origin = start_origin(args)?;
    print(&announcement(&origin, args.json))?;
    while !stop.load(Ordering::Relaxed) && !origin.has_ended() {
        // A signal cuts the sleep short only in its own thread, so it is kept brief.
        std::thread::sleep(Duration::from_millis(50));
    }
    if let AnyOrigin::Bare(bare) = origin {
        print(&bare::last_words(bare, args.json)?)?;
    }
    Ok(0)
}

impl AnyOrigin {
    /// Returns true if it has ended by itself.
    fn has_ended(&self) -> bool {
        matches!(self, AnyOrigin::Bare(bare) if bare.has_ended())
    }
}

impl OriginArgs {
    /// Returns the given options that apply only to the kernel's TCP.
    fn kernels_own(&self) -> Vec<&'static str> {
        let given = [
            ("--listen", !self.listen.is_empty()),
            ("--threads", self.threads.is_some()),
            ("--pause", self.pause.is_some()),
            ("--tls", self.tls),
            ("--cert", self.cert.is_some()),
            ("--http3", self.http3),
            ("--streams", self.streams.is_some()),
            ("--goaway-after", self.goaway_after.is_some()),
            ("--turbo", self.turbo),
        ];
        given.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
    }
}

fn start_origin(args: &OriginArgs) -> Result<AnyOrigin, CommandError> {
    if let Some(options) = args.bare.options(&args.kernels_own())? {
        return bare::start_bare(&options).map(AnyOrigin::Bare);
    }
    let options = options(args)?;
    // Raises the limit on open files as far as the system allows. A lower limit is not an error.
    let files = sixmark_sys::limit::raise_open_files(MOST).unwrap_or(1024);
    let started = if args.turbo {
        Turbo::start(&options, files.min(ROOM) as u32).map(AnyOrigin::Turbo)
    } else {
        Origin::start(options).map(AnyOrigin::Full)
    };
    started.map_err(|error| CommandError::Measure(error.to_string()))
}

fn options(args: &OriginArgs) -> Result<Options, CommandError> {
    let threads = args.threads.unwrap_or(0);
    let mut options = Options { threads, pause: args.pause, ..Options::default() };
    if !args.listen.is_empty() {
        options.listen.clone_from(&args.listen);
    }
    let streams = args.streams.unwrap_or(Limits::default().streams);
    let (goaway_after, retry) = (args.goaway_after, args.retry);
    options.limits = Limits { streams, goaway_after, retry };
    options.identity = identity(args, &options.listen)?;
    options.http3 = args.http3;
    if options.http3 && options.identity.is_none() {
        let line = "--http3 needs a certificate: add --tls, or --cert FILE --key FILE";
        return Err(CommandError::Usage(line.into()));
    }
    Ok(options)
}

fn identity(args: &OriginArgs, listen: &[SocketAddr]) -> Result<Option<Identity>, CommandError> {
    if let (Some(certificate), Some(key)) = (&args.cert, &args.key) {
        return Identity::read(certificate, key).map(Some).map_err(CommandError::Usage);
    }
    if !args.tls {
        return Ok(None);
    }
    let addresses: Vec<_> = listen.iter().map(SocketAddr::ip).collect();
    let identity = Identity::made(&addresses).map_err(CommandError::Measure)?;
    if let (Some(path), Some(pem)) = (&args.write_ca, identity.authority()) {
        write_pem(path, pem)?;
    }
    Ok(Some(identity))
}

fn write_pem(path: &Path, pem: &str) -> Result<(), CommandError> {
    let wrong = |error| format!("can't write the certificate to {}: {error}", path.display());
    std::fs::write(path, pem).map_err(wrong).map_err(CommandError::Usage)
}

fn announcement(origin: &AnyOrigin, json: bool) -> String {
    let description = match origin {
        AnyOrigin::Full(origin) => origin.describe(),
        AnyOrigin::Turbo(turbo) => turbo.describe(),
        AnyOrigin::Bare(bare) => bare.describe(),
    };
    if json {
        return format!("{description}\n");
    }
    let addresses = description["addresses"].as_array().into_iter().flatten();
    let urls = addresses.filter_map(|one| one["url"].as_str()).map(|url| format!("{url}\n"));
    urls.collect::<String>() + "Ctrl-C ends it.\n"
}

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected ADDR:PORT, as in [::1]:8080 or 0.0.0.0:8080".to_owned())
}

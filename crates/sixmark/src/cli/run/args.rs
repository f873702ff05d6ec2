//! The options of `sixmark run`, as typed.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use sixmark_http::http1::request::parse_own_header;
use sixmark_model::check::Expect;
use sixmark_model::clocks::Timestamps;
use sixmark_model::condition::Condition;
use sixmark_model::pace::{Overload, Process, Rate, Speed, Stage};
use sixmark_model::plan::accept::AcceptStatus;
use sixmark_model::plan::ratio::Ratio;
use sixmark_model::plan::{Close, Driver};

use super::super::keep;
use super::super::out::Place;
use super::source::Wanted;
use super::values::{
    RequestFormat, close, driver, linger, method, positive, positive_time, time, timestamps,
};
use crate::resolve::Override;

/// Load a web server over IPv6 and IPv4 at once and show both side by side.
///
/// Every exchange is counted under the family of the peer it was connected to. Without -n and -d
/// the run lasts 10 s. Without --rate, --ramp, --steps, --replay and --find-max it is a closed loop: each
/// exchange begins when another one has ended.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RunArgs {
    /// What to load: http://HOST[:PORT]/PATH; an IPv6 address stands in brackets
    #[arg(value_name = "URL", required_unless_present = "targets")]
    pub(in crate::cli) urls: Vec<String>,

    /// Address list file: a URL, host or address a line, `weight=N` behind it, `#` for comments;
    /// sets the ratio too, unless --ratio does ('-': standard input)
    #[arg(long, value_name = "FILE", help_heading = "Targets")]
    pub(in crate::cli) targets: Option<PathBuf>,

    /// Path for list entries that are no URL
    #[arg(long, value_name = "PATH", default_value = "/", help_heading = "Targets")]
    pub(super) path: String,

    /// Answer for a name, instead of the resolver's
    #[arg(long, value_name = "HOST:PORT:ADDR[,ADDR]…", help_heading = "Targets")]
    pub(super) resolve: Vec<Override>,

    /// Requests over IPv6 to requests over IPv4 [default: 1:1 where the targets have both]
    #[arg(long, value_name = "V6:V4", help_heading = "Families")]
    pub(super) ratio: Option<Ratio>,

    /// IPv4 only
    #[arg(short = '4', long, conflicts_with_all = ["ratio", "ipv6"], help_heading = "Families")]
    pub(super) ipv4: bool,

    /// IPv6 only; fails rather than falls back
    #[arg(short = '6', long, conflicts_with = "ratio", help_heading = "Families")]
    pub(super) ipv6: bool,

    /// Connect from this address, address of a prefix in turn, or interface's addresses
    #[arg(long, value_name = "ADDR|CIDR|IFACE", help_heading = "Families")]
    pub(super) source: Vec<Wanted>,

    /// End after this many requests, both families together; a family that does not answer for 10 s
    /// is given up
    #[arg(short = 'n', long, value_name = "N", value_parser = positive::<NonZeroU64>,
          help_heading = "Load")]
    pub(in crate::cli) count: Option<NonZeroU64>,

    /// End after this time (10s, 500ms, 1m)
    #[arg(short, long, value_name = "TIME", value_parser = positive_time, help_heading = "Load")]
    pub(in crate::cli) duration: Option<Duration>,

    /// Connections at once, over both families together, each with one exchange in flight, or with
    /// --streams; no more than these are open. In an open loop the most of them [default: 50; with
    /// --find-max as many as a trial may need]
    #[arg(short, long, value_name = "N", value_parser = positive::<NonZeroU32>,
          help_heading = "Load")]
    pub(super) connections: Option<NonZeroU32>,

    /// Worker threads, which share -c out [default: one a core, with a rate at most -c / 16]; at most
    /// as many as give each a connection of each family
    #[arg(short, long, value_name = "N", value_parser = positive::<NonZeroU32>,
          help_heading = "Load")]
    pub(super) threads: Option<NonZeroU32>,

    /// Load for this long before measuring
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time, help_heading = "Load")]
    pub(super) warmup: Duration,

    /// The longest an exchange may last from its start (in an open loop too), connecting included
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = positive_time,
          help_heading = "Load")]
    pub(super) timeout: Duration,

    /// How to speak to the kernel: io_uring where it is allowed, else epoll
    #[arg(long, value_name = "auto|uring|epoll", default_value = "auto", value_parser = driver,
          help_heading = "Load")]
    pub(super) driver: Driver,

    /// Begin so many exchanges a second (200, 10k/s, 12000/m), over all threads and both families,
    /// whatever the server does; response times then count from when an exchange was due
    #[arg(long, value_name = "N/s", conflicts_with_all = ["ramp", "steps"],
          help_heading = "Open loop")]
    pub(super) rate: Option<Rate>,

    /// Let the rate change evenly, and end then (0:1000/s:1m)
    #[arg(long, value_name = "FROM:TO:DURATION", value_parser = super::values::ramp,
          conflicts_with_all = ["steps", "duration"], help_heading = "Open loop")]
    pub(in crate::cli) ramp: Option<Stage>,

    /// One rate after the other, and end then (100:10s,200:10s)
    #[arg(long, value_name = "RATE:DURATION,…", value_parser = super::values::step,
          value_delimiter = ',', conflicts_with = "duration", help_heading = "Open loop")]
    pub(in crate::cli) steps: Vec<Stage>,

    /// Send what a HAR file or an access log has when it has it, or so many times as fast (2x), and
    /// end then
    #[arg(long, value_name = "SPEED", value_parser = super::values::speed, num_args = 0..=1,
          require_equals = true, default_missing_value = "1x", requires = "requests",
          conflicts_with_all = ["rate", "ramp", "steps", "find_max", "arrivals", "linger"],
          help_heading = "Open loop")]
    pub(in crate::cli) replay: Option<Speed>,

    /// Find the highest rate at which this holds ('response.p99 < 10ms', 'failures < 0.1%'), for
    /// each family alone: trials of -d each [default: 2s], the first at --rate [default: 100/s];
    /// repeatable, all must hold
    #[arg(long, value_name = "CONDITION",
          conflicts_with_all = ["ratio", "count", "ramp", "steps", "calibrate"],
          help_heading = "Open loop")]
    pub(in crate::cli) find_max: Vec<Condition>,

    /// Evenly spaced, or at random as those of many users are [default: constant]
    #[arg(long, value_name = "constant|poisson", value_parser = super::values::process,
          help_heading = "Open loop")]
    pub(super) arrivals: Option<Process>,

    /// What becomes of an exchange that is due when -c are in flight: it waits, its response time
    /// counting from when it was due, or it is dropped and counted [default: wait]
    #[arg(long, value_name = "wait|drop", value_parser = super::values::overload,
          help_heading = "Open loop")]
    pub(super) overload: Option<Overload>,

    /// Don't sleep in this last time before an exchange is due (50us); costs a core a thread
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Open loop")]
    pub(super) spin: Option<Duration>,

    /// Let responses lie for so long to deal with more at once (50us): far cheaper against a fast
    /// server, and times are late by as much; closed loop over io_uring only
    #[arg(long, value_name = "TIME", value_parser = linger,
          conflicts_with_all = ["rate", "ramp", "steps", "find_max"], help_heading = "Load")]
    pub(super) linger: Option<Duration>,

    /// Speak HTTP/1.0; connections are kept only where the server agrees to
    #[arg(long = "http1.0", conflicts_with_all = ["http2", "http2_prior_knowledge", "http3"],
          help_heading = "Connections")]
    pub(super) http1_0: bool,

    /// Speak HTTP/2, agreed on by TLS
    #[arg(long, conflicts_with_all = ["http3", "http2_prior_knowledge"],
          help_heading = "Connections")]
    pub(super) http2: bool,

    /// Speak HTTP/2 without asking the server first, with or without TLS
    #[arg(long, conflicts_with = "http3", help_heading = "Connections")]
    pub(super) http2_prior_knowledge: bool,

    /// Speak HTTP/3, over QUIC
    #[arg(long, help_heading = "Connections")]
    pub(super) http3: bool,

    /// Exchanges in flight on each connection of HTTP/2 or HTTP/3 [default: 1]
    #[arg(long, value_name = "N", value_parser = positive::<NonZeroU32>,
          help_heading = "Connections")]
    pub(super) streams: Option<NonZeroU32>,

    /// One connection a request
    #[arg(long, conflicts_with = "requests_per_connection", help_heading = "Connections")]
    pub(super) no_keep_alive: bool,

    /// Open -c connections before the load begins, and use them in turn
    #[arg(long, conflicts_with_all = ["no_keep_alive", "requests_per_connection"],
          help_heading = "Connections")]
    pub(super) preopen: bool,

    /// Close a connection after this many requests
    #[arg(long, value_name = "N", value_parser = positive::<NonZeroU32>,
          help_heading = "Connections")]
    pub(super) requests_per_connection: Option<NonZeroU32>,

    /// How this side closes connections; QUIC's (--http3) have one way only
    #[arg(long, value_name = "fin|rst", default_value = "fin", value_parser = close,
          help_heading = "Connections")]
    pub(super) close: Close,

    /// Request method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD", value_parser = method, help_heading = "Request")]
    pub(super) method: Option<String>,

    /// Header field; Content-Length and Transfer-Encoding are sixmark's own to write
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = parse_own_header,
          help_heading = "Request")]
    pub(super) header: Vec<(String, String)>,

    /// Content of each request
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file", help_heading = "Request")]
    pub(super) body: Option<String>,

    /// File with the content of each request
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub(super) body_file: Option<PathBuf>,

    /// Mix of requests by weight: a request file (TOML, docs/requests.md), a HAR file, or an access
    /// log, from which GET and HEAD are taken ('-': standard input)
    #[arg(long, value_name = "FILE", value_parser = super::values::file,
          conflicts_with_all = ["method", "body", "body_file"], help_heading = "Request")]
    pub(super) requests: Option<PathBuf>,

    /// What that file is [default: as its beginning says]
    #[arg(long, value_name = "toml|har|log", value_parser = super::values::format,
          requires = "requests", help_heading = "Request")]
    pub(super) requests_format: Option<RequestFormat>,

    /// Host whose entries of a HAR file are taken [default: those of the targets]
    #[arg(long, value_name = "HOST", requires = "requests", help_heading = "Request")]
    pub(super) har_host: Option<String>,

    /// Take other methods than GET and HEAD from a HAR file or an access log too: this may change
    /// what is on the server, and logs have no content
    #[arg(long, requires = "requests", help_heading = "Request")]
    pub(super) unsafe_methods: bool,

    /// What each response must be, else it counts as CONTENT: status=200, sha256=HEX, size=BYTES,
    /// json:/POINTER=VALUE, body~PATTERN, header:NAME=VALUE; repeatable, all must hold
    #[arg(long, value_name = "CHECK", help_heading = "Request")]
    pub(super) expect: Vec<Expect>,

    /// Status codes that don't count as failures: codes, ranges, classes [default: 100-399]
    #[arg(
        long,
        value_name = "200-299,404|4xx",
        default_value = "100-399",
        hide_default_value = true,
        help_heading = "Request"
    )]
    pub(super) accept_status: AcceptStatus,

    /// Follow redirects within a target, at most 10 in a row
    #[arg(long, help_heading = "Request")]
    pub(super) location: bool,

    /// Keep the cookies of each of the -c exchanges in flight apart, and send them
    #[arg(long, help_heading = "Request")]
    pub(super) cookies: bool,

    #[command(flatten)]
    pub(in crate::cli) inside: super::super::inside::InsideArgs,

    #[command(flatten)]
    pub(super) tls: super::tls::TlsArgs,

    /// Whose clock times connecting, sending and receiving: kernel leaves this program's own delays
    /// out, for HTTP/1.1 alone
    #[arg(long, value_name = "user|kernel", default_value = "user", value_parser = timestamps,
          help_heading = "Measurement")]
    pub(super) timestamps: Timestamps,

    /// Measure first what sixmark itself adds, against a server of its own on loopback: over HTTP/1.1
    /// without TLS, whatever the run speaks
    #[arg(long, help_heading = "Measurement")]
    pub(in crate::cli) calibrate: bool,

    /// Capture the packets meanwhile, and say what they say beside sixmark's clock; needs root or
    /// CAP_NET_RAW
    #[arg(long, conflicts_with = "find_max", help_heading = "Measurement")]
    pub(in crate::cli) truth: bool,
    /// What the server uses meanwhile, so that the result says what a request of each family costs there:
    /// the file that `sixmark vitals --jsonl` writes on it, the URL of its node_exporter or of `sixmark
    /// vitals --prometheus`, or lab:HOST
    #[arg(
        long,
        value_name = "FILE|URL|lab:HOST",
        conflicts_with = "find_max",
        help_heading = "Measurement"
    )]
    pub(in crate::cli) vitals_from: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) gates: super::super::gates::GateArgs,

    /// Write the result document (sixmark.result/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(in crate::cli) json: Option<Place>,

    /// Write a line for each family
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(in crate::cli) csv: Option<Place>,

    /// Write the report as a page that needs no network
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(in crate::cli) html: Option<Place>,

    #[command(flatten)]
    pub(in crate::cli) keep: keep::KeepArgs,

    /// No table and no progress; warnings stay
    #[arg(short, long, help_heading = "Output")]
    pub(in crate::cli) quiet: bool,

    /// Where schedules over several addresses begin, and Poisson arrivals [default: random]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub(in crate::cli) seed: Option<u64>,
}

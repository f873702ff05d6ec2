//! What connections speak, and how long they last.

use std::num::NonZeroU32;

use sixmark_plan::plan::Close;

use crate::values::{close, positive};

/// Options for the protocol and the lifetime of connections.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionArgs {
    /// Use HTTP/1.0; connections stay open only if the server agrees
    #[arg(long = "http1.0", conflicts_with_all = ["http2", "http2_prior_knowledge", "http3"])]
    pub http1_0: bool,

    /// Use HTTP/2, negotiated in TLS (ALPN)
    #[arg(long, conflicts_with_all = ["http3", "http2_prior_knowledge"])]
    pub http2: bool,

    /// Use HTTP/2 without negotiation, with or without TLS
    #[arg(long, conflicts_with = "http3")]
    pub http2_prior_knowledge: bool,

    /// Use HTTP/3, over QUIC
    #[arg(long)]
    pub http3: bool,

    /// Exchanges in flight on each HTTP/2 or HTTP/3 connection [default: 1]
    #[arg(long, value_name = "N", value_parser = positive::<NonZeroU32>)]
    pub streams: Option<NonZeroU32>,

    /// New connection for each request
    #[arg(long, conflicts_with = "requests_per_connection")]
    pub no_keep_alive: bool,

    /// Open -c connections before the load begins, and use them in turn
    #[arg(long, conflicts_with_all = ["no_keep_alive", "requests_per_connection"])]
    pub preopen: bool,

    /// Do not resend a request whose kept HTTP/1 connection the server closed before answering
    #[arg(long)]
    pub no_resend: bool,

    /// Close a connection after this many requests
    #[arg(long, value_name = "N", value_parser = positive::<NonZeroU32>)]
    pub requests_per_connection: Option<NonZeroU32>,

    /// How sixmark closes connections; not for --http3, whose QUIC has only one way
    #[arg(long, value_name = "fin|rst", default_value = "fin", value_parser = close)]
    pub close: Close,
}

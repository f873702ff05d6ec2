//! What is sent, and what must come back.

use std::path::PathBuf;

use sixmark_http::http1::request::parse_own_header;
use sixmark_plan::check::Expect;
use sixmark_plan::import::LogFormat;
use sixmark_plan::plan::accept::AcceptStatus;

use crate::values::{RequestFormat, credentials, file, format, log_format, method};

/// Options for requests, and for checks of responses.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// Request method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD", value_parser = method)]
    pub method: Option<String>,

    /// Header field, repeatable; sixmark sets Content-Length and Transfer-Encoding itself
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = parse_own_header)]
    pub header: Vec<(String, String)>,

    /// Credentials for Basic authentication, sent with each request
    #[arg(short = 'u', long, value_name = "USER:PASSWORD", value_parser = credentials)]
    pub user: Option<String>,

    /// Content of each request
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    pub body: Option<String>,

    /// File with the content of each request
    #[arg(long, value_name = "FILE")]
    pub body_file: Option<PathBuf>,

    /// Mix of requests by weight: a request file (TOML, docs/requests.md), or the GET and HEAD
    /// requests of a HAR file or an access log ('-': standard input)
    #[arg(long, value_name = "FILE", value_parser = file,
          conflicts_with_all = ["method", "body", "body_file"])]
    pub requests: Option<PathBuf>,

    /// Format of that file [default: detected from its beginning]
    #[arg(long, value_name = "toml|har|log", value_parser = format, requires = "requests")]
    pub requests_format: Option<RequestFormat>,

    /// Format of an access log, one of combined, caddy, traefik, json, cloudfront, w3c, alb [default:
    /// detected from its first lines]
    #[arg(long, value_name = "NAME", value_parser = log_format, requires = "requests")]
    pub log_format: Option<&'static LogFormat>,

    /// Host whose entries of a HAR file are used [default: the targets' hosts]
    #[arg(long, value_name = "HOST", requires = "requests")]
    pub har_host: Option<String>,

    /// Also replay methods other than GET and HEAD from a HAR file or an access log: this may
    /// change data on the server, and logs have no content
    #[arg(long, requires = "requests")]
    pub unsafe_methods: bool,

    /// Check each response; a response that fails counts as CONTENT: status=200, sha256=HEX,
    /// size=BYTES, json:/POINTER=VALUE, body~PATTERN, header:NAME=VALUE; repeatable, all must hold
    #[arg(long, value_name = "CHECK")]
    pub expect: Vec<Expect>,

    /// Status codes that don't count as failures: codes, ranges, classes [default: 100-399]
    #[arg(
        long,
        value_name = "200-299,404|4xx",
        default_value = "100-399",
        hide_default_value = true
    )]
    pub accept_status: AcceptStatus,

    /// Follow redirects within a target, at most 10 in a row; a warning counts the others
    #[arg(long)]
    pub location: bool,

    /// Keep cookies until they expire, and send them, separately for each of the -c exchanges in
    /// flight
    #[arg(long)]
    pub cookies: bool,
}

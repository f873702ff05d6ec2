//! The TLS options, and their part of a plan.

use std::path::PathBuf;

use sixmark_document::provenance::Warning;
use sixmark_http::HttpVersion as Spoken;
use sixmark_http::url::{Scheme, Url};
use sixmark_plan::plan::Target;
use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::list::ListEntry;
use sixmark_plan::plan::tls::{Millionths, PlanTls, TlsVersion};
use sixmark_result::warnings as warning;

use sixmark_sys::command_error::CommandError;

/// Options for `https://` targets.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// CA certificates to trust instead of the system's (PEM)
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    cacert: Option<PathBuf>,

    /// Accept any certificate; the result says so
    #[arg(short = 'k', long)]
    insecure: bool,

    /// Client certificate and its chain (PEM)
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,

    /// Private key of --cert (PEM) [default: also in --cert's file]
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// Server name to send (SNI) and to verify in the certificate, instead of the URL's host
    #[arg(long, value_name = "NAME")]
    sni: Option<String>,

    /// Use only this version [default: 1.3, or 1.2 if the server does not support 1.3]
    #[arg(long, value_name = "1.2|1.3", value_parser = version)]
    tls: Option<TlsVersion>,

    /// Application protocols to offer, including that of the HTTP version in use, or none [default:
    /// that of the HTTP version in use]
    #[arg(long, value_name = "LIST", value_parser = alpn)]
    alpn: Option<List>,

    /// Cipher suites to offer, the preferred one first
    #[arg(long, value_name = "LIST", value_parser = list)]
    ciphers: Option<List>,

    /// Groups for the key exchange, the preferred one first
    #[arg(long, value_name = "LIST", value_parser = list)]
    groups: Option<List>,

    /// Share of handshakes that try to resume a session of their family, 0 to 1 [default: off,
    /// every handshake is full as on a first visit]
    #[arg(long, value_name = "SHARE|on|off", value_parser = parse_share, allow_negative_numbers = true)]
    resume: Option<Millionths>,
}

impl TlsArgs {
    /// Returns the options that name files, with their values.
    pub(crate) fn inputs(&self) -> [(&'static str, &Option<PathBuf>); 3] {
        [("--cacert", &self.cacert), ("--cert", &self.cert), ("--key", &self.key)]
    }

    /// Returns the file names, for changing them.
    pub(crate) fn files(&mut self) -> [&mut Option<PathBuf>; 3] {
        [&mut self.cacert, &mut self.cert, &mut self.key]
    }
}

/// A list of names, separated by commas or colons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct List(Vec<String>);

/// Returns the name that the server's certificate must have. `None` unless the URL is `https://`.
pub(crate) fn server_name(url: &Url, args: &TlsArgs) -> Option<String> {
    let named = || args.sni.clone().unwrap_or_else(|| url.server_name());
    (url.scheme == Scheme::Https).then(named)
}

/// Returns an error if a TLS option other than `--insecure` is given but no target uses TLS.
pub(crate) fn check_tls(args: &TlsArgs, entries: &[ListEntry]) -> Result<(), CommandError> {
    let secure = entries.iter().any(|entry| entry.url.scheme == Scheme::Https);
    match given(args) {
        Some(option) if !secure => {
            Err(CommandError::Usage(format!("{option} needs an https:// target; omit it")))
        }
        _ => Ok(()),
    }
}

/// Returns a remark if `--insecure` is given but no target uses TLS. It is no error: many people
/// always write `-k`.
pub(crate) fn unused_insecure(args: &TlsArgs, entries: &[ListEntry]) -> Option<Warning> {
    let secure = entries.iter().any(|entry| entry.url.scheme == Scheme::Https);
    (args.insecure && !secure).then(warning::insecure_unused)
}

/// Returns an error if the protocols that are offered (ALPN) don't fit the version of HTTP. The
/// server may choose any of them, so the version in use must be among them, and HTTP/1.1 can't
/// continue if the server chooses another.
pub(crate) fn agrees(args: &TlsArgs, http: Http) -> Result<(), CommandError> {
    let Some(List(offered)) = &args.alpn else { return Ok(()) };
    let offers = |name: &str| offered.iter().any(|other| other == name);
    let all = || offered.join(",");
    let wrong = match http.version {
        Spoken::Http1 if offers("h2") => format!("--alpn {} needs --http2", all()),
        Spoken::Http1 if offers("h3") => format!("--alpn {} needs --http3", all()),
        Spoken::Http2 if !(http.prior_knowledge || offers("h2")) => {
            "--http2 needs h2 in --alpn; add it, or give --http2-prior-knowledge".to_owned()
        }
        Spoken::Http3 if !offers("h3") => {
            "--http3 needs h3 in --alpn; add it, or omit --alpn".to_owned()
        }
        _ => return Ok(()),
    };
    Err(CommandError::Usage(wrong))
}

/// Returns the first of these options that was given.
fn given(args: &TlsArgs) -> Option<&'static str> {
    let options = [
        (args.cacert.is_some(), "--cacert"),
        (args.cert.is_some(), "--cert"),
        (args.key.is_some(), "--key"),
        (args.sni.is_some(), "--sni"),
        (args.tls.is_some(), "--tls"),
        (args.alpn.is_some(), "--alpn"),
        (args.ciphers.is_some(), "--ciphers"),
        (args.groups.is_some(), "--groups"),
        (args.resume.is_some(), "--resume"),
    ];
    options.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
}

/// Returns the TLS part of the plan. `None` if no target uses TLS.
pub(crate) fn plan(
    args: &TlsArgs,
    targets: &[Target],
    http: Http,
) -> Result<Option<PlanTls>, CommandError> {
    if !targets.iter().any(Target::secure) {
        return Ok(None);
    }
    let names = |list: &Option<List>| list.clone().unwrap_or_default().0;
    Ok(Some(PlanTls {
        version: spoken(args.tls, http)?,
        cacert: read_pem("--cacert", args.cacert.as_ref())?,
        insecure: args.insecure,
        cert: read_pem("--cert", args.cert.as_ref())?,
        key: read_pem("--key", args.key.as_ref())?,
        sni: args.sni.clone(),
        alpn: match &args.alpn {
            Some(List(names)) => names.clone(),
            None => vec![http.version.alpn().to_owned()],
        },
        ciphers: names(&args.ciphers),
        groups: names(&args.groups),
        resume: args.resume.unwrap_or_default(),
        early_data: false,
    }))
}

/// Returns the TLS version to use, if there is only one. QUIC allows only 1.3 (RFC 9001, 4.2).
fn spoken(asked: Option<TlsVersion>, http: Http) -> Result<Option<TlsVersion>, CommandError> {
    match (http.version, asked) {
        (Spoken::Http3, Some(TlsVersion::V12)) => {
            Err(CommandError::Usage("--http3 needs TLS 1.3; omit --tls 1.2".into()))
        }
        (Spoken::Http3, _) => Ok(Some(TlsVersion::V13)),
        _ => Ok(asked),
    }
}

/// Returns a path as text. A plan is text, so its paths must be UTF-8.
fn read_pem(option: &str, path: Option<&PathBuf>) -> Result<Option<String>, CommandError> {
    path.map(|path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            Err(CommandError::Usage(format!("{option} '{}': give a path in UTF-8", path.display())))
        }
    })
    .transpose()
}

fn version(text: &str) -> Result<TlsVersion, String> {
    match text {
        "1.2" => Ok(TlsVersion::V12),
        "1.3" => Ok(TlsVersion::V13),
        _ => Err("say 1.2 or 1.3".to_owned()),
    }
}

fn alpn(text: &str) -> Result<List, String> {
    let names = if text == "none" { List::default() } else { list(text)? };
    match names.0.iter().find(|name| name.len() > 255) {
        Some(_) => Err("a protocol name has at most 255 bytes".to_owned()),
        None => Ok(names),
    }
}

fn list(text: &str) -> Result<List, String> {
    let names: Vec<_> = text.split([',', ':']).map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        Err("expected names separated by commas".to_owned())
    } else {
        Ok(List(names))
    }
}

fn parse_share(text: &str) -> Result<Millionths, String> {
    match text {
        "on" => Ok(Millionths::ALL),
        "off" => Ok(Millionths::NONE),
        _ => text.parse().map_err(|_: String| "expected a share from 0 to 1, on or off".to_owned()),
    }
}

//! `sixmark origin --stack bare`.

use std::io;
use std::net::IpAddr;

use sixmark_origin::{Bare, BareOptions, Congestion, LossRecovery, Prefix, Statistics};
use sixmark_sys::command_error::CommandError;

/// Options of the bare origin.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Own TCP stack")]
pub(super) struct BareArgs {
    /// TCP implementation: the kernel's, or sixmark's on a TAP device (bare), which serves only /,
    /// /bytes/N and uploads to /sink over HTTP/1
    #[arg(long, value_enum, value_name = "STACK", default_value = "kernel")]
    stack: Stack,

    /// bare: TAP device to create in this network namespace
    #[arg(long, value_name = "NAME")]
    tap: Option<String>,

    /// bare: bridge in this network namespace to attach the device to
    #[arg(long, value_name = "NAME")]
    bridge: Option<String>,

    /// bare: address with prefix length; repeatable
    #[arg(long, value_name = "ADDR/LENGTH")]
    address: Vec<Prefix>,

    /// bare: default gateway, one per family; repeatable
    #[arg(long, value_name = "ADDR")]
    gateway: Vec<IpAddr>,

    /// bare: MAC address [default: derived from the addresses]
    #[arg(long, value_name = "XX:XX:XX:XX:XX:XX", value_parser = mac)]
    mac: Option<[u8; 6]>,

    /// bare: port to listen on [default: 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,

    /// bare: maximum number of concurrent connections; further ones are reset [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    sockets: Option<u32>,

    /// bare: size of each connection's send window and receive window [default: 65536]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1_024..=16_777_216))]
    buffer: Option<u32>,

    /// bare: congestion control [default: none]
    #[arg(long, value_enum, value_name = "NAME")]
    congestion: Option<Control>,

    /// bare: fast retransmit and fast recovery; without it only a timeout repairs a loss
    #[arg(long)]
    fast_retransmit: bool,

    /// bare: selective acknowledgements; implies --fast-retransmit
    #[arg(long)]
    sack: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Stack {
    Kernel,
    Bare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Control {
    None,
    Reno,
    Cubic,
}

impl BareArgs {
    /// Returns the options of the bare origin; `None` if the kernel does TCP. `kernels` are the
    /// given options that apply only to the kernel's TCP.
    pub(super) fn options(&self, kernels: &[&str]) -> Result<Option<BareOptions>, CommandError> {
        let wrong = |line: String| Err(CommandError::Usage(line));
        match (self.stack, kernels.first(), self.given().first()) {
            (Stack::Kernel, _, None) => Ok(None),
            (Stack::Kernel, _, Some(name)) => wrong(format!("{name} needs --stack bare")),
            (Stack::Bare, Some(name), _) => {
                wrong(format!("{name} can't be used with --stack bare; omit one of them"))
            }
            (Stack::Bare, None, _) => self.bare().map(Some),
        }
    }

    fn given(&self) -> Vec<&'static str> {
        let given = [
            ("--tap", self.tap.is_some()),
            ("--bridge", self.bridge.is_some()),
            ("--address", !self.address.is_empty()),
            ("--gateway", !self.gateway.is_empty()),
            ("--mac", self.mac.is_some()),
            ("--port", self.port.is_some()),
            ("--sockets", self.sockets.is_some()),
            ("--buffer", self.buffer.is_some()),
            ("--congestion", self.congestion.is_some()),
            ("--fast-retransmit", self.fast_retransmit),
            ("--sack", self.sack),
        ];
        given.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
    }

    fn bare(&self) -> Result<BareOptions, CommandError> {
        let needs = |what| CommandError::Usage(format!("--stack bare needs {what}"));
        let tap = self.tap.clone().ok_or_else(|| needs("--tap NAME"))?;
        if self.address.is_empty() {
            return Err(needs("--address ADDR/LENGTH, such as fd00::2/64"));
        }
        let own = BareOptions::default();
        Ok(BareOptions {
            tap,
            bridge: self.bridge.clone(),
            addresses: self.address.clone(),
            gateways: self.gateway.clone(),
            mac: self.mac,
            port: self.port.unwrap_or(own.port),
            sockets: self.sockets.map_or(own.sockets, |count| count as usize),
            buffer_bytes: self.buffer.map_or(own.buffer_bytes, |bytes| bytes as usize),
            congestion: match self.congestion {
                Some(Control::Reno) => Congestion::Reno,
                Some(Control::Cubic) => Congestion::Cubic,
                Some(Control::None) | None => Congestion::None,
            },
            loss_recovery: match (self.sack, self.fast_retransmit) {
                (true, _) => LossRecovery::Sack,
                (false, true) => LossRecovery::FastRetransmit,
                (false, false) => LossRecovery::Timeout,
            },
        })
    }
}

/// Starts the origin.
pub(super) fn start_bare(options: &BareOptions) -> Result<Bare, CommandError> {
    Bare::start(options).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => CommandError::Usage(format!("--stack bare: {error}")),
        _ => CommandError::Measure(error.to_string()),
    })
}

/// Stops the origin and returns its statistics as text.
pub(super) fn last_words(bare: Bare, json: bool) -> Result<String, CommandError> {
    let counted = bare.stop().map_err(|error| CommandError::Measure(error.to_string()))?;
    Ok(if json { format!("{}\n", serde_json::json!(counted)) } else { statistics_line(&counted) })
}

fn statistics_line(counted: &Statistics) -> String {
    let Statistics { connections, requests, timeouts, fast_retransmits, .. } = counted;
    let Statistics { segments_sent_again, duplicate_acks_hidden, .. } = counted;
    format!(
        "{connections} connections, {requests} requests; {timeouts} timeouts, {fast_retransmits} \
         fast retransmits, {segments_sent_again} segments sent again; {duplicate_acks_hidden} \
         duplicate acknowledgements hidden\n"
    )
}

fn mac(text: &str) -> Result<[u8; 6], String> {
    const FORM: &str = "expected six bytes in hexadecimal, such as 02:00:00:00:00:01";
    // `from_str_radix` would accept a sign.
    let byte = |one: &str| {
        let digits = one.len() == 2 && one.bytes().all(|digit| digit.is_ascii_hexdigit());
        u8::from_str_radix(one, 16).ok().filter(|_| digits)
    };
    let bytes: Vec<u8> = text.split(':').map(byte).collect::<Option<_>>().ok_or(FORM)?;
    bytes.try_into().map_err(|_| FORM.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_mac_addresses_of_six_hex_bytes() {
        assert_eq!(mac("02:00:00:0a:00:Ff"), Ok([2, 0, 0, 10, 0, 255]));
        for text in [
            "",
            "02:00",
            "02:00:00:00:00:1",
            "02:00:00:00:00:00:00",
            "0g:00:00:00:00:00",
            "+2:00:00:00:00:00",
        ] {
            assert!(mac(text).is_err(), "{text}");
        }
    }
}

//! What curl writes for `-w '%{json}'`, since curl 7.70: an object for each transfer.

use serde::Deserialize;

use super::proxy::{THROUGH_PROXY, port_of_url};
use super::{SeenFamilies, ToldTransfers};
use crate::client::curl::{CurlTransfer, curl_figures};

/// The fields of a transfer that are read. Times are in seconds since its start.
#[derive(Deserialize)]
struct JsonTransfer {
    time_total: Option<f64>,
    size_download: Option<f64>,
    http_code: Option<f64>,
    response_code: Option<f64>,
    /// Since curl 7.75.
    exitcode: Option<f64>,
    #[serde(default)]
    size_header: f64,
    #[serde(default)]
    num_connects: f64,
    #[serde(default)]
    time_connect: f64,
    #[serde(default)]
    time_appconnect: f64,
    #[serde(default)]
    time_pretransfer: f64,
    #[serde(default)]
    time_starttransfer: f64,
    remote_ip: Option<String>,
    remote_port: Option<f64>,
    /// The URL of the last request, since curl 7.70.
    url_effective: Option<String>,
    /// The status of the answer to the last CONNECT.
    #[serde(default)]
    http_connect: f64,
    /// Whether a proxy was used, since curl 8.7.
    #[serde(default)]
    proxy_used: f64,
    curl_version: Option<String>,
}

/// Parses the objects of transfers.
pub(super) fn read_curl_json(text: &str) -> Result<ToldTransfers, String> {
    let (mut transfers, mut families, mut version) = (Vec::new(), SeenFamilies::default(), None);
    for found in serde_json::Deserializer::from_str(text).into_iter::<JsonTransfer>() {
        let found = found.map_err(|error| format!("line {}: {error}", error.line()))?;
        let number = transfers.len() + 1;
        transfers.push(found.transfer().map_err(|why| format!("transfer {number} {why}"))?);
        found.remote_ip.iter().for_each(|address| families.add(address));
        version = version.or(found.curl_version);
    }
    let complete = transfers.iter().any(|transfer| transfer.code == 0);
    let took_s = transfers.iter().map(|transfer| transfer.total).sum();
    Ok(ToldTransfers { told: curl_figures(&transfers), version, families, took_s, complete })
}

impl JsonTransfer {
    /// Fails if the transfer went through a proxy, whose connection is what was measured. Before curl
    /// 8.7, only the port shows a proxy of plain text.
    fn check_direct(&self) -> Result<(), String> {
        if self.proxy_used != 0.0 || self.http_connect != 0.0 {
            return Err(format!("went {THROUGH_PROXY}"));
        }
        let port = self.url_effective.as_deref().and_then(port_of_url);
        match self.remote_port.filter(|port| *port > 0.0).zip(port) {
            Some((remote, port)) if remote != f64::from(port) => Err(format!(
                "was connected to port {remote}, not to port {port} of its URL, so that it went \
                 {THROUGH_PROXY}"
            )),
            _ => Ok(()),
        }
    }

    fn transfer(&self) -> Result<CurlTransfer, String> {
        self.check_direct()?;
        let missing = |name: &str| format!("has no {name}: is it what -w '%{{json}}' writes?");
        let total = self.time_total.ok_or_else(|| missing("time_total"))?;
        let body = self.size_download.ok_or_else(|| missing("size_download"))?;
        let status = self.http_code.or(self.response_code).ok_or_else(|| missing("http_code"))?;
        // Before curl 7.75 only the missing status shows a failure.
        let code = self.exitcode.unwrap_or(if status == 0.0 { 1.0 } else { 0.0 });
        let transfer = CurlTransfer {
            code: code as u32,
            status: status as u32,
            body,
            head: self.size_header,
            connect: self.time_connect,
            tls: self.time_appconnect,
            sent: self.time_pretransfer,
            first: self.time_starttransfer,
            total,
            connects: self.num_connects,
        };
        let numbers = [code, status, body, self.size_header, self.num_connects];
        if numbers.iter().any(|number| *number < 0.0) {
            return Err("has a negative number".to_owned());
        }
        let order = [0.0, transfer.connect, transfer.sent, transfer.first, total];
        let is_in_order = order.windows(2).all(|pair| pair[0] <= pair[1]);
        // A transfer that failed has only some of the times.
        match code == 0.0
            && !(is_in_order && (transfer.tls == 0.0 || transfer.tls >= transfer.connect))
        {
            true => Err("has times that do not follow each other".to_owned()),
            false if total < 0.0 => Err("has a negative time_total".to_owned()),
            false => Ok(transfer),
        }
    }
}

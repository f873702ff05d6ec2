//! The background traffic of a study in a lab. A cell names one of the mixes, or none.
//!
//! ```toml
//! [traffic]
//! near = { ipv6 = "near6", ipv4 = "near4" }
//! far = { ipv6 = "far6", ipv4 = "far4" }
//! before = "1s"
//!
//! [traffic.mixes.busy]
//! rate = "75M"
//! wire = true
//! tcp = 90
//! ipv6 = 50
//! direction = "tcp-down"
//! generator = "mgen"
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use crate::study_result::TrafficGenerator;
use sixmark_document::fields::{FileField, FileFields};
use sixmark_lab::plan::Lab;
use sixmark_traffic::{Arrivals, Basis, Percent, TrafficMix};
use sixmark_units::family::{Family, PerFamily};

/// The default time that traffic runs before a cell is measured.
const BEFORE: Duration = Duration::from_secs(1);
const ARRIVALS: [(&str, Arrivals); 2] =
    [("periodic", Arrivals::Periodic), ("poisson", Arrivals::Poisson)];
const GENERATORS: [(&str, TrafficGenerator); 2] =
    [("sixmark", TrafficGenerator::Sixmark), ("mgen", TrafficGenerator::Mgen)];
/// The most flows of a mix in a file.
const MOST_FLOWS: u64 = 10_000;

/// The hosts between which background traffic runs, and its mixes.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The hosts of the near side, by family.
    pub near: PerFamily<String>,
    /// The hosts of the far side, by family.
    pub far: PerFamily<String>,
    /// How long it runs before a cell is measured.
    pub before: Duration,
    /// The mixes, by name.
    pub mixes: BTreeMap<String, GeneratedMix>,
}

/// A mix, and what generates it.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedMix {
    /// The mix.
    pub mix: TrafficMix,
    /// The program that sends it.
    pub generator: TrafficGenerator,
}

/// Parses the table of background traffic.
pub(super) fn traffic(mut fields: FileFields<'_>, lab: Option<&Lab>) -> Option<Traffic> {
    let (near, far) = (fields.need("near"), fields.need("far"));
    let before = fields.take("before").and_then(|field| field.time()).unwrap_or(BEFORE);
    let mixes = fields.table("mixes").map_or(BTreeMap::new(), |mut mixes| {
        mixes.rest().iter().filter_map(|field| Some((field.name.clone(), mix(field)?))).collect()
    });
    if mixes.is_empty() {
        fields.wrong("traffic has mixes: [traffic.mixes.NAME]");
    }
    let Some(lab) = lab else {
        fields.wrong("only a study in a lab has hosts for traffic: [lab] file = \"lab.toml\"");
        return None;
    };
    fields.end();
    Some(Traffic { near: hosts(&near?, lab)?, far: hosts(&far?, lab)?, before, mixes })
}

/// Parses a host for each family.
fn hosts(field: &FileField<'_>, lab: &Lab) -> Option<PerFamily<String>> {
    let mut fields = field.fields()?;
    let mut host = |name, family: Family| {
        let field: FileField<'_> = fields.need(name)?;
        let text = field.text()?;
        let address = lab.host(&text).and_then(|host| lab.address(host, family));
        if address.is_none() {
            field.wrong(&format!("the lab has no host '{text}' with {family}"));
        }
        address.map(|_| text)
    };
    let (ipv6, ipv4) = (host("ipv6", Family::Ipv6), host("ipv4", Family::Ipv4));
    fields.end();
    Some(PerFamily { ipv6: ipv6?, ipv4: ipv4? })
}

fn mix(field: &FileField<'_>) -> Option<GeneratedMix> {
    let mut fields = field.fields()?;
    let mut mix = TrafficMix::default();
    if let Some(rate) = fields.need("rate").and_then(|field| field.parsed(str::parse)) {
        mix.rate = rate;
    }
    let wire = fields.take("wire").and_then(|field| field.flag()).unwrap_or(false);
    mix.basis = if wire { Basis::Wire } else { Basis::Payload };
    let percent = |field: FileField<'_>| {
        let read = Percent::new(field.number()?);
        read.map_err(|why| field.wrong(&why)).ok()
    };
    mix.tcp = fields.take("tcp").and_then(percent).unwrap_or(mix.tcp);
    mix.ipv6 = fields.take("ipv6").and_then(percent).unwrap_or(mix.ipv6);
    if let Some(flows) = fields.take("flows").and_then(|field| field.whole(1, MOST_FLOWS)) {
        mix.flows = flows as u32;
    }
    if let Some(field) = fields.take("arrivals") {
        mix.arrivals = field.one_of(&ARRIVALS)?;
    }
    if let Some(field) = fields.take("direction") {
        mix.direction = field.parsed(str::parse)?;
    }
    let generator = match fields.take("generator") {
        Some(field) => field.one_of(&GENERATORS)?,
        None => TrafficGenerator::Sixmark,
    };
    fields.end();
    mix.flows(1).map_err(|why| field.wrong(&why)).ok()?;
    Some(GeneratedMix { mix, generator })
}

//! The programs that a lab needs besides sixmark.

use std::path::PathBuf;

use sixmark_document::braces::names_in_braces;
use sixmark_sys::program::find_program;

use crate::plan::services::Service;
use crate::plan::{Lab, nft};

/// A program, and the Debian package that contains it.
pub type PackagedProgram = (&'static str, &'static str);

/// Loads the packet filters of hosts.
pub const NFT: PackagedProgram = ("nft", "nftables");
/// Configures links by netem, and finds out whether the kernel has it.
pub const TC: PackagedProgram = ("tc", "iproute2");

/// A program that a lab needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabNeed {
    /// Its name.
    pub program: String,
    /// The Debian package that contains it, if known.
    pub package: Option<String>,
    /// Its path; `None` if it is missing.
    pub found: Option<PathBuf>,
}

/// Returns the programs of the daemons, of the services and of the packet filters of a lab, each
/// once.
pub fn needed_programs(lab: &Lab) -> Vec<LabNeed> {
    let daemons = lab.daemons();
    let services = daemons.iter().chain(&lab.services).filter_map(of_service);
    let filters = (0..lab.hosts.len()).any(|host| nft::rules(lab, host).is_some());
    let filters = filters.then(|| need(NFT.0, Some(NFT.1)));
    let mut found: Vec<LabNeed> = services.chain(filters).collect();
    found.sort_by(|one, other| one.program.cmp(&other.program));
    found.dedup_by(|one, other| one.program == other.program);
    found
}

fn of_service(service: &Service) -> Option<LabNeed> {
    // A name in braces stands for sixmark itself, or for a program that the user gives.
    let program = service.command.first().filter(|word| names_in_braces(word).is_empty())?;
    Some(need(program, service.package.as_deref()))
}

fn need(program: &str, package: Option<&str>) -> LabNeed {
    LabNeed {
        program: program.to_owned(),
        package: package.map(str::to_owned),
        found: find_program(program),
    }
}

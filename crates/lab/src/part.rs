//! The parts of a lab: how one is found, and named in an error.

use std::io;

use sixmark_model::plan::lab::{Lab, LabNode};

use super::host::Host;
use sixmark_machine::CommandError;

/// A bridge's interface in its namespace.
pub(super) const BRIDGE: &str = "br0";

/// The node at a link's end.
pub(super) fn at<'a>(
    lab: &Lab,
    nodes: &'a [Host],
    node: LabNode,
) -> Result<&'a Host, CommandError> {
    let number = match node {
        LabNode::Host(number) => number,
        LabNode::Bridge(number) => lab.hosts.len() + number,
    };
    nodes
        .get(number)
        .ok_or_else(|| CommandError::Measure("the lab lacks one of its hosts".to_owned()))
}

/// An error with the part of the lab that it came in.
pub(super) fn error_of_part(part: &str) -> impl Fn(io::Error) -> CommandError {
    move |error| CommandError::Measure(format!("can't build the lab: {part}: {error}"))
}

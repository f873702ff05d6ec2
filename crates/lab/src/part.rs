//! The parts of a lab: lookup, and error messages that name them.

use std::io;

use crate::plan::{Lab, LabNode};

use super::host::Host;
use sixmark_sys::command_error::CommandError;

/// The name of a bridge's interface in its namespace.
pub(super) const BRIDGE: &str = "br0";

/// Returns the node at one end of a link.
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
        .ok_or_else(|| CommandError::Measure("a host of the lab is missing".to_owned()))
}

/// Returns a function that adds the name of a part of the lab to an error.
pub(super) fn error_of_part(part: &str) -> impl Fn(io::Error) -> CommandError {
    move |error| CommandError::Measure(format!("can't build the lab: {part}: {error}"))
}

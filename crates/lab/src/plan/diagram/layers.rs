//! The distance of every node from the first host.

use std::collections::{BTreeSet, VecDeque};

use super::super::{Lab, LabNode};

/// A node with its distance and the link by which it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayeredNode {
    pub(super) node: LabNode,
    /// The number of links between the node and the start of the search.
    pub(super) depth: usize,
    /// The link by which it was found; `None` for the start of a search.
    pub(super) by: Option<usize>,
}

/// Returns all nodes in order of their distance from the first host. Nodes that cannot be reached
/// from it follow, each group with its own search.
pub(super) fn layers(lab: &Lab) -> Vec<LayeredNode> {
    let hosts = (0..lab.hosts.len()).map(LabNode::Host);
    let mut found: Vec<LayeredNode> = Vec::new();
    for first in hosts.chain((0..lab.bridges.len()).map(LabNode::Bridge)) {
        if found.iter().all(|known| known.node != first) {
            search(lab, first, &mut found);
        }
    }
    found
}

fn search(lab: &Lab, first: LabNode, found: &mut Vec<LayeredNode>) {
    let mut left = VecDeque::from([LayeredNode { node: first, depth: 0, by: None }]);
    let mut seen = BTreeSet::from([first]);
    while let Some(next) = left.pop_front() {
        found.push(next);
        for (number, link) in lab.links.iter().enumerate() {
            for (here, there) in [(0, 1), (1, 0)] {
                let other = link.ends[there].node;
                if link.ends[here].node == next.node && seen.insert(other) {
                    left.push_back(LayeredNode {
                        node: other,
                        depth: next.depth + 1,
                        by: Some(number),
                    });
                }
            }
        }
    }
}

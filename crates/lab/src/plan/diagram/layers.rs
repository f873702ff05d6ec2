//! How far every node is from the first host.

use std::collections::{BTreeSet, VecDeque};

use super::super::{Lab, LabNode};

/// A node with how it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayeredNode {
    pub(super) node: LabNode,
    /// How many links away from where the search began.
    pub(super) depth: usize,
    /// The link that it was found by; none where a search began.
    pub(super) by: Option<usize>,
}

/// Every node, the nearest to the first host first; what nothing leads to comes after all that.
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

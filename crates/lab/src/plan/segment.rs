//! Segments: sets of links whose ends reach each other without a router.

use std::collections::{BTreeMap, BTreeSet};

use super::link::{LabLink, LabNode};

/// A link, or all links joined by bridges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The indexes of its links.
    pub links: Vec<usize>,
    /// The ends at hosts, each as the index of the link and of the end.
    pub ends: Vec<(usize, usize)>,
}

/// Returns the segments of these links, in the order of their first links.
pub fn segments(links: &[LabLink]) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    let mut done = BTreeSet::new();
    for first in 0..links.len() {
        if !done.contains(&first) {
            let members = reach(links, first);
            found.push(segment(links, &members));
            done.extend(members);
        }
    }
    found
}

/// Returns the links that can be reached from a link through bridges only, including itself.
fn reach(links: &[LabLink], first: usize) -> BTreeSet<usize> {
    let mut at_bridge: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, link) in links.iter().enumerate() {
        for end in &link.ends {
            if let LabNode::Bridge(bridge) = end.node {
                at_bridge.entry(bridge).or_default().push(number);
            }
        }
    }
    let mut members = BTreeSet::from([first]);
    let mut left = vec![first];
    while let Some(number) = left.pop() {
        for end in &links[number].ends {
            let LabNode::Bridge(bridge) = end.node else { continue };
            for &next in at_bridge.get(&bridge).into_iter().flatten() {
                if members.insert(next) {
                    left.push(next);
                }
            }
        }
    }
    members
}

fn segment(links: &[LabLink], members: &BTreeSet<usize>) -> Segment {
    let of = |&link: &usize| [0, 1].map(|end| (link, end));
    let at_host = |&(link, end): &(usize, usize)| {
        links.get(link).is_some_and(|link| matches!(link.ends[end].node, LabNode::Host(_)))
    };
    let ends = members.iter().flat_map(of).filter(at_host).collect();
    Segment { links: members.iter().copied().collect(), ends }
}

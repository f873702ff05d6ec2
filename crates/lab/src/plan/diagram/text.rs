//! Draws a lab as a tree of text.

use std::fmt::Write as _;

use super::super::{Lab, LabLink, LabNode};
use super::layers::{LayeredNode, layers};
use crate::plan::diagram::labels as words;

/// The width of a line of services, in characters.
const SERVICES_WIDTH: usize = 60;

/// Returns a lab as text: a tree that starts at its first host, with the addresses and MTU of each
/// interface, the impairments of links in each direction, and the functions of hosts. Links that
/// are not part of the tree, because they close loops, follow at the end.
pub fn diagram_text(lab: &Lab) -> String {
    let all = layers(lab);
    let mut text = format!("{}: {}\n", lab.name, lab.title);
    for root in all.iter().filter(|found| found.by.is_none()) {
        text.push('\n');
        branch(lab, &all, root, &Indent::default(), &mut text);
    }
    let mut others = others(lab, &all).peekable();
    if others.peek().is_some() {
        text += "\nand\n";
    }
    for link in others {
        let [first, second] = [0, 1].map(|end| lab.node_name(link.ends[end].node));
        let _ = writeln!(text, "  {first} to {second}");
        for line in of_link(lab, link, 0) {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// The indentation of a node's line, and of the lines below it.
#[derive(Clone, Debug, Default)]
struct Indent {
    name: String,
    below: String,
}

fn branch(lab: &Lab, all: &[LayeredNode], found: &LayeredNode, indent: &Indent, text: &mut String) {
    let below: Vec<&LayeredNode> = all.iter().filter(|next| is_below(lab, found, next)).collect();
    let _ = writeln!(text, "{}{}", indent.name, name_of_node(lab, found.node));
    let bar = if below.is_empty() { "   " } else { "│  " };
    let link = found.by.and_then(|link| lab.links.get(link));
    let near = |link: &LabLink| usize::from(link.ends[0].node == found.node);
    let of_link = link.map_or(Vec::new(), |link| of_link(lab, link, near(link)));
    for line in of_host(lab, found.node).into_iter().chain(of_link) {
        let _ = writeln!(text, "{}{bar}{line}", indent.below);
    }
    for (number, next) in below.iter().enumerate() {
        let last = number + 1 == below.len();
        let (name, rest) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let indent = Indent {
            name: format!("{}{name}", indent.below),
            below: format!("{}{rest}", indent.below),
        };
        branch(lab, all, next, &indent, text);
    }
}

/// Returns true if a node is a child of another in the tree.
fn is_below(lab: &Lab, above: &LayeredNode, found: &LayeredNode) -> bool {
    let link = found.by.and_then(|link| lab.links.get(link));
    link.is_some_and(|link| {
        found.depth == above.depth + 1 && link.ends.iter().any(|end| end.node == above.node)
    })
}

fn name_of_node(lab: &Lab, node: LabNode) -> String {
    let (name, title) = (lab.node_name(node), words::title_of_node(lab, node));
    let kind = match node {
        LabNode::Bridge(_) => " (bridge)",
        LabNode::Host(at) if lab.hosts.get(at).is_some_and(|host| host.forwards) => " (router)",
        LabNode::Host(_) => "",
    };
    let title = if title == name { String::new() } else { format!(": {title}") };
    format!("{name}{kind}{title}")
}

fn of_host(lab: &Lab, node: LabNode) -> Vec<String> {
    let LabNode::Host(at) = node else { return Vec::new() };
    let Some(host) = lab.hosts.get(at) else { return Vec::new() };
    let mut found = Vec::new();
    let marks = words::marks(host);
    if !marks.is_empty() {
        found.push(marks.join("; "));
    }
    let services = words::services(lab, host);
    found.extend(lines_of_services(&services));
    found
}

/// Returns the services of a host, in as many lines as they need.
fn lines_of_services(services: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for service in services {
        match lines.last_mut() {
            None => lines.push(format!("runs {service}")),
            Some(line) => {
                line.push(',');
                if line.chars().count() + service.chars().count() < SERVICES_WIDTH {
                    line.extend([" ", service])
                } else {
                    lines.push(format!("     {service}"))
                }
            }
        }
    }
    lines
}

/// Describes a link, starting at one of its ends.
fn of_link(lab: &Lab, link: &LabLink, first: usize) -> Vec<String> {
    let mut found = Vec::new();
    for end in [first, 1 - first] {
        let end = &link.ends[end];
        let all = words::addresses_of_end(end);
        let gap = if all.is_empty() { "" } else { ", " };
        let name = lab.node_name(end.node);
        let (interface, all) = (&end.interface, all.join(" "));
        found.push(format!("{name}/{interface}: {all}{gap}MTU {}", end.mtu));
    }
    for from in [first, 1 - first] {
        let parts = words::impairment(&link.toward[from]);
        if !parts.is_empty() {
            let [from, to] = [from, 1 - from].map(|end| lab.node_name(link.ends[end].node));
            found.push(format!("{from} → {to}: {}", parts.join("; ")));
        }
    }
    found
}

/// Returns the links that are not part of the tree.
fn others<'a>(lab: &'a Lab, all: &'a [LayeredNode]) -> impl Iterator<Item = &'a LabLink> {
    let is_used = |number: usize| all.iter().any(|found| found.by == Some(number));
    lab.links.iter().enumerate().filter(move |(number, _)| !is_used(*number)).map(|(_, link)| link)
}

//! The layout of a picture. A node's column is its distance from the first host. Within a column,
//! nodes are placed one below another, as close as possible to the height of their neighbours. All
//! lengths are in SVG units.

use std::collections::BTreeMap;

use super::super::{Lab, LabLink, LabNode};
use super::layers::layers;
use crate::plan::diagram::labels as words;

/// The distance between two lines of text.
pub(super) const LINE: f64 = 14.0;
/// The margin around the picture.
pub(super) const MARGIN: f64 = 24.0;
/// The height of the title.
const HEAD: f64 = 44.0;
/// The distance between two nodes of a column.
const APART: f64 = 26.0;
/// The minimum distance between two columns.
const GAP: f64 = 70.0;
/// The mean width of a letter in small text.
const LETTER: f64 = 6.4;
/// The mean width of a letter in a title.
const BIG_LETTER: f64 = 7.8;
/// The number of passes over the columns. More passes make no visible difference.
const PASSES: usize = 12;

/// The shape of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Host,
    Router,
    Bridge,
}

/// A node with its position.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) node: LabNode,
    pub(super) shape: Shape,
    pub(super) title: String,
    pub(super) caption: Vec<String>,
    pub(super) column: usize,
    /// The horizontal centre of the shape.
    pub(super) x: f64,
    /// The vertical centre of the shape.
    pub(super) y: f64,
    /// Half the width and half the height of the shape, without the caption below.
    pub(super) half: (f64, f64),
}

/// A link with its position.
#[derive(Clone, Debug)]
pub(super) struct PlacedLink {
    /// The start and the end of the line, the left end first.
    pub(super) ends: [(f64, f64); 2],
    /// The horizontal range in which the line may bend, between the columns of its ends.
    pub(super) bend: [f64; 2],
    /// The lines of the label.
    pub(super) label: Vec<String>,
    /// The centre of the label.
    pub(super) at: (f64, f64),
}

/// The layout of a lab.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    pub(super) spots: Vec<Spot>,
    pub(super) lines: Vec<PlacedLink>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Returns the estimated width of small text.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// Computes the layout of a lab.
pub(super) fn place_lab(lab: &Lab) -> Picture {
    let mut spots: Vec<Spot> =
        layers(lab).iter().map(|found| spot(lab, found.node, found.depth)).collect();
    let index: BTreeMap<LabNode, usize> =
        spots.iter().enumerate().map(|(at, spot)| (spot.node, at)).collect();
    let joined: Vec<[usize; 2]> =
        lab.links.iter().map(|link| sides_of_link(link, &index, &spots)).collect();
    let columns = columns(&spots);
    heights(&mut spots, &columns, &joined);
    let labels: Vec<Vec<String>> = lab
        .links
        .iter()
        .zip(&joined)
        .map(|(link, ends)| label_link(link, &spots, ends[0]))
        .collect();
    let edges = widths(&mut spots, &columns, &joined, &labels);
    let mut lines = lines_between(&spots, &edges, &joined, labels);
    settle(&mut lines, &spots);
    crop(spots, lines, &edges, lab)
}

fn spot(lab: &Lab, node: LabNode, column: usize) -> Spot {
    let title = words::title_of_node(lab, node);
    let mut caption = Vec::new();
    if title != lab.node_name(node) {
        caption.push(lab.node_name(node).to_owned());
    }
    let shape = match node {
        LabNode::Bridge(_) => Shape::Bridge,
        LabNode::Host(at) => {
            let host = lab.hosts.get(at);
            if let Some(host) = host {
                caption.extend(lab.ends(at).flat_map(words::addresses_of_end));
                caption.extend(words::marks(host));
                caption
                    .extend(words::services(lab, host).iter().map(|name| format!("runs {name}")));
            }
            if host.is_some_and(|host| host.forwards) { Shape::Router } else { Shape::Host }
        }
    };
    let at_it = lab.links.iter().filter(|link| link.ends.iter().any(|end| end.node == node));
    let half = match shape {
        Shape::Host => (title.chars().count() as f64 * BIG_LETTER / 2.0 + 12.0, 16.0),
        Shape::Router => (17.0, 17.0),
        Shape::Bridge => (5.0, (at_it.count() as f64 * 11.0).max(30.0)),
    };
    Spot { node, shape, title, caption, column, x: 0.0, y: 0.0, half }
}

impl Spot {
    /// Returns the heights above and below the centre, including the caption.
    fn extent(&self) -> (f64, f64) {
        let lines = self.caption.len() + usize::from(self.shape != Shape::Host);
        (self.half.1, self.half.1 + lines as f64 * LINE + 4.0)
    }

    /// Returns half the width, including title and caption.
    fn reach(&self) -> f64 {
        let title = self.title.chars().count() as f64 * BIG_LETTER / 2.0;
        let caption = self.caption.iter().map(|line| width(line) / 2.0).fold(title, f64::max);
        caption.max(self.half.0)
    }
}

/// Returns the spots at the ends of a link, the left one first. If both are in the same column, the
/// order is that of the link.
fn sides_of_link(link: &LabLink, index: &BTreeMap<LabNode, usize>, spots: &[Spot]) -> [usize; 2] {
    let at = |end: usize| index.get(&link.ends[end].node).copied().unwrap_or_default();
    let (first, second) = (at(0), at(1));
    if spots[first].column > spots[second].column { [second, first] } else { [first, second] }
}

fn columns(spots: &[Spot]) -> Vec<Vec<usize>> {
    let count = spots.iter().map(|spot| spot.column + 1).max().unwrap_or_default();
    let mut columns = vec![Vec::new(); count];
    for (at, spot) in spots.iter().enumerate() {
        columns[spot.column].push(at);
    }
    columns
}

/// Moves each node close to the mean height of its neighbours, as far as the other nodes of its
/// column permit.
fn heights(spots: &mut [Spot], columns: &[Vec<usize>], joined: &[[usize; 2]]) {
    for column in columns {
        pile(spots, column);
    }
    let mut columns = columns.to_vec();
    for pass in 0..PASSES {
        let count = columns.len();
        for step in 0..count {
            let column = if pass % 2 == 0 { step } else { count - 1 - step };
            let wanted: BTreeMap<usize, f64> =
                columns[column].iter().map(|&at| (at, beside(spots, joined, at))).collect();
            columns[column].sort_by(|a, b| wanted[a].total_cmp(&wanted[b]));
            for (&at, y) in &wanted {
                spots[at].y = *y;
            }
            spread(spots, &columns[column]);
        }
    }
}

/// Returns the mean height of a node's neighbours; its own height if it has none.
fn beside(spots: &[Spot], joined: &[[usize; 2]], at: usize) -> f64 {
    let other = |ends: &[usize; 2]| match *ends {
        [a, b] if a == at => Some(b),
        [a, b] if b == at => Some(a),
        _ => None,
    };
    let all: Vec<f64> = joined.iter().filter_map(other).map(|other| spots[other].y).collect();
    if all.is_empty() { spots[at].y } else { all.iter().sum::<f64>() / all.len() as f64 }
}

fn pile(spots: &mut [Spot], column: &[usize]) {
    for &at in column {
        spots[at].y = 0.0;
    }
    spread(spots, column);
}

/// Moves overlapping nodes of a column apart, keeping their order and mean height.
fn spread(spots: &mut [Spot], column: &[usize]) {
    let before: f64 = column.iter().map(|&at| spots[at].y).sum();
    let mut free = f64::NEG_INFINITY;
    for &at in column {
        let (above, below) = spots[at].extent();
        spots[at].y = spots[at].y.max(free + above);
        free = spots[at].y + below + APART;
    }
    let after: f64 = column.iter().map(|&at| spots[at].y).sum();
    let back = (after - before) / column.len().max(1) as f64;
    for &at in column {
        spots[at].y -= back;
    }
}

/// Sets the horizontal position of each column. Returns the left and right edges of the columns.
fn widths(
    spots: &mut [Spot],
    columns: &[Vec<usize>],
    joined: &[[usize; 2]],
    labels: &[Vec<String>],
) -> Vec<(f64, f64)> {
    let mut edges = Vec::new();
    let mut left = MARGIN;
    for (number, column) in columns.iter().enumerate() {
        let reach = column.iter().map(|&at| spots[at].reach()).fold(0.0, f64::max);
        for &at in column {
            spots[at].x = left + reach;
        }
        edges.push((left, left + 2.0 * reach));
        let over = joined.iter().zip(labels).filter(|(ends, _)| spots[ends[0]].column == number);
        let label = over.flat_map(|(_, lines)| lines).map(|line| width(line)).fold(0.0, f64::max);
        left += 2.0 * reach + GAP.max(label + 36.0);
    }
    edges
}

/// Returns the label of a link. Arrows refer to the picture, from left to right.
fn label_link(link: &LabLink, spots: &[Spot], left: usize) -> Vec<String> {
    let left = usize::from(link.ends[0].node != spots[left].node);
    let (there, back) = (&link.toward[left], &link.toward[1 - left]);
    let mut found = Vec::new();
    let mtus = [link.ends[left].mtu, link.ends[1 - left].mtu];
    match mtus {
        [1500, 1500] => {}
        [one, other] if one == other => found.push(format!("MTU {one}")),
        [one, other] => found.push(format!("MTU {one} | {other}")),
    }
    if there == back {
        found.extend(words::impairment(there));
        return found;
    }
    let arrows = [("→", there), ("←", back)];
    for (arrow, impairment) in arrows {
        found.extend(words::impairment(impairment).iter().map(|part| format!("{arrow} {part}")));
    }
    found
}

fn lines_between(
    spots: &[Spot],
    edges: &[(f64, f64)],
    joined: &[[usize; 2]],
    labels: Vec<Vec<String>>,
) -> Vec<PlacedLink> {
    let line = |(number, label): (usize, Vec<String>)| {
        let [left, right] = joined[number].map(|at| &spots[at]);
        let same = left.column == right.column;
        let start = (left.x + left.half.0, port(spots, joined, number, 0));
        let side = if same { right.half.0 } else { -right.half.0 };
        let end = (right.x + side, port(spots, joined, number, 1));
        let far = edges[right.column];
        let bend = [edges[left.column].1, if same { far.1 } else { far.0 }];
        let mut line = PlacedLink { ends: [start, end], bend, label, at: (0.0, 0.0) };
        line.at = line.point(0.5);
        line
    };
    labels.into_iter().enumerate().map(line).collect()
}

/// Returns the height at which a link meets a node. At a bridge, each link has its own height.
fn port(spots: &[Spot], joined: &[[usize; 2]], number: usize, side: usize) -> f64 {
    let at = joined[number][side];
    let spot = &spots[at];
    if spot.shape != Shape::Bridge {
        return spot.y;
    }
    let other = |ends: &[usize; 2]| spots[ends[1 - side]].y;
    let mut here: Vec<usize> = (0..joined.len()).filter(|&n| joined[n][side] == at).collect();
    here.sort_by(|&a, &b| other(&joined[a]).total_cmp(&other(&joined[b])));
    let place = here.iter().position(|&n| n == number).unwrap_or_default() as f64 + 0.5;
    spot.y - spot.half.1 + 2.0 * spot.half.1 * place / here.len().max(1) as f64
}

impl PlacedLink {
    /// Returns true if both ends are in the same column.
    pub(super) fn is_loop(&self) -> bool {
        self.bend[0] >= self.bend[1]
    }

    /// Returns a point of the bent part; `share` runs from 0 at its start to 1 at its end.
    fn point(&self, share: f64) -> (f64, f64) {
        let [(_, from), (_, to)] = self.ends;
        if self.is_loop() {
            let x = self.bend[0] + 14.0;
            return (x, from + (to - from) * share);
        }
        let smooth = share * share * (3.0 - 2.0 * share);
        (self.bend[0] + (self.bend[1] - self.bend[0]) * share, from + (to - from) * smooth)
    }

    /// Returns the width and the height of the label.
    pub(super) fn label_size(&self) -> (f64, f64) {
        let wide = self.label.iter().map(|line| width(line)).fold(0.0, f64::max);
        (wide + 8.0, self.label.len() as f64 * LINE + 2.0)
    }
}

/// Moves labels along their lines, or down if necessary, until they overlap neither nodes nor each
/// other.
fn settle(lines: &mut [PlacedLink], spots: &[Spot]) {
    let mut taken: Vec<Area> = spots.iter().map(Area::of_spot).collect();
    for line in lines.iter_mut().filter(|line| !line.label.is_empty()) {
        let size = line.label_size();
        let along = [0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2].map(|share| line.point(share));
        let (x, y) = line.point(0.5);
        let below = (1..200).map(|step| (x, y + f64::from(step) * 4.0));
        let mut all = along.into_iter().chain(below);
        let fits = |at: &(f64, f64)| taken.iter().all(|other| !other.meets(&Area::of(*at, size)));
        line.at = all.find(fits).unwrap_or((x, y));
        taken.push(Area::of(line.at, size));
    }
}

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area(pub(super) [f64; 4]);

impl Area {
    pub(super) fn of((x, y): (f64, f64), (wide, high): (f64, f64)) -> Area {
        Area([x - wide / 2.0, y - high / 2.0, x + wide / 2.0, y + high / 2.0])
    }

    /// Returns the area of a node with its texts.
    pub(super) fn of_spot(spot: &Spot) -> Area {
        let (reach, (above, below)) = (spot.reach(), spot.extent());
        Area([spot.x - reach, spot.y - above, spot.x + reach, spot.y + below])
    }

    pub(super) fn meets(&self, other: &Area) -> bool {
        let ([l, t, r, b], [ol, ot, or, ob]) = (self.0, other.0);
        l < or && ol < r && t < ob && ot < b
    }
}

/// Moves everything below the title and computes the size of the picture.
fn crop(
    mut spots: Vec<Spot>,
    mut lines: Vec<PlacedLink>,
    edges: &[(f64, f64)],
    lab: &Lab,
) -> Picture {
    let labels = lines.iter().filter(|line| !line.label.is_empty());
    let labels = labels.map(|line| Area::of(line.at, line.label_size()));
    let boxes: Vec<Area> = spots.iter().map(Area::of_spot).chain(labels).collect();
    let top = boxes.iter().map(|b| b.0[1]).fold(f64::INFINITY, f64::min).min(f64::MAX);
    let down = HEAD + MARGIN - top;
    spots.iter_mut().for_each(|spot| spot.y += down);
    for line in &mut lines {
        line.ends.iter_mut().for_each(|end| end.1 += down);
        line.at.1 += down;
    }
    let bottom = boxes.iter().map(|b| b.0[3] + down).fold(HEAD, f64::max);
    let right = boxes.iter().map(|b| b.0[2]).chain(edges.iter().map(|edge| edge.1 + 40.0));
    let title = lab.title.chars().count() as f64 * 9.5 + MARGIN;
    let width = right.fold(title, f64::max) + MARGIN;
    Picture { spots, lines, width, height: bottom + MARGIN }
}

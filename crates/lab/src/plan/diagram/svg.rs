//! Draws a lab as an SVG picture.

use std::fmt::Write as _;

use super::super::Lab;
use super::place::{LINE, MARGIN, Picture, PlacedLink, Shape, Spot, place_lab};

/// The style sheet, with colours for light and dark mode. It loads no other files and contains no
/// scripts.
const STYLE: &str = "\
svg { --paper: #fff; --ink: #1c2330; --soft: #5b6575; --line: #8a94a6; --host: #e8f0fb; \
--router: #fdf0dc; --edge: #3b6fb5; --turn: #b3741b; background: var(--paper); \
font: 12px system-ui, sans-serif; fill: var(--ink) }\n\
@media (prefers-color-scheme: dark) { svg { --paper: #14181f; --ink: #e6eaf1; --soft: #a3adbd; \
--line: #667085; --host: #1d2b40; --router: #3a2c15; --edge: #7fb0f0; --turn: #e2a955 } }\n\
.title { font-size: 17px; font-weight: 600 }\n\
.name { font-size: 13px; font-weight: 600; text-anchor: middle }\n\
.more, .said { font-size: 11px; text-anchor: middle }\n\
.more { fill: var(--soft) }\n\
.under { fill: var(--paper); stroke: none }\n\
.link { fill: none; stroke: var(--line); stroke-width: 1.6 }\n\
.host { fill: var(--host); stroke: var(--edge) }\n\
.router { fill: var(--router); stroke: var(--turn) }\n\
.arrows { fill: none; stroke: var(--turn) }\n\
.bridge { fill: var(--line) }\n";

/// Returns a self-contained SVG picture of a lab. Hosts are boxes, routers are circles, bridges are
/// bars.
pub fn svg(lab: &Lab) -> String {
    let picture = place_lab(lab);
    let Picture { width, height, .. } = picture;
    let (title, about) = (escape(&lab.title), escape(&describe_lab(lab)));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title about\" \
         width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <title id=\"title\">{title}</title>\n<desc id=\"about\">{about}</desc>\n\
         <style>\n{STYLE}</style>\n\
         <rect class=\"under\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"36\">{title}</text>\n"
    );
    picture.lines.iter().for_each(|line| path(&mut text, line));
    picture.lines.iter().for_each(|line| write_label(&mut text, line));
    picture.spots.iter().for_each(|spot| node(&mut text, spot));
    text + "</svg>\n"
}

/// Returns a description of the picture for screen readers.
fn describe_lab(lab: &Lab) -> String {
    let joins = lab.links.iter().map(|link| {
        let [a, b] = [0, 1].map(|end| lab.node_name(link.ends[end].node));
        format!("{a} to {b}")
    });
    let joins: Vec<String> = joins.collect();
    let (hosts, bridges) = (lab.hosts.len(), lab.bridges.len());
    format!(
        "A network of {hosts} hosts and {bridges} bridges. Links from the left to the right: {}.",
        joins.join(", ")
    )
}

fn path(text: &mut String, line: &PlacedLink) {
    let [(x1, y1), (x2, y2)] = line.ends;
    let [from, to] = line.bend;
    let bulge = if line.is_loop() { from + 18.0 } else { (from + to) / 2.0 };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "<path class=\"link\" d=\"M{x1:.1} {y1:.1}H{from:.1}C{bulge:.1} {y1:.1} {bulge:.1} {y2:.1} \
         {to:.1} {y2:.1}H{x2:.1}\"/>"
    );
}

fn write_label(text: &mut String, line: &PlacedLink) {
    if line.label.is_empty() {
        return;
    }
    let ((x, y), (wide, high)) = (line.at, line.label_size());
    let (left, top) = (x - wide / 2.0, y - high / 2.0);
    let _ = writeln!(
        text,
        "<rect class=\"under\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"/>"
    );
    for (number, said) in line.label.iter().enumerate() {
        let y = top + number as f64 * LINE + 11.5;
        let said = escape(said);
        let _ = writeln!(text, "<text class=\"said\" x=\"{x:.1}\" y=\"{y:.1}\">{said}</text>");
    }
}

fn node(text: &mut String, spot: &Spot) {
    let Spot { x, y, half: (wide, high), .. } = *spot;
    let (left, top) = (x - wide, y - high);
    let _ = match spot.shape {
        Shape::Router => writeln!(
            text,
            "<circle class=\"router\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{wide:.1}\"/>\
             <path class=\"arrows\" d=\"M{:.1} {:.1}l14 14m-4 0h4v-4M{:.1} {:.1}l-14 14m0 -4v4h4\"/>",
            x - 7.0,
            y - 7.0,
            x + 7.0,
            y - 7.0
        ),
        Shape::Host | Shape::Bridge => writeln!(
            text,
            "<rect class=\"{}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             rx=\"4\"/>",
            if spot.shape == Shape::Host { "host" } else { "bridge" },
            2.0 * wide,
            2.0 * high
        ),
    };
    let inside = spot.shape == Shape::Host;
    let name = if inside { y + 4.5 } else { y + high + LINE };
    let title = escape(&spot.title);
    let _ = writeln!(text, "<text class=\"name\" x=\"{x:.1}\" y=\"{name:.1}\">{title}</text>");
    let first = if inside { y + high } else { name };
    for (number, more) in spot.caption.iter().enumerate() {
        let y = first + (number + 1) as f64 * LINE;
        let more = escape(more);
        let _ = writeln!(text, "<text class=\"more\" x=\"{x:.1}\" y=\"{y:.1}\">{more}</text>");
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

//! Diagrams of a lab: as a tree of text, and as an SVG picture.
//!
//! Both begin at the first host of the file and proceed from neighbour to neighbour.

mod labels;
mod layers;
mod place;
mod svg;
mod text;

pub use svg::svg;
pub use text::diagram_text;

#[cfg(test)]
mod tests;

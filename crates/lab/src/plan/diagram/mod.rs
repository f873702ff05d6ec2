//! A lab, drawn: as a tree of text, and as a picture.
//!
//! Both begin at the file's first host and go on to whoever is next to what has been drawn.

mod labels;
mod layers;
mod place;
mod svg;
mod text;

pub use svg::svg;
pub use text::diagram_text;

#[cfg(test)]
mod tests;

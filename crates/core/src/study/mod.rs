//! A study's document, and what is made of its cells: tables, figures, comparisons. What a study is
//! and how its file is written is in [`plan::study`](crate::plan::study).
//!
//! A *cell* is one combination of the factors' levels, and is measured once in each repetition.

pub mod analyse;
pub mod average;
pub mod client;
pub mod figures;
pub mod measure;
pub mod outputs;
pub mod result;
pub mod student;

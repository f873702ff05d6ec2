//! Sides that gave no usable response, and what is said of them.

use crate::comparison_result::{ComparedSide, ComparisonResult};
use sixmark_result::no_answer::{LoadKind, LoadedSide, describe_no_answers, explain_no_answer};

impl ComparisonResult {
    /// Returns one line about the sides that gave no response of an accepted status: what happened
    /// most often, and what to do. `None` if both gave one.
    pub fn describe_no_answers(&self) -> Option<String> {
        describe_no_answers(&self.loaded_sides())
    }

    /// Returns what to do about the sides that gave no response of an accepted status, each advice
    /// once.
    pub fn advices_of_silent_sides(&self) -> Vec<String> {
        let sides = self.loaded_sides();
        let mut advices: Vec<String> = Vec::new();
        for why in sides.iter().filter_map(explain_no_answer) {
            let advice = why.advice().to_owned();
            if !advice.is_empty() && !advices.contains(&advice) {
                advices.push(advice);
            }
        }
        advices
    }

    fn loaded_sides(&self) -> [LoadedSide<'_>; 2] {
        [&self.sides.a, &self.sides.b].map(|of: &ComparedSide| LoadedSide {
            name: &of.name,
            plan: &of.plan,
            figures: &of.figures,
            ended: self.ended,
            kind: LoadKind::Blocks,
        })
    }

    /// Returns true if a side gave no complete response.
    pub fn has_silent_side(&self) -> bool {
        [&self.sides.a, &self.sides.b].iter().any(|side| side.figures.requests.completed == 0)
    }
}

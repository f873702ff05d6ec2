//! A group of cells.

/// A group of cells, in the requested form of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellGroup {
    /// Its name.
    pub name: String,
    /// The levels of each factor of the study, in the order of the file. It has no cells if one of
    /// these lists is empty.
    pub levels: Vec<(String, Vec<String>)>,
}

impl CellGroup {
    /// Returns its levels of a factor; `None` if the study does not vary the factor.
    pub fn levels_of(&self, factor: &str) -> Option<&[String]> {
        let found = self.levels.iter().find(|(name, _)| name == factor);
        found.map(|(_, levels)| levels.as_slice())
    }

    /// Returns true if it has cells, unless they are all excluded.
    pub fn has_cells(&self) -> bool {
        self.levels.iter().all(|(_, levels)| !levels.is_empty())
    }

    /// Returns true if a level of a factor is among its levels, or the study does not vary the
    /// factor.
    pub fn includes(&self, factor: &str, level: &str) -> bool {
        self.levels_of(factor).is_none_or(|levels| levels.iter().any(|known| known == level))
    }
}

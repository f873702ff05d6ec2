//! The study file: an experiment, as people write it, and as a value that can't be invalid.
//!
//! ```toml
//! name = "first"
//! title = "A first study"
//! path = "/bytes/{size}"
//! repetitions = 5
//!
//! [options]
//! count = 1000
//!
//! [factors]
//! family = ["ipv6", "ipv4"]
//! size = [1000, 100000]
//! ```

mod around;
mod cell;
pub mod cells;
mod column;
pub mod command_line;
mod factors;
mod findings;
mod known_names;
pub mod lab;
mod outputs;
pub(crate) mod published;
mod read;
pub mod traffic;

use crate::setting::Setting;
use std::num::NonZeroU32;
use std::time::Duration;

pub use around::Hooks;
pub use sixmark_lab::plan::services::{ReadyCheck, Service};

pub use cell::PlannedCell;
pub use column::{ColumnSpec, LevelFilter};
pub use findings::{FindingSentences, FindingSpec, SideLevels};
pub use known_names::Levels;
pub use outputs::{ChartSpec, ComparisonSpec, Outputs, TableSpec};
pub use published::{
    AnalysisSpec, AnalysisSubject, PublishedFigures, PublishedOf, ShareOf, SharesSpec,
};
pub use read::{ReadContext, parse_study};
use sixmark_lab::plan::generated::Generated;

use crate::study_result::CellOrder;

/// A study, checked: every name in it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Letters, digits, `-` and `_`.
    pub name: String,
    /// A line about it.
    pub title: String,
    /// More, for people; may be empty.
    pub description: String,
    /// About how long it lasts, as the file says.
    pub takes: Option<Duration>,
    /// True of the short form.
    pub quick: bool,
    /// True of the form for a lab.
    pub in_lab: bool,
    /// True where the file has a short form.
    pub has_quick: bool,
    /// True where the file has a form for a lab.
    pub has_lab_form: bool,
    /// Keys that are no options, only names that texts have in braces.
    pub texts: Vec<String>,
    /// How the cells follow one another.
    pub order: CellOrder,
    /// How often each is measured.
    pub repetitions: NonZeroU32,
    /// What is asked for of a service or a target: begins with `/`; names of factors in braces.
    pub path: String,
    /// Where, without a path; used where there are no services.
    pub targets: Vec<String>,
    /// The lab that it is carried out in; its services are the study's.
    pub lab: Option<lab::InLab>,
    /// Its background traffic.
    pub traffic: Option<traffic::Traffic>,
    /// What is the same for all cells.
    pub options: Vec<Setting>,
    /// What is varied.
    pub factors: Vec<Factor>,
    /// What combinations of levels set beside.
    pub together: Vec<Together>,
    /// Combinations that are left out.
    pub exclude: Vec<LevelFilter>,
    /// Programs that run while the study does.
    pub services: Vec<Service>,
    /// Files made for it.
    pub files: Vec<Generated>,
    /// Programs run between cells.
    pub hooks: Hooks,
    /// What is made of the cells.
    pub outputs: Outputs,
    /// The figures beside which the measured ones are set.
    pub published: Option<PublishedFigures>,
}

/// Something that is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its levels, of which there is one at least, no two of one name.
    pub levels: Vec<Level>,
}

/// One level of a factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// What it sets.
    pub settings: Vec<Setting>,
}

/// What a combination of levels sets, in the place of what each of them says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// The levels.
    pub at: LevelFilter,
    /// What they set together.
    pub settings: Vec<Setting>,
}

impl Study {
    /// True of a key that is no option, only a name that texts have in braces.
    pub fn is_text(&self, key: &str) -> bool {
        self.texts.iter().any(|text| text == key)
    }

    /// Where a service answers, as far as that is known before it runs: any port is like the other.
    pub fn likely_urls(&self, service: &str) -> Option<Vec<String>> {
        let service = self.services.iter().find(|known| known.name == service)?;
        let value = |name: &str| match name {
            "port" | "port6" => Some("1".to_owned()),
            name => self.lab.as_ref().and_then(|lab| lab.lab.value(name)),
        };
        Some(service.urls.iter().map(|url| sixmark_document::braces::fill(url, value)).collect())
    }

    /// The names of a factor's levels; of `family` both families where no factor of that name says
    /// otherwise.
    pub fn level_names(&self, factor: &str) -> Vec<&str> {
        match self.factors.iter().find(|known| known.name == factor) {
            Some(factor) => factor.levels.iter().map(|level| level.name.as_str()).collect(),
            None if factor == FAMILY => FAMILIES.to_vec(),
            None => Vec::new(),
        }
    }
}

/// The factor that every figure has.
pub const FAMILY: &str = "family";

/// Its levels.
pub const FAMILIES: [&str; 2] = ["ipv6", "ipv4"];

#[cfg(test)]
mod tests;

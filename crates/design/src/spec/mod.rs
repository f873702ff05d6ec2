//! The study file: how people write it, and the checked value that it is parsed into.
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

mod address_list;
mod around;
mod cell;
mod cell_group;
pub mod cells;
mod claims;
mod column;
pub mod command_line;
mod differences;
mod elsewhere;
mod factors;
mod forms;
mod given;
mod groups;
mod head;
mod imports;
pub mod instruments;
mod known_names;
pub mod lab;
mod labels;
mod omitted;
mod outputs;
pub mod published;
mod read;
pub mod traffic;
mod varied;

use crate::form::Form;
use crate::levels::LevelLabels;
use sixmark_clients::setting::Setting;
use std::num::NonZeroU32;
use std::time::Duration;

pub use address_list::AddressList;
pub use around::Hooks;
pub use sixmark_lab::plan::services::{ReadyCheck, Service};

pub use cell::PlannedCell;
pub use cell_group::CellGroup;
pub use claims::{
    ClaimBounds, ClaimSentences, ClaimSpec, ClaimTest, Contrast, DerivedFrom, ExactTest,
    IndependentTest, OrderTest, OrderedLevels, Precondition, Relation, ShareTest, SideLevels,
    SidesTest, TrendShape, TrendTest,
};
pub use claims::{is_pattern, published_levels};
pub use column::PERCENT;
pub use column::{ColumnSpec, LevelFilter};
pub use elsewhere::{Elsewhere, ForServices, NamedServers};
pub use head::ReadContext;
pub use imports::is_level_name;
pub use known_names::Levels;
pub use outputs::{ChartSpec, ComparisonSpec, Outputs, TableSpec};
pub use published::{
    AnalysisSpec, AnalysisSubject, PublishedFigures, PublishedOf, ShareOf, SharesSpec,
};
pub use read::parse_study;
use sixmark_lab::plan::generated::Generated;

use crate::study_result::{CellOrder, OmittedService};

/// A checked study: every name in it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its description; may be empty.
    pub description: String,
    /// How this form differs from the published study that it repeats, in sentences; empty without
    /// one.
    pub differences: Vec<String>,
    /// About how long it lasts, if the file says so.
    pub takes: Option<Duration>,
    /// Its form.
    pub form: Form,
    /// The forms that the file has besides the default one.
    pub has: Form,
    /// Keys that are not options of `sixmark run`, but only replace their names in braces.
    pub texts: Vec<String>,
    /// The order of the cells.
    pub order: CellOrder,
    /// How often each cell is measured.
    pub repetitions: NonZeroU32,
    /// The path of requests. It begins with `/` and may contain names in braces.
    pub path: String,
    /// The URLs to load, without path, if there are no services.
    pub targets: Vec<String>,
    /// The lab that it is carried out in, if any. The lab's services are those of the study.
    pub lab: Option<lab::InLab>,
    /// The background traffic, if any.
    pub traffic: Option<traffic::Traffic>,
    /// The instruments that measure beside the client of each cell.
    pub instruments: Vec<instruments::Instrument>,
    /// The settings of all cells.
    pub options: Vec<Setting>,
    /// The factors that are varied.
    pub factors: Vec<Factor>,
    /// The labels of factors and levels.
    pub labels: LevelLabels,
    /// The factor to which imports may add levels, if any.
    pub imports: Option<String>,
    /// The settings of combinations of levels.
    pub together: Vec<Together>,
    /// The groups whose union are the cells; empty if the cells are all combinations of levels.
    pub groups: Vec<CellGroup>,
    /// The combinations of levels that are omitted.
    pub exclude: Vec<LevelFilter>,
    /// The programs that run during the study.
    pub services: Vec<Service>,
    /// The optional services that can't run here; empty unless [`Study::omit`] was called.
    pub omitted: Vec<OmittedService>,
    /// What the user names in place of the services' own programs.
    pub named: NamedServers,
    /// Whether generated files are on a disk, although memory is faster.
    pub on_disk: bool,
    /// The files that are generated for it.
    pub files: Vec<Generated>,
    /// The programs that run before and after it and its cells.
    pub hooks: Hooks,
    /// The tables, charts, comparisons and claims.
    pub outputs: Outputs,
    /// The published figures that are shown beside the measured ones, if any.
    pub published: Option<PublishedFigures>,
}

/// A factor, which a study varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Its levels, at least one, with distinct names.
    pub levels: Vec<Level>,
}

/// One level of a factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// Its settings.
    pub settings: Vec<Setting>,
}

/// The settings of a combination of levels, which replace those of each level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// The combination.
    pub at: LevelFilter,
    /// Its settings.
    pub settings: Vec<Setting>,
}

impl Study {
    /// Returns true if a key is not an option, but only replaces its name in braces.
    pub fn is_text(&self, key: &str) -> bool {
        self.texts.iter().any(|text| text == key)
    }

    /// Returns the URLs of a service as far as they are known before it runs, with an arbitrary
    /// port; `None` if there is no such service.
    pub fn likely_urls(&self, service: &str) -> Option<Vec<String>> {
        let service = self.services.iter().find(|known| known.name == service)?;
        let value = |name: &str| match name {
            "port" | "port6" => Some("1".to_owned()),
            name => self.lab.as_ref().and_then(|lab| lab.lab.value(name)),
        };
        Some(service.urls.iter().map(|url| sixmark_document::braces::fill(url, value)).collect())
    }

    /// Returns the names of a factor's levels. Without a factor `family`, those of `family` are
    /// both families.
    pub fn level_names(&self, factor: &str) -> Vec<&str> {
        match self.factors.iter().find(|known| known.name == factor) {
            Some(factor) => factor.levels.iter().map(|level| level.name.as_str()).collect(),
            None if factor == FAMILY => FAMILIES.to_vec(),
            None => Vec::new(),
        }
    }
}

/// The name of the factor that every figure has.
pub const FAMILY: &str = "family";

/// The levels of [`FAMILY`].
pub const FAMILIES: [&str; 2] = ["ipv6", "ipv4"];

#[cfg(test)]
mod tests;

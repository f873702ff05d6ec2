//! Studies: experiments described in a file, carried out cell by cell and kept so that nothing is
//! lost.
//!
//! A study's folder contains `study.json` (`sixmark.study/1`, written after cells and at the end),
//! `cells/` with a document for each cell, `logs/` with the output of services, `imports/` with copies
//! of imported files, and a copy of the files that were read.

mod background;
mod builtin;
mod captured;
mod cell;
mod cell_warnings;
mod changes;
mod check;
mod conduct;
mod elsewhere;
mod external;
mod files;
mod folder;
mod given;
mod hooks;
mod imports;
mod instruments;
mod machine_noise;
mod mgen;
mod omissions;
mod options;
mod own_program;
mod program;
mod reach;
mod rounds;
mod source;
mod stage;
mod start;
mod study_fleet;
mod used;
mod work;

pub use check::{CellUrls, OptionsOfCells, WrongOption, read_options};
pub use conduct::{Finished, StudyEvent, run_cells};
pub use elsewhere::{ElsewhereOptions, ForService, SetUpLevel, aim_study};
pub use folder::{check_begun, files_of_folder};
pub use given::{GivenProgram, check_given, give_programs};
pub use imports::{ImportOptions, Imported, import_files};
pub use omissions::omissions;
pub use options::Options;
pub use program::{Need, client_program, needs};
pub use source::{Source, builtin_names};
pub use study_fleet::StudyFleet;

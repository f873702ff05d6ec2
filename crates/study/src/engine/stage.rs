//! The services that cells are measured against, on this machine's loopback or in a lab.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_design::spec::PlannedCell;
use sixmark_design::spec::lab::{InLab, chosen};
use sixmark_design::spec::{Service, Study};
use sixmark_lab::plan::parse_lab;
use sixmark_sys::enclosure::Rights;

use super::folder::Folder;
use super::options::Options;
use super::study_fleet::StudyFleet;
use super::work::Work;
use sixmark_clients::browser::Browsers;
use sixmark_lab::service::{ServiceGround, Services};
use sixmark_lab::{self as lab, Host, Up};
use sixmark_run::Generators;
use sixmark_sys::command_error::CommandError;

/// The running services, the lab that they run in, and the agents that load them.
pub(super) struct Stage<'a> {
    study: &'a Study,
    logs: PathBuf,
    www: PathBuf,
    dirs: PathBuf,
    rights: Option<Rights>,
    stop: &'a AtomicBool,
    // The order of these fields is the order in which they are dropped.
    fleet: Option<Arc<dyn Generators>>,
    services: Services,
    up: Option<(WantedLab, Up)>,
    wanted_fleet: Option<Arc<dyn StudyFleet>>,
}

/// The requirements that a lab is built for: the chosen variants, and the on-demand service that
/// runs.
#[derive(Debug, PartialEq, Eq)]
struct WantedLab {
    variants: BTreeMap<String, String>,
    service: Option<String>,
}

impl<'a> Stage<'a> {
    /// Prepares the stage, and starts the services and agents of a study without a lab. Returns
    /// `None` if the study is to stop.
    pub(super) fn open(
        study: &'a Study,
        folder: &Folder,
        work: &Work,
        options: &Options,
        stop: &'a AtomicBool,
    ) -> Result<Option<Stage<'a>>, CommandError> {
        let mut stage = Stage {
            study,
            logs: folder.logs(),
            www: work.www(),
            dirs: work.path().to_owned(),
            rights: options.rights,
            stop,
            fleet: None,
            services: Services::default(),
            up: None,
            wanted_fleet: options.fleet.clone(),
        };
        if study.lab.is_none() {
            let ground = stage.ground();
            let here = study.services.iter().filter(|service| !study.is_omitted(&service.name));
            let here: Vec<Service> = here.cloned().collect();
            let Some(services) = Services::start(&here, &ground)? else {
                return Ok(None);
            };
            stage.services = services;
            if !stage.take_fleet()? {
                return Ok(None);
            }
        }
        Ok(Some(stage))
    }

    fn ground(&self) -> ServiceGround<'_> {
        ServiceGround {
            logs: &self.logs,
            dirs: &self.dirs,
            www: &self.www,
            hosts: None,
            stop: self.stop,
        }
    }

    /// Builds what a cell requires. Returns false if the study is to stop.
    pub(super) fn prepare(
        &mut self,
        cell: &PlannedCell<'_>,
        browsers: &Browsers,
    ) -> Result<bool, CommandError> {
        self.services.check()?;
        let Some(lab) = &self.study.lab else { return Ok(true) };
        let wanted = self.wanted(cell);
        if let Some((is, up)) = &mut self.up
            && *is == wanted
            && !lab.anew
        {
            return up.check().map(|()| true);
        }
        // The old lab, with the browsers and agents in its hosts, is removed before the next is built.
        browsers.end();
        self.fleet = None;
        self.up = None;
        let up = self.build(lab, &wanted)?;
        self.up = up.map(|up| (wanted, up));
        Ok(self.up.is_some() && self.take_fleet()?)
    }

    /// Takes the agents, if any are wanted. Returns false if the study is to stop.
    fn take_fleet(&mut self) -> Result<bool, CommandError> {
        let Some(wanted) = &self.wanted_fleet else { return Ok(true) };
        match wanted.take(self.up(), self.stop) {
            Ok(fleet) => self.fleet = Some(fleet),
            Err(CommandError::Interrupted(_)) => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    fn wanted(&self, cell: &PlannedCell<'_>) -> WantedLab {
        let asked = |service: &&Service| {
            service.on_demand && cell.text("server") == Some(service.name.as_str())
        };
        let service = self.study.services.iter().find(asked);
        let variants = chosen(&cell.settings());
        WantedLab { variants, service: service.map(|service| service.name.clone()) }
    }

    fn build(&self, lab: &InLab, wanted: &WantedLab) -> Result<Option<Up>, CommandError> {
        let Some(rights) = self.rights else {
            return Err(CommandError::Measure(
                "a study in a lab is run inside an enclosure".to_owned(),
            ));
        };
        let mut plan =
            parse_lab(&lab.text, Some(&lab.file), &wanted.variants).map_err(|wrongs| {
                CommandError::Usage(
                    wrongs.first().map_or(String::new(), |wrong| wrong.of_file(&lab.file)),
                )
            })?;
        plan.demand(wanted.service.as_deref());
        plan.services.retain(|service| !self.study.is_omitted(&service.name));
        self.study.put_programs(&mut plan.services);
        let (logs, www, stop) = (&self.logs, &self.www, self.stop);
        Up::build(plan, &lab::Ground { rights, logs, www, stop })
    }

    /// Returns the URLs of a service.
    pub(super) fn urls(&self, service: &str) -> Option<Vec<String>> {
        match &self.up {
            Some((_, up)) => up.urls(service),
            None => self.services.urls(service),
        }
    }

    /// Returns the process id of a service; `None` if the study did not start it.
    pub(super) fn pid_of(&self, service: &str) -> Option<u32> {
        match &self.up {
            Some((_, up)) => up.pid_of(service),
            None => self.services.pid_of(service),
        }
    }

    /// Returns the agents that generate the load; `None` if this process does.
    pub(super) fn fleet(&self) -> Option<&Arc<dyn Generators>> {
        self.fleet.as_ref()
    }

    /// Returns the running lab.
    pub(super) fn up(&self) -> Option<&Up> {
        self.up.as_ref().map(|(_, up)| up)
    }

    /// Returns the hosts that generate a cell's load; none without a lab.
    pub(super) fn hosts(&self, cell: &PlannedCell<'_>) -> Result<Vec<&Host>, CommandError> {
        let Some(up) = self.up() else { return Ok(Vec::new()) };
        cell.from().into_iter().map(|name| up.hosts().get(name)).collect()
    }

    /// Returns the first host that generates a cell's load; `None` without a lab.
    pub(super) fn host(&self, cell: &PlannedCell<'_>) -> Result<Option<&Host>, CommandError> {
        Ok(self.hosts(cell)?.into_iter().next())
    }

    /// Ends everything, in the reverse order of its beginning.
    pub(super) fn close(mut self) -> Result<(), CommandError> {
        self.fleet = None;
        self.up = None;
        self.services.stop()
    }
}

/// The folder for temporary files that outlast a boot, which is on a disk (FHS 3.0, 5.15).
const ON_DISK: &str = "/var/tmp";

/// Returns the parent folder of the temporary folder.
pub(super) fn temporary(study: &Study, rights: Option<Rights>) -> PathBuf {
    match rights {
        _ if study.on_disk => PathBuf::from(ON_DISK),
        Some(_) => PathBuf::from(lab::TEMPORARY),
        None => std::env::temp_dir(),
    }
}

//! The files that come with a plan: they are written where only this agent can read them, and the
//! plan names them there.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sixmark_plan::plan::Plan;
use tempfile::TempDir;

use crate::messages::WireLoad;

/// The most bytes of all files together.
const MOST_BYTES: usize = 4 << 20;

/// The folder of the files, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct WireFiles {
    _folder: Option<TempDir>,
}

/// Returns the plan with its files in place.
pub(super) fn unpack(what: WireLoad) -> Result<(Plan, WireFiles), String> {
    let mut plan = what.plan.plan()?;
    let Some(tls) = plan.tls.as_mut().filter(|tls| !tls.files().is_empty()) else {
        return Ok((plan, WireFiles { _folder: None }));
    };
    let cannot = |error: std::io::Error| format!("can't keep the files of the plan: {error}");
    let folder = TempDir::with_prefix("sixmark-agent-").map_err(cannot)?;
    let mut places = BTreeMap::new();
    let mut bytes = 0;
    for (number, file) in what.files.into_iter().enumerate() {
        let content = STANDARD.decode(file.base64).map_err(|error| {
            format!("can't read the content of file '{}': {error}", file.name.escape_debug())
        })?;
        bytes += content.len();
        if bytes > MOST_BYTES {
            return Err("the files of the plan are too large".to_owned());
        }
        let place = folder.path().join(number.to_string());
        std::fs::write(&place, content).map_err(cannot)?;
        places.insert(file.name, place.display().to_string());
    }
    if let Some(name) = tls.files().into_iter().find(|name| !places.contains_key(*name)) {
        return Err(format!("the file '{}' did not come with the plan", name.escape_debug()));
    }
    tls.rename_files(|name| places.get(name).cloned().unwrap_or_default());
    Ok((plan, WireFiles { _folder: Some(folder) }))
}

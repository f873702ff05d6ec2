//! Files made for a study.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use sixmark_core::pace::Random;
use sixmark_core::plan::braces::fill;
use sixmark_core::plan::study::cells::Cell;
use sixmark_core::plan::study::{Generated, Study, bytes};

use super::work::Work;
use crate::Error;

/// Makes every file that some cell names.
pub(super) fn make(study: &Study, cells: &[Cell<'_>], work: &Work) -> Result<(), Error> {
    for (name, (size, random)) in wanted(study, cells)? {
        let path = work.www().join(&name);
        let folder = path.parent().unwrap_or(&path).to_owned();
        let made = std::fs::create_dir_all(folder).and_then(|()| fill_file(&path, size, random));
        made.map_err(|error| Error::Measure(format!("can't make '{name}' of {size} B: {error}")))?;
    }
    Ok(())
}

/// Each file's size, and whether it is filled.
fn wanted(study: &Study, cells: &[Cell<'_>]) -> Result<BTreeMap<String, (u64, bool)>, Error> {
    let mut wanted = BTreeMap::new();
    for file in &study.files {
        for cell in cells {
            let value = |name: &str| cell.value(name);
            let name = fill(&file.path, value);
            let size = bytes(&fill(&file.size, value))
                .map_err(|why| Error::Usage(format!("files: '{name}': size {why}")))?;
            let before = wanted.insert(name.clone(), (size, file.random));
            if before.is_some_and(|before| before != (size, file.random)) {
                return Err(Error::Usage(format!("files: '{name}' is to have two sizes")));
            }
        }
    }
    Ok(wanted)
}

/// Makes the files of a lab, but for those that are there.
pub(crate) fn make_of_lab(files: &[Generated], www: &Path) -> Result<(), Error> {
    for file in files {
        let path = www.join(&file.path);
        let cannot = |why: &dyn std::fmt::Display| {
            Error::Measure(format!("can't make '{}' of {} B: {why}", file.path, file.size))
        };
        let size = bytes(&file.size).map_err(|why| cannot(&why))?;
        if !path.exists() {
            let folder = path.parent().unwrap_or(&path).to_owned();
            let made = std::fs::create_dir_all(folder);
            made.and_then(|()| fill_file(&path, size, file.random)).map_err(|e| cannot(&e))?;
        }
    }
    Ok(())
}

/// A hole takes no room on the disk, whatever its size.
fn fill_file(path: &Path, size: u64, random: bool) -> io::Result<()> {
    let file = File::create(path)?;
    if !random {
        return file.set_len(size);
    }
    let (mut out, mut left, mut bits) = (BufWriter::new(file), size, Random::new(size, 0));
    while left > 0 {
        let word = bits.bits().to_le_bytes();
        let take = left.min(8) as usize;
        out.write_all(&word[..take])?;
        left -= take as u64;
    }
    out.flush()
}

//! Checks the judge against made-up noise, and writes what came of it into the page that tells of it:
//! `calibrate docs/statistics.md 10000`, or only a part of it with `one` (one metric by itself) or
//! `whole` (all metrics) after that. Each table stands there between a line `<!-- NAME -->` and
//! `<!-- end NAME -->`.

mod design;
mod intervals;
mod noise;
mod tables;
#[cfg(test)]
mod tests;
mod trials;
mod whole;

use std::env;
use std::error::Error;
use std::fs;
use std::io::{Write as _, stderr};

/// Whole comparisons take a hundred times as long as those of one metric.
const FEWER: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let page = env::args().nth(1).ok_or("which page? calibrate docs/statistics.md 10000")?;
    let trials: u64 = env::args().nth(2).map_or(Ok(10_000), |text| text.parse())?;
    let only = env::args().nth(3);
    let wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wanted("one") {
        one_metric(&page, trials)?;
    }
    if wanted("whole") {
        write(&page, "whole", &tables::whole(trials / FEWER), trials / FEWER)?;
    }
    Ok(())
}

fn one_metric(page: &str, trials: u64) -> Result<(), Box<dyn Error>> {
    let [different, held, equivalent] = tables::one_metric(trials);
    write(page, "different", &different, trials)?;
    write(page, "held", &held, trials)?;
    write(page, "equivalent", &equivalent, trials)?;
    write(page, "power", &tables::power(trials), trials)?;
    write(page, "intervals", &tables::intervals(trials / FEWER), trials / FEWER)
}

/// One table after the other, so that what is done is done.
fn write(page: &str, name: &str, table: &str, trials: u64) -> Result<(), Box<dyn Error>> {
    let error = (5.0 * 95.0 / trials as f64).sqrt();
    let table = format!("{table}\n{trials} comparisons a cell: 5.0 is uncertain by {error:.1}.\n");
    writeln!(stderr(), "{name}\n{table}")?;
    let text = fs::read_to_string(page)?;
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end {name} -->"));
    let missing = || format!("{page} has no place for the table '{name}'");
    let (before, rest) = text.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    fs::write(page, format!("{before}{begin}{table}{end}{after}"))?;
    Ok(())
}

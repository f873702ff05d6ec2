//! Checks the judge against synthetic noise, and writes the results into a page: `calibrate
//! docs/statistics.md 10000`. A further argument `one` (a single metric), `whole` (all metrics
//! together) or `looks` (judged after each pair) selects a part of the tables. In the page, each table is between a line `<!-- NAME
//! -->` and `<!-- end NAME -->`.

mod design;
mod intervals;
mod looks;
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

/// The slow tables use fewer trials by this factor. A comparison of all metrics takes a hundred
/// times as long as one of a single metric.
const FEWER: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let page = env::args().nth(1).ok_or("which page? calibrate docs/statistics.md 10000")?;
    let trials: u64 = env::args().nth(2).map_or(Ok(10_000), |text| text.parse())?;
    let only = env::args().nth(3);
    let wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wanted("one") {
        one_metric(&page, trials)?;
    }
    if wanted("looks") {
        write(&page, "looks", &tables::looks(trials), trials)?;
        write(&page, "pairs", &tables::pairs(trials), trials)?;
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

/// Writes one table into the page. The page is written after each table, so that finished tables
/// are kept if the program is stopped.
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

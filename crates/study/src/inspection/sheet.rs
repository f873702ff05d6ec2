//! The study as a sheet: what was measured of each client beside what was published of it, and the claims.

use sixmark_design::study_result::ClaimAnswer;
use sixmark_document::provenance::Ended;
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, markdown, setting, terminal};
use sixmark_units::quantity::write_about;

use super::claims::InspectionClaim;
use super::document::{InspectionResult, PublishedInspection};
use super::published::PublishedClient;
use super::seen_client::{ClientInspection, LeftOutClient};
use super::traits::{ClientTraits, TraitCount};
use super::{DESCRIPTION, DIFFERENCES};

/// What the answers rest on.
const CLAIMS_CAPTION: &str = "A claim about what a client does holds if Wilson's interval of 95 % of the share of \
                              starts that do so is above one half, which needs four alike starts. A delay holds if \
                              Student's interval of 95 % of its mean is within 10 % of the claimed one (at least \
                              10 ms). There is no correction for the number of claims";
/// What the columns of the table mean.
const TABLE_CAPTION: &str = "Measured, and published below it. Next attempt: from the first attempt over IPv6 to \
                             the first over IPv4. Waits for: the first attempt comes after that answer, which is 1 s \
                             late. Used: addresses tried of four silent ones";
/// The number of claims that a note of the headline lists.
const MOST_LISTED: usize = 6;

/// Returns the study as text for a terminal.
pub fn inspection_text(result: &InspectionResult) -> String {
    terminal::sheet_text(&inspection_sheet("", result))
}

/// Returns the study as Markdown.
pub fn inspection_markdown(result: &InspectionResult) -> String {
    markdown::section(&inspection_sheet("", result))
}

/// Returns the document as a sheet.
pub fn inspection_sheet(name: &str, result: &InspectionResult) -> Sheet {
    let texts = |all: &[&str]| all.iter().map(|text| Block::Text((*text).to_owned())).collect();
    let parts = [
        Part::new("Measured and published", vec![measured_table(result)]).map(Part::open),
        Part::new("Claims", claim_blocks(&result.claims)).map(Part::open),
        Part::new("What it measures", texts(&[DESCRIPTION])).map(Part::open),
        Part::new("How this differs from the paper", texts(&DIFFERENCES)),
        Part::new("What is omitted", left_out(result)),
        Part::new("The published study", published_blocks(&result.published))
            .map(Part::off_terminal),
        setting::setting_part(settings(result)),
    ];
    Sheet {
        name: name.to_owned(),
        kind: if result.quick { "Study, quick form" } else { "Study" },
        title: result.title.clone(),
        when: setting::when(&result.started),
        about: describe_study(result),
        headline: headline(result),
        parts: parts.into_iter().flatten().collect(),
        ..Sheet::default()
    }
}

/// Returns the claims alone, for `sixmark study claims`.
pub fn inspection_claims_sheet(result: &InspectionResult) -> Sheet {
    let parts = [Part::new("Claims", claim_blocks(&result.claims)).map(Part::open)];
    Sheet {
        kind: "Claims",
        title: result.title.clone(),
        about: describe_study(result),
        headline: headline(result),
        parts: parts.into_iter().flatten().collect(),
        ..Sheet::default()
    }
}

/// Returns the published table alone, for `sixmark study reanalyse`.
pub fn published_inspection_sheet(of: &PublishedInspection) -> Sheet {
    let sentence = "The table has one figure of each client: nothing can be computed of it, and no claim tested on it.";
    Sheet {
        kind: "Published study",
        title: of.title.clone(),
        about: vec![of.source.clone()],
        headline: SheetHeadline { sentence: sentence.to_owned(), ..SheetHeadline::default() },
        parts: Part::new("Published table", published_blocks(of))
            .map(Part::open)
            .into_iter()
            .collect(),
        ..Sheet::default()
    }
}

fn describe_study(result: &InspectionResult) -> Vec<String> {
    let starts: u32 =
        result.clients.iter().flat_map(|of| &of.cases).map(|case| case.figures.starts).sum();
    let mut said = vec![
        format!("{} clients", result.clients.len()),
        format!("{starts} starts"),
        match result.repetitions {
            1 => "1 repetition".to_owned(),
            n => format!("{n} repetitions"),
        },
        "cases and clients in random order within each repetition".to_owned(),
        write_about(result.elapsed_s),
    ];
    if result.ended != Ended::Complete {
        said.push(setting::describe_end(result.ended).to_owned());
    }
    said
}

fn headline(result: &InspectionResult) -> SheetHeadline {
    let of_paper = || result.claims.iter().filter(|claim| claim.of_paper);
    let own = || result.claims.iter().filter(|claim| !claim.of_paper);
    let notes = [
        ("Claims of the paper that do not hold", list(of_paper(), ClaimAnswer::DoesNotHold)),
        ("Documentations that do not hold", list(own(), ClaimAnswer::DoesNotHold)),
        ("Undecided", list(result.claims.iter(), ClaimAnswer::Undecided)),
    ];
    let notes =
        notes.into_iter().filter_map(|(words, listed)| Some(format!("{words}: {}.", listed?)));
    let documented = tally(own()).map(|said| format!(" Of the clients' documentations, {said}."));
    let sentence = match tally(of_paper()) {
        Some(said) => format!("Of the paper's claims, {said}.{}", documented.unwrap_or_default()),
        None => "No claim of the paper was tested.".to_owned(),
    };
    SheetHeadline { sentence, notes: notes.collect(), ..SheetHeadline::default() }
}

/// Counts answers: `12 of 20 testable ones hold, 6 do not hold, 2 are undecided; 40 were not tested`. `None`
/// if none was tested.
fn tally<'a>(claims: impl Iterator<Item = &'a InspectionClaim>) -> Option<String> {
    let claims: Vec<&InspectionClaim> = claims.collect();
    let count = |answer: ClaimAnswer| claims.iter().filter(|of| of.answer == answer).count();
    let absent = count(ClaimAnswer::NotTested);
    let tested = claims.len() - absent;
    if tested == 0 {
        return None;
    }
    let mut said = format!("{} of {tested} testable ones hold", count(ClaimAnswer::Holds));
    for (answer, words) in [
        (ClaimAnswer::DoesNotHold, ["does not hold", "do not hold"]),
        (ClaimAnswer::Undecided, ["is undecided", "are undecided"]),
    ] {
        match count(answer) {
            0 => {}
            1 => said.push_str(&format!(", 1 {}", words[0])),
            number => said.push_str(&format!(", {number} {}", words[1])),
        }
    }
    match absent {
        0 => {}
        1 => said.push_str("; 1 was not tested"),
        absent => said.push_str(&format!("; {absent} were not tested")),
    }
    Some(said)
}

/// Lists claims with an answer, the main findings first; `None` without any.
fn list<'a>(
    claims: impl Iterator<Item = &'a InspectionClaim>,
    answer: ClaimAnswer,
) -> Option<String> {
    let with: Vec<&InspectionClaim> = claims.filter(|of| of.answer == answer).collect();
    let said = |of: &&InspectionClaim| match of.figures.is_empty() {
        true => of.text.clone(),
        false => format!("{} ({})", of.text, of.figures),
    };
    let mut listed: Vec<String> = with.iter().take(MOST_LISTED).map(said).collect();
    let more = with.len().saturating_sub(MOST_LISTED);
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    (!listed.is_empty()).then(|| listed.join("; "))
}

/// Returns the table with two rows for each client of the paper, one for others.
fn measured_table(result: &InspectionResult) -> Block {
    let columns = vec![
        Column::words("Client"),
        Column::words("Version"),
        Column::words("IPv6 first"),
        Column::words("Next attempt"),
        Column::words("AAAA first"),
        Column::words("Waits for AAAA"),
        Column::words("Resolution delay"),
        Column::words("Waits for A"),
        Column::words("IPv6 used"),
        Column::words("IPv4 used"),
        Column::words("In turn"),
    ];
    let rows = result.clients.iter().flat_map(|of| {
        let row = |printed: &&PublishedClient| {
            of.published_as.as_deref() == Some(printed.client.as_str())
        };
        let printed = result.published.clients.iter().find(row);
        std::iter::once(measured_row(of)).chain(printed.map(printed_row))
    });
    Block::Table(Table::new(TABLE_CAPTION, columns, rows.collect()))
}

fn measured_row(of: &ClientInspection) -> Row {
    let traits = &of.traits;
    let waits = &traits.resolution_delays_ms;
    let resolution = match (traits.waited_for_aaaa.of, waits.is_empty()) {
        (0, _) => String::new(),
        (_, true) => "no".to_owned(),
        (_, false) => write_delays(waits),
    };
    let cells = [
        short_version(&of.version).to_owned(),
        write_trait(traits.over_ipv6),
        write_next(traits),
        write_trait(traits.aaaa_first),
        write_trait(traits.waited_for_aaaa),
        resolution,
        write_trait(traits.waited_for_a),
        write_numbers(&traits.ipv6_used),
        write_numbers(&traits.ipv4_used),
        write_trait(traits.interleaved),
    ];
    Row::new(of.label.as_str(), cells.into_iter().map(SheetCell::from).collect())
}

fn printed_row(of: &PublishedClient) -> Row {
    let words = |printed: &Option<String>| match printed.as_deref() {
        Some("Yes") => "yes".to_owned(),
        Some("No") => "no".to_owned(),
        Some(other) => other.to_owned(),
        None => "-".to_owned(),
    };
    let cells = vec![
        of.version.clone(),
        words(&of.ipv6_preferred),
        words(&of.attempt_delay),
        words(&of.aaaa_first),
        String::new(),
        words(&of.resolution_delay),
        String::new(),
        words(&of.ipv6_used),
        words(&of.ipv4_used),
        words(&of.interleaves),
    ];
    Row::new("  published", cells.into_iter().map(SheetCell::from).collect())
}

/// Returns a version without what follows in brackets, or how it was built.
fn short_version(version: &str) -> &str {
    let end = [" (", " built"].iter().filter_map(|mark| version.find(mark)).min();
    &version[..end.unwrap_or(version.len())]
}

/// Says what a client does: yes, no, or in how many starts.
fn write_trait(count: TraitCount) -> String {
    match count {
        TraitCount { of: 0, .. } => String::new(),
        TraitCount { shown: 0, .. } => "no".to_owned(),
        TraitCount { shown, of } if shown == of => "yes".to_owned(),
        TraitCount { shown, of } => format!("{shown} of {of}"),
    }
}

fn write_next(traits: &ClientTraits) -> String {
    let TraitCount { shown, of } = traits.stayed;
    match (traits.attempt_delays_ms.is_empty(), shown) {
        (true, 0) => String::new(),
        (true, _) => "none".to_owned(),
        (false, 0) => write_delays(&traits.attempt_delays_ms),
        (false, _) => {
            format!("{}; none in {shown} of {of}", write_delays(&traits.attempt_delays_ms))
        }
    }
}

/// Writes times: the middle one if all are near it, else the least and the largest.
fn write_delays(delays_ms: &[f64]) -> String {
    let mut sorted = delays_ms.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(least), Some(largest)) = (sorted.first(), sorted.last()) else {
        return String::new();
    };
    let middle = sorted[sorted.len() / 2];
    match largest - least > 2.0 {
        true => format!("{least:.0} to {largest:.0} ms"),
        false if middle < 10.0 => format!("{middle:.1} ms"),
        false => format!("{middle:.0} ms"),
    }
}

fn write_numbers(used: &[u32]) -> String {
    match (used.iter().min(), used.iter().max()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => String::new(),
    }
}

fn claim_blocks(claims: &[InspectionClaim]) -> Vec<Block> {
    let columns = vec![
        Column::words("Claim"),
        Column::words("Published"),
        Column::words("Measured"),
        Column::words("Answer"),
        Column::words("Stands in").off_terminal(),
    ];
    let tested = |of: &&InspectionClaim| of.answer != ClaimAnswer::NotTested;
    let rows = claims.iter().filter(tested).map(claim_row).collect();
    let mut blocks = vec![Block::Table(Table::new(CLAIMS_CAPTION, columns, rows))];
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for of in claims.iter().filter(|of| !tested(of)) {
        let why = of.why.as_deref().unwrap_or("");
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, number)) => *number += 1,
            None => reasons.push((why, 1)),
        }
    }
    let said: Vec<String> =
        reasons.iter().map(|(why, number)| format!("{number}: {why}")).collect();
    if !said.is_empty() {
        blocks.push(Block::Text(format!("Claims that were not tested: {}.", said.join("; "))));
    }
    blocks
}

fn claim_row(of: &InspectionClaim) -> Row {
    let sign = match of.answer {
        ClaimAnswer::Holds => "✓",
        ClaimAnswer::Undecided => "?",
        _ => "✗",
    };
    let why = of.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    let text = match (of.main, of.of_paper) {
        (true, _) => format!("{} (a main finding)", of.text),
        (false, true) => of.text.clone(),
        (false, false) => format!("{} (documented)", of.text),
    };
    Row::new(
        text,
        vec![
            of.printed.as_deref().unwrap_or("in words").into(),
            of.figures.as_str().into(),
            format!("{sign} {}{why}", of.answer.words()).into(),
            stands_in(of).into(),
        ],
    )
}

/// Says where a claim stands; the part about the published study has the whole of it.
fn stands_in(of: &InspectionClaim) -> &str {
    match (of.main, of.of_paper) {
        (true, _) => "the abstract",
        (false, true) => "the table",
        (false, false) => &of.source,
    }
}

fn left_out(result: &InspectionResult) -> Vec<Block> {
    let line = |of: &LeftOutClient| Block::Text(format!("{} is omitted: {}.", of.label, of.reason));
    result.left_out.iter().map(line).collect()
}

fn published_blocks(of: &PublishedInspection) -> Vec<Block> {
    let facts = vec![
        ("Title", of.title.clone()),
        ("Source", of.source.clone()),
        ("Table", of.table.clone()),
    ];
    let columns = [
        "Client",
        "Version",
        "IPv6 preferred",
        "CAD",
        "AAAA first",
        "RD implemented",
        "IPv4 used",
        "IPv6 used",
        "Address selection",
        "Local and web test agree",
    ];
    let row = |of: &PublishedClient| {
        let cells = [
            &of.ipv6_preferred,
            &of.attempt_delay,
            &of.aaaa_first,
            &of.resolution_delay,
            &of.ipv4_used,
            &of.ipv6_used,
            &of.interleaves,
            &of.consistent,
        ];
        let cells = cells.into_iter().map(|cell| SheetCell::from(cell.as_deref().unwrap_or("-")));
        Row::new(
            of.client.as_str(),
            std::iter::once(SheetCell::from(of.version.as_str())).chain(cells).collect(),
        )
    };
    let rows = of.clients.iter().map(row).collect();
    let table =
        Table::new("The published table, as printed", columns.map(Column::words).to_vec(), rows);
    [Block::Table(Table::facts("Published source", facts)), Block::Table(table)]
        .into_iter()
        .chain(of.remarks.iter().cloned().map(Block::Text))
        .collect()
}

fn settings(result: &InspectionResult) -> Vec<Block> {
    let facts = vec![("Study", result.name.clone()), ("Seed", result.seed.to_string())];
    let mut blocks = vec![Block::Table(Table::facts("Settings", facts))];
    blocks.extend(setting::machine(&result.environment, Vec::new(), &result.tool));
    let columns = vec![Column::words("Client"), Column::words("Version"), Column::words("Command")];
    let row = |of: &ClientInspection| {
        Row::new(of.label.as_str(), vec![of.version.as_str().into(), of.command.join(" ").into()])
    };
    let rows = result.clients.iter().map(row).collect();
    blocks.push(Block::Table(Table::new("Clients", columns, rows)));
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_scatter_are_written_as_a_range() {
        assert_eq!(write_delays(&[300.1, 300.9, 301.2]), "301 ms");
        assert_eq!(write_delays(&[250.0, 300.0]), "250 to 300 ms");
        assert_eq!(write_delays(&[0.25, 0.31]), "0.3 ms");
        assert_eq!(short_version("GNU Wget 1.21.3 built on linux-gnu."), "GNU Wget 1.21.3");
        assert_eq!(write_numbers(&[1, 1]), "1");
        assert_eq!(write_numbers(&[1, 4]), "1 to 4");
        assert_eq!(write_trait(TraitCount { shown: 1, of: 4 }), "1 of 4");
    }
}

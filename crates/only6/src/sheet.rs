//! Whether a program works, as a sheet: worded such that it can be filed.

use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting, terminal};
use sixmark_units::quantity::counted;

use crate::app_finding::{AppFinding, AppFindingWeight, DRAFT};
use crate::app_scenario::AppScenario;
use crate::app_start::{AppStart, ListeningSocket, ProgramEnd, ServerProbe};
use crate::app_wire::{WireAttempt, WireQuery};
use crate::only6_result::{Only6Result, ScenarioResult, ScenarioVerdict};
use crate::way_cost::WayCost;

/// The most queries and attempts of a start that its evidence names.
const MOST: usize = 6;

/// Returns the result as text for a terminal, without warnings.
pub fn only6_text(result: &Only6Result) -> String {
    terminal::sheet_text(&Sheet { warnings: Vec::new(), ..only6_sheet("", result) })
}

/// Returns the document as a sheet.
pub fn only6_sheet(name: &str, result: &Only6Result) -> Sheet {
    let starts: usize = result.scenarios.iter().map(|of| of.starts.len()).sum();
    let about =
        vec![counted(starts as u64, "start", "starts"), format!("{:.0} s", result.elapsed_s)];
    let parts = [
        Part::new("Findings", finding_blocks(result)).map(Part::open),
        Part::new("Scenarios", vec![Block::Table(scenario_table(result))]).map(Part::open),
        Part::new("Costs", cost_blocks(&result.costs)).map(Part::open),
        Part::new("Evidence", vec![Block::Table(evidence_table(result))]).map(Part::off_terminal),
        Part::new("Statement", statement(result)).map(Part::open).map(Part::off_terminal),
        Part::new("Program", vec![Block::Table(program_table(result))]).map(Part::off_terminal),
        setting::setting_part(setting::machine(&result.environment, Vec::new(), &result.tool)),
    ];
    Sheet {
        name: name.to_owned(),
        kind: "Only6",
        title: title(result),
        when: setting::when(&result.started),
        about,
        headline: headline(result),
        warnings: result.warnings.clone(),
        parts: parts.into_iter().flatten().collect(),
        ..Sheet::default()
    }
}

fn title(result: &Only6Result) -> String {
    let programs = &result.programs;
    let command = programs.client.as_ref().or(programs.server.as_ref());
    programs.product.as_ref().or(command).cloned().unwrap_or_default()
}

fn headline(result: &Only6Result) -> SheetHeadline {
    let all = result.scenarios.len();
    let of = |verdict: ScenarioVerdict| -> Vec<String> {
        let all = result.scenarios.iter().filter(|of| of.verdict == verdict);
        all.map(ScenarioResult::name).collect()
    };
    let listed = |verdict: ScenarioVerdict| match of(verdict) {
        names if names.is_empty() => String::new(),
        names => format!("; {} in {}", verdict.words(), names.join(", ")),
    };
    let sentence = format!(
        "It works in {} of {all} scenarios{}{}.",
        of(ScenarioVerdict::Works).len(),
        listed(ScenarioVerdict::Partly),
        listed(ScenarioVerdict::Fails)
    );
    let notes = result.findings.iter().filter(|of| of.weight == AppFindingWeight::Fault);
    let notes = notes.filter_map(|of| Some(of.kind()?.sentence.to_owned()));
    SheetHeadline { sentence, notes: notes.collect(), ..SheetHeadline::default() }
}

fn scenario_table(result: &Only6Result) -> Table {
    let columns = vec![
        Column::words("Scenario"),
        Column::words("Client").off_terminal(),
        Column::words("Server").off_terminal(),
        Column::words("Result"),
        Column::words("What was seen"),
        Column::words("Class").off_terminal(),
        Column::words("About").off_terminal(),
    ];
    let row = |of: &ScenarioResult| {
        let scenario = AppScenario::named(&of.scenario);
        let words = |pick: fn(&AppScenario) -> &'static str| scenario.map_or("", pick);
        Row::new(
            of.name(),
            vec![
                words(|of| of.client.words()).into(),
                words(|of| of.server.words()).into(),
                of.verdict.words().into(),
                shown_start(of).map_or(SheetCell::none(), |start| brief(start).into()),
                words(|of| of.class.word()).into(),
                words(|of| of.about).into(),
            ],
        )
    };
    Table::new("Where it works", columns, result.scenarios.iter().map(row).collect())
}

/// Returns the start that stands for a scenario: the first that shows the verdict.
fn shown_start(of: &ScenarioResult) -> Option<&AppStart> {
    let is_bad = |start: &&AppStart| match &start.client {
        Some(end) => !(end.is_success() || end.is_cut_off()) || start.wire.content_ms().is_none(),
        None => false,
    };
    let bad = of.starts.iter().find(is_bad);
    bad.filter(|_| of.verdict != ScenarioVerdict::Works).or(of.starts.first())
}

/// Returns what a start shows, in a few words.
fn brief(start: &AppStart) -> String {
    if !start.probes.is_empty() || start.client.is_none() {
        return brief_server(start);
    }
    match start.wire.attempts.iter().find(|of| of.content_ms.is_some()) {
        Some(of) => {
            let end = start.client.as_ref().filter(|of| !of.is_success() && !of.is_cut_off());
            let end = end.map(|of| format!("; {}", of.words())).unwrap_or_default();
            format!("content from {}{end}", of.address)
        }
        None => match start.wire.attempts.last() {
            Some(of) => format!("{}: {}", of.address, of.outcome()),
            None => start.client.as_ref().map(ProgramEnd::words).unwrap_or_default(),
        },
    }
}

fn brief_server(start: &AppStart) -> String {
    if start.sockets.is_empty() {
        let end = start.server.as_ref().map(ProgramEnd::words);
        return format!("does not listen; {}", end.unwrap_or_default());
    }
    let mut seen: Vec<String> = Vec::new();
    for of in start.probes.iter().filter(|of| of.asked == crate::app_start::AskedHost::Name) {
        seen.push(format!("{}: {}", of.way.words(), of.answer.words()));
    }
    seen.join(", ")
}

fn finding_blocks(result: &Only6Result) -> Vec<Block> {
    let columns = vec![
        Column::words("Finding"),
        Column::words("Weight"),
        Column::words("Scenarios"),
        Column::words("Evidence"),
    ];
    let row = |of: &AppFinding| {
        let cells = vec![
            of.weight.word().into(),
            of.scenarios.join(", ").as_str().into(),
            of.evidence.as_str().into(),
        ];
        Row::new(of.code.as_str(), cells)
    };
    if result.findings.is_empty() {
        return vec![Block::Text("Nothing was found that is wrong.".to_owned())];
    }
    let table = Table::new("What is wrong", columns, result.findings.iter().map(row).collect());
    let text = |of: &AppFinding| {
        let kind = of.kind()?;
        let source = match kind.source {
            "" => String::new(),
            source => format!(" ({source})"),
        };
        Some(Block::Text(format!(
            "{}: {} Where to look: {}{source}",
            of.code, kind.sentence, kind.look
        )))
    };
    let texts = result.findings.iter().filter_map(text);
    std::iter::once(Block::Table(table)).chain(texts).collect()
}

fn cost_blocks(costs: &[WayCost]) -> Vec<Block> {
    if costs.is_empty() {
        return Vec::new();
    }
    let columns = vec![Column::words("Way"), Column::words("Beside native IPv6")];
    let row = |of: &WayCost| Row::new(of.way.words(), vec![of.sentence.as_str().into()]);
    let table = Table::new("What each way costs", columns, costs.iter().map(row).collect());
    let notes = costs.iter().flat_map(|of| of.notes.iter().map(move |note| (of, note)));
    let notes = notes.map(|(of, note)| Block::Text(format!("{}: {note}", of.way.words())));
    std::iter::once(Block::Table(table)).chain(notes).collect()
}

fn evidence_table(result: &Only6Result) -> Table {
    let columns = vec![
        Column::words("Start"),
        Column::words("Listens on"),
        Column::words("Queries"),
        Column::words("Connections"),
        Column::words("Answers"),
        Column::words("End"),
        Column::number("Packets"),
    ];
    let rows = result.scenarios.iter().flat_map(|of| {
        of.starts.iter().enumerate().map(|(at, start)| evidence_row(&of.name(), at + 1, start))
    });
    Table::new("What was seen", columns, rows.collect())
}

fn evidence_row(name: &str, number: usize, start: &AppStart) -> Row {
    let joined = |all: Vec<String>| -> SheetCell {
        if all.is_empty() { SheetCell::none() } else { all.join("; ").as_str().into() }
    };
    let socket = |of: &ListeningSocket| of.address.to_string();
    let query = |of: &WireQuery| {
        let answer = match (&of.rcode, &of.addresses[..]) {
            (None, _) => "no answer".to_owned(),
            (Some(code), []) => code.clone(),
            (Some(_), all) => all.iter().map(|of| of.to_string()).collect::<Vec<_>>().join(", "),
        };
        format!("{} {}: {answer}", of.kind, of.name)
    };
    let attempt = |of: &WireAttempt| {
        let kind = if of.is_udp { " (UDP)" } else { "" };
        format!("{} port {}{kind}: {}", of.address, of.port, of.outcome())
    };
    let probe = |of: &ServerProbe| {
        let asked = match of.asked {
            crate::app_start::AskedHost::Name => "by name",
            crate::app_start::AskedHost::Address => "by address",
        };
        format!("{}, {asked}: {}", of.way.words(), of.answer.words())
    };
    let end = start.client.as_ref().or(start.server.as_ref()).map(ProgramEnd::words);
    Row::new(
        format!("{name}-{number}"),
        vec![
            joined(start.sockets.iter().map(socket).collect()),
            joined(start.wire.queries.iter().take(MOST).map(query).collect()),
            joined(start.wire.attempts.iter().take(MOST).map(attempt).collect()),
            joined(start.probes.iter().map(probe).collect()),
            end.map_or(SheetCell::none(), |of| of.as_str().into()),
            SheetCell::Number(start.wire.packets.to_string(), start.wire.packets as f64),
        ],
    )
}

/// Returns what the supplier of a program can state, in sentences that name what was tested and how.
fn statement(result: &Only6Result) -> Vec<Block> {
    let programs = &result.programs;
    let role = match (&programs.client, &programs.server) {
        (Some(_), Some(_)) => "client and server",
        (Some(_), None) => "client",
        _ => "server",
    };
    let works = result.scenarios.iter().filter(|of| of.verdict == ScenarioVerdict::Works).count();
    let tool = &result.tool;
    let mut sentences = vec![format!(
        "{} was tested as a {role} on {} with {} {} in {} of the scenarios of {DRAFT} and of sixmark's own, each in a \
         network of namespaces. It works in {works} of them.",
        title(result),
        result.started,
        tool.name,
        tool.version,
        result.scenarios.len(),
    )];
    let strict: Vec<&ScenarioResult> =
        result.scenarios.iter().filter(|of| of.scenario.contains("ipv6")).collect();
    let strict_works = strict.iter().all(|of| of.verdict == ScenarioVerdict::Works);
    if !strict.is_empty() {
        sentences.push(
            if strict_works {
                "It is functional where client or server has IPv6 alone, in all such scenarios that were run, without \
                 an IPv4 stack on that node. This is what the IPv6-only capability of USGv6 application profiles \
                 (NIST SP 500-267A) asks for."
            } else {
                "It is not functional in every scenario where client or server has IPv6 alone; the findings name why."
            }
            .to_owned(),
        );
    }
    sentences.push(
        "The packets of each start are kept beside this page, with the SHA-256 of each file in SHA256SUMS. sixmark \
         verify computes the verdicts and findings again from these packets."
            .to_owned(),
    );
    sentences.into_iter().map(Block::Text).collect()
}

fn program_table(result: &Only6Result) -> Table {
    let programs = &result.programs;
    let mut facts = Vec::new();
    facts.extend(programs.product.clone().map(|of| ("Product", of)));
    facts.extend(programs.client.clone().map(|of| ("Client", of)));
    facts.extend(programs.server.clone().map(|of| ("Server", of)));
    for of in &programs.files {
        let hash = of.sha256.as_deref().unwrap_or("can't be read");
        facts.push(("File", format!("{} (SHA-256 {hash})", of.file)));
    }
    Table::facts("Program", facts)
}

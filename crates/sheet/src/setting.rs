//! Report blocks about the machine on which a document was made, its routes and its name lookups.

use sixmark_document::provenance::{Ended, Environment, Tool};
use sixmark_document::provenance::{Lookup, LookupFound, LookupOfFamily};

use super::table::{Column, Row, SheetCell, Table};
use super::{Block, Part, write};

/// Returns the tables of the machine, its routes and its kernel settings. `more` adds rows to the
/// table of the machine.
pub fn machine(
    environment: &Environment,
    more: Vec<(&'static str, String)>,
    tool: &Tool,
) -> Vec<Block> {
    let mut facts = vec![
        ("Made by", describe_tool(tool)),
        ("Kernel", environment.kernel.clone()),
        ("Processor", format!("{}, {} cores used", environment.cpu, environment.cores)),
    ];
    let caption = if more.is_empty() { "Machine" } else { "Load generator" };
    facts.extend(more);
    let mut blocks = vec![Block::Table(Table::facts(caption, facts))];
    blocks.extend(routes(environment));
    blocks.extend(sysctls(environment));
    blocks
}

/// Returns name, version and the first digits of the commit, if it is known.
fn describe_tool(tool: &Tool) -> String {
    let Tool { name, version, commit } = tool;
    let Some(commit) = commit else { return format!("{name} {version}") };
    let (digits, dirty) = match commit.strip_suffix("-dirty") {
        Some(digits) => (digits, "-dirty"),
        None => (commit.as_str(), ""),
    };
    format!("{name} {version} ({}{dirty})", digits.get(..12).unwrap_or(digits))
}

/// Returns the part "How it was measured", which a terminal does not show, or `None` without
/// blocks.
pub fn setting_part(blocks: Vec<Block>) -> Option<Part> {
    Part::new("How it was measured", blocks).map(Part::off_terminal)
}

/// Returns a word for a run that did not complete, or an empty string for one that did.
pub fn describe_end(ended: Ended) -> &'static str {
    match ended {
        Ended::Complete => "",
        Ended::Interrupted => "interrupted",
        Ended::Hopeless => "given up",
    }
}

/// Formats a time of RFC 3339 for people: without fractions of a second.
pub fn when(time: &str) -> String {
    let (day, clock) = time.split_once('T').unwrap_or((time, ""));
    let clock = clock.split(['.', 'Z']).next().unwrap_or_default();
    format!("{day} {clock} UTC")
}

/// Formats a time of RFC 3339 like [`when`], without seconds.
pub fn when_to_minute(time: &str) -> String {
    let (day, clock) = time.split_once('T').unwrap_or((time, ""));
    format!("{day} {} UTC", clock.get(..5).unwrap_or(clock))
}

fn routes(environment: &Environment) -> Option<Block> {
    let row = |route: &sixmark_document::provenance::RouteTaken| {
        let from = route.from.map_or("unknown".into(), |from| from.to_string());
        let mtu = route
            .mtu
            .map_or_else(SheetCell::none, |mtu| SheetCell::Number(mtu.to_string(), mtu.into()));
        Row::new(route.to.to_string(), vec![from.into(), mtu])
    };
    let rows: Vec<Row> = environment.routes.iter().map(row).collect();
    let columns =
        vec![Column::words("To"), Column::words("From"), Column::number("Path MTU, bytes")];
    (!rows.is_empty()).then(|| Block::Table(Table::new("Routes", columns, rows)))
}

/// Returns the table of the names that were looked up, or `None` if there are none.
pub fn lookups(dns: &[Lookup]) -> Option<Block> {
    let count = |n: usize| SheetCell::Number(n.to_string(), n as f64);
    let row = |found: &Lookup| {
        let [ipv6, ipv4] = match &found.by_family {
            Some(by_family) => [&by_family.ipv6, &by_family.ipv4].map(Option::as_ref),
            None => [None, None],
        };
        let cell = |n: usize, of: Option<&LookupOfFamily>| match (of, &found.by_family) {
            (Some(of), _) => lookup_cell(n, of),
            (None, Some(_)) => "not asked for".into(),
            (None, None) => count(n),
        };
        let cells = vec![
            SheetCell::Number(write::write_time(found.us), found.us),
            cell(found.ipv6, ipv6),
            cell(found.ipv4, ipv4),
        ];
        Row::new(found.host.clone(), cells)
    };
    let columns = std::iter::once(Column::words("Name"))
        .chain(["Took", "IPv6 addresses", "IPv4 addresses"].map(Column::number));
    let rows: Vec<Row> = dns.iter().map(row).collect();
    let caption = "Name resolution, not part of other times";
    (!rows.is_empty()).then(|| Block::Table(Table::new(caption, columns.collect(), rows)))
}

/// Returns the number of addresses of a family and how long they took, or what there was instead.
fn lookup_cell(n: usize, of: &LookupOfFamily) -> SheetCell {
    let after = write::write_time(of.us);
    let said = of.said.as_deref().map_or(String::new(), |said| format!(": {said}"));
    match of.found {
        LookupFound::Addresses => SheetCell::Number(format!("{n} in {after}"), n as f64),
        LookupFound::NoAddress => format!("none after {after}{said}").into(),
        LookupFound::NoSuchName => format!("no such name after {after}{said}").into(),
        LookupFound::Failed => format!("failed after {after}{said}").into(),
    }
}

fn sysctls(environment: &Environment) -> Option<Block> {
    let row =
        |(name, value): (&String, &String)| Row::new(name.clone(), vec![value.clone().into()]);
    let rows: Vec<Row> = environment.sysctls.iter().map(row).collect();
    let columns = vec![Column::words("Setting"), Column::words("Value")];
    let table = Block::Table(Table::new("Kernel settings", columns, rows));
    (!environment.sysctls.is_empty()).then(|| Block::Folded("Kernel settings".into(), vec![table]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviates_a_commit_and_keeps_its_dirty_suffix() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        for (commit, shown) in [
            (None, "sixmark 0.1.0"),
            (Some(commit.to_owned()), "sixmark 0.1.0 (0123456789ab)"),
            (Some(format!("{commit}-dirty")), "sixmark 0.1.0 (0123456789ab-dirty)"),
            (Some("é".to_owned()), "sixmark 0.1.0 (é)"),
        ] {
            let tool = Tool { name: "sixmark".to_owned(), version: "0.1.0".to_owned(), commit };
            assert_eq!(describe_tool(&tool), shown);
        }
    }
}

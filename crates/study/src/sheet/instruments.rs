//! What the client and the instruments beside it measured, side by side, and what the kernels
//! counted.

mod over_time;

use std::collections::BTreeMap;

use sixmark_design::levels::LevelLabels;
use sixmark_design::spec::FAMILY;
use sixmark_design::study_result::{
    At, CellInstruments, CellResult, ConnectionFigures, KernelEnd, KernelOfCell, StudyResult,
};
use sixmark_units::family::Family;

use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// Returns the part on the instruments; `None` if the study had none.
pub(super) fn instruments_part(study: &StudyResult, labels: &LevelLabels) -> Option<Part> {
    let factors: Vec<&str> = study.factors.iter().map(|factor| factor.name.as_str()).collect();
    // The rows of connections are families; the kernel has figures of both together.
    let others: Vec<&str> = factors.iter().copied().filter(|name| *name != FAMILY).collect();
    let of_others = combinations(study, &others);
    if of_others.is_empty() {
        return None;
    }
    let mut blocks = connections_table(&others, &of_others, labels);
    blocks.extend(kernel_table(&factors, &combinations(study, &factors), labels));
    blocks.extend(cost(&of_others).map(Block::Text));
    blocks.extend(over_time::over_time(study, labels));
    Part::new("Three instruments", blocks).map(Part::open)
}

/// A combination of levels of some factors, and its cells with instruments.
struct Combination<'a> {
    levels: Vec<&'a At>,
    cells: Vec<&'a CellInstruments>,
}

/// Returns the combinations of the factors' levels in the written order of their first cells.
fn combinations<'a>(study: &'a StudyResult, factors: &[&str]) -> Vec<Combination<'a>> {
    let mut cells: Vec<&CellResult> = study.cells.iter().collect();
    cells.sort_by_key(|cell| (cell.cell, cell.repetition));
    let mut all: Vec<Combination<'_>> = Vec::new();
    for cell in cells {
        let Some(instruments) = &cell.instruments else { continue };
        let levels: Vec<&At> =
            cell.levels.iter().filter(|at| factors.contains(&at.factor.as_str())).collect();
        match all.iter_mut().find(|known| known.levels == levels) {
            Some(known) => known.cells.push(instruments),
            None => all.push(Combination { levels, cells: vec![instruments] }),
        }
    }
    all
}

impl Combination<'_> {
    /// Returns the mean over the repetitions of a figure; `None` if no repetition has it.
    fn mean(&self, of: impl Fn(&CellInstruments) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.cells.iter().filter_map(|cell| of(cell)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// Returns the mean of a figure of the kernel at one end.
    fn kernel(&self, end: KernelEnd, of: impl Fn(&KernelOfCell) -> Option<f64>) -> Option<f64> {
        self.mean(|cell| of(cell.kernel.iter().find(|kernel| kernel.end == end)?))
    }

    /// Returns the cells of a row that name the levels, from the second factor on.
    fn other_levels(&self, labels: &LevelLabels) -> impl Iterator<Item = SheetCell> {
        self.levels.iter().skip(1).map(|at| SheetCell::from(labels.under_factor(at)))
    }

    fn first_level(&self, labels: &LevelLabels) -> String {
        self.levels.first().map_or_else(|| "all".to_owned(), |at| labels.under_factor(at))
    }
}

/// The columns that name the levels.
fn level_columns(factors: &[&str], labels: &LevelLabels) -> Vec<Column> {
    if factors.is_empty() {
        vec![Column::words("")]
    } else {
        factors.iter().map(|name| Column::words(labels.factor(name))).collect()
    }
}

/// A figure of a family's connections.
type ConnectionFigure = fn(&ConnectionFigures) -> Option<f64>;

/// Returns the table of connections as the client, the packets and the kernel have them.
fn connections_table(
    factors: &[&str],
    all: &[Combination<'_>],
    labels: &LevelLabels,
) -> Vec<Block> {
    let columns = level_columns(factors, labels).into_iter().chain([
        Column::words("Family"),
        Column::number("Establishment, client"),
        Column::number("Establishment, packets"),
        Column::number("Difference"),
        Column::number("Continuation, client"),
        Column::number("Continuation, packets"),
        Column::number("Difference"),
        Column::number("Connections, client"),
        Column::number("Connections, packets"),
        Column::number("Connections, kernel").off_terminal(),
    ]);
    let rows = all.iter().flat_map(|of| {
        Family::BOTH.into_iter().filter_map(move |family| connections_row(of, family, labels))
    });
    let table = Table::new(
        "Connections as the client and the packets at the server have them",
        columns.collect(),
        rows.collect(),
    );
    vec![
        Block::Table(table.without_empty_columns()),
        Block::Text(
            "Means over the repetitions. Establishment is from the SYN to established, \
             continuation from then to closed, each seen from the instrument's own place. The \
             kernel counts both families together, so that its number stands only where one was \
             loaded, and it times no connection."
                .to_owned(),
        ),
    ]
}

fn connections_row(of: &Combination<'_>, family: Family, labels: &LevelLabels) -> Option<Row> {
    let client = |figure: ConnectionFigure| of.mean(|cell| figure(cell.client.of(family)?));
    let packets = |figure: ConnectionFigure| {
        of.mean(|cell| figure(cell.packets.as_ref()?.families.of(family)?))
    };
    let kernel = of.mean(|cell| {
        // Of two ends, either counts all connections; the server's is at the packets' end.
        Some(cell.kernel.last()?.connections.of(family)?.connections? as f64)
    });
    let number: ConnectionFigure = |of| of.connections.map(|number| number as f64);
    let times: [ConnectionFigure; 2] = [|of| of.establishment_us, |of| of.continuation_us];
    let counts = [client(number), packets(number), kernel];
    let used = counts.iter().chain(&times.map(client)).any(|of| of.is_some_and(|n| n > 0.0));
    let times = times.map(|figure| {
        let (client, packets) = (client(figure), packets(figure));
        let apart = client.zip(packets).map(|(client, packets)| client - packets);
        [client.map(time), packets.map(time), apart.map(time_apart)]
    });
    let cells = times.concat().into_iter().chain(counts.map(|count| count.map(number_cell)));
    let cells = cells.map(|cell| cell.unwrap_or_else(SheetCell::none));
    let named = of.other_levels(labels).chain([family.to_string().into()]);
    used.then(|| Row::new(of.first_level(labels), named.chain(cells).collect()))
}

fn number_cell(count: f64) -> SheetCell {
    SheetCell::Number(write::write_count(count.round() as u64), count)
}

fn time(us: f64) -> SheetCell {
    SheetCell::Number(write::write_time(us), us)
}

/// Returns a difference of times with its sign.
fn time_apart(us: f64) -> SheetCell {
    let sign = if us < 0.0 { '-' } else { '+' };
    SheetCell::Number(format!("{sign}{}", write::write_time(us.abs())), us)
}

fn percent(share: f64) -> SheetCell {
    SheetCell::Number(write::write_percent(share), share)
}

fn bytes(bytes: f64) -> SheetCell {
    SheetCell::Number(write::write_bytes(bytes), bytes)
}

/// A column of the kernels' table: its name, whether a terminal shows it, its figure and its cell.
type KernelColumn = (&'static str, bool, fn(&KernelOfCell) -> Option<f64>, fn(f64) -> SheetCell);

/// The columns of the kernels' table.
const KERNEL_COLUMNS: [KernelColumn; 16] = [
    ("Opened", true, |of| Some(of.opened as f64), number_cell),
    ("Accepted", true, |of| Some(of.accepted as f64), number_cell),
    ("CPU busy", true, |of| Some(of.busy_share), percent),
    ("Softirq", true, |of| Some(of.softirq_share), percent),
    ("Server CPU", true, |of| of.server_share, percent),
    ("Server memory", true, |of| of.server_memory_bytes.map(|bytes| bytes as f64), bytes),
    ("Memory used", false, |of| Some(of.memory_bytes as f64), bytes),
    ("IPv6 established", false, |of| most(&of.families.ipv6.sockets, "established"), number_cell),
    ("IPv4 established", false, |of| most(&of.families.ipv4.sockets, "established"), number_cell),
    ("IPv6 TIME-WAIT", false, |of| most(&of.families.ipv6.sockets, "time_wait"), number_cell),
    ("IPv4 TIME-WAIT", false, |of| most(&of.families.ipv4.sockets, "time_wait"), number_cell),
    ("IPv6 packets in", false, |of| Some(of.families.ipv6.packets_in as f64), number_cell),
    ("IPv4 packets in", false, |of| Some(of.families.ipv4.packets_in as f64), number_cell),
    ("IPv6 packets out", false, |of| Some(of.families.ipv6.packets_out as f64), number_cell),
    ("IPv4 packets out", false, |of| Some(of.families.ipv4.packets_out as f64), number_cell),
    ("Covered", false, |of| Some(of.covered_s * 1e6), time),
];

fn most(sockets: &BTreeMap<String, u64>, state: &str) -> Option<f64> {
    sockets.get(state).map(|number| *number as f64)
}

/// Returns the table of what the kernel of each end counted.
fn kernel_table(factors: &[&str], all: &[Combination<'_>], labels: &LevelLabels) -> Option<Block> {
    let named = [Column::words("End")];
    let numbers = KERNEL_COLUMNS.iter().map(|(name, on_terminal, ..)| {
        let column = Column::number(*name);
        if *on_terminal { column } else { column.off_terminal() }
    });
    let columns = level_columns(factors, labels).into_iter().chain(named).chain(numbers).collect();
    let row = |of: &Combination<'_>, end: KernelEnd| {
        let is_read = of.cells.iter().flat_map(|cell| &cell.kernel).any(|one| one.end == end);
        let cells = KERNEL_COLUMNS
            .iter()
            .map(|(_, _, figure, cell)| of.kernel(end, figure).map_or_else(SheetCell::none, cell));
        let named = of.other_levels(labels).chain([end.word().into()]);
        is_read.then(|| Row::new(of.first_level(labels), named.chain(cells).collect()))
    };
    let ends = [KernelEnd::Client, KernelEnd::Server, KernelEnd::Both];
    let rows: Vec<Row> =
        all.iter().flat_map(|of| ends.into_iter().filter_map(move |end| row(of, end))).collect();
    let caption = "What the kernel of each end counted while the load ran";
    let table = Table::new(caption, columns, rows);
    (table.rows().count() > 0).then(|| Block::Table(table.without_empty_columns()))
}

/// Says what the instruments themselves cost.
fn cost(all: &[Combination<'_>]) -> Option<String> {
    let cells: Vec<&CellInstruments> = all.iter().flat_map(|of| of.cells.iter().copied()).collect();
    let packets = cells.iter().filter_map(|cell| Some(cell.packets.as_ref()?.cpu_share));
    let kernel = cells.iter().flat_map(|cell| &cell.kernel).map(|kernel| kernel.cpu_share);
    let said = [("watch", mean(packets)), ("vitals", mean(kernel))];
    let said: Vec<String> = said
        .into_iter()
        .filter_map(|(name, share)| Some(format!("`{name}` {}", write::write_percent(share?))))
        .collect();
    (!said.is_empty()).then(|| {
        format!(
            "CPU time of the instruments themselves, on average: {} of one core.",
            said.join(", ")
        )
    })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Names a cell and an end, as the heading of its charts.
fn name_of_end(cell: &CellResult, kernel: &KernelOfCell, labels: &LevelLabels) -> String {
    let levels = labels.levels(&cell.levels);
    let levels = if levels.is_empty() { cell.id.clone() } else { levels };
    let end = match kernel.end {
        KernelEnd::Client => "the client's end",
        KernelEnd::Server => "the server's end",
        KernelEnd::Both => "both ends",
    };
    format!("{levels}: {end}, repetition {}", cell.repetition)
}

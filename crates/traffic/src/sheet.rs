//! Presents a traffic result: offered and achieved rates by class and family, loss, delay.

use crate::traffic_result::{
    Amount, Delay, FlowResult, HostResult, KindResult, MessageFigures, OfferedTraffic,
    TrafficResult,
};
use crate::{Basis, Spread};
use sixmark_document::timing::Summary;
use sixmark_units::family::Family;

use crate::text::{basis_of, counted_bytes, sender, write_bit_rate};
use sixmark_sheet::Figure;

use sixmark_sheet::BOTH_PLACE;
use sixmark_sheet::chart::{Axis, Chart, Mark, Series, Unit, rounded};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, Tile, setting, terminal, write};

/// The colours of offered, sent and received traffic. None of them is the colour of a family.
const OFFERED_PLACE: usize = BOTH_PLACE;
const SENT_PLACE: usize = 2;
const RECEIVED_PLACE: usize = 3;

/// The most flows for which the table of delays is not folded.
const MOST_ROWS: usize = 24;
/// The most flows for which the chart of delays is drawn. More would be unreadable.
const MOST_DRAWN: usize = 120;

/// The quantiles of the delay variation that are shown.
const QUANTILES: [Figure<Summary>; 3] =
    [("median", |s| s.p50), ("p95", |s| s.p95), ("p99", |s| s.p99)];

/// Returns the result as text for a terminal, without warnings.
pub fn traffic_text(result: &TrafficResult) -> String {
    terminal::sheet_text(&Sheet { warnings: Vec::new(), ..traffic_sheet("", result) })
}

/// Returns the result as a sheet.
pub fn traffic_sheet(name: &str, result: &TrafficResult) -> Sheet {
    let parts =
        [classes_part(result), delay_part(result), flows_part(result), hosts_part(&result.hosts)];
    let parts = parts.into_iter().chain([setting::setting_part(setting(result))]);
    Sheet {
        name: name.to_owned(),
        kind: "Traffic",
        title: traffic_title(&result.asked),
        when: setting::when(&result.started),
        about: describe_traffic(result),
        headline: traffic_headline(result),
        tiles: tiles(result),
        warnings: result.warnings.clone(),
        parts: parts.flatten().collect(),
    }
}

fn traffic_title(asked: &OfferedTraffic) -> String {
    match asked {
        OfferedTraffic::Mix { to, .. } => {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            to.join(" and ")
        }
        OfferedTraffic::Script { file, .. } => file.clone(),
    }
}

fn describe_traffic(result: &TrafficResult) -> Vec<String> {
    let flows = result.kinds.iter().map(|kind| u64::from(kind.flows)).sum();
    let said = [
        format!("{:.1} s", result.elapsed_s),
        format!("{} flows", write::write_count(flows)),
        format!("rates count {}", counted_bytes(basis_of(&result.asked))),
        setting::describe_end(result.ended).to_owned(),
    ];
    said.into_iter().filter(|phrase| !phrase.is_empty()).collect()
}

/// Returns the sentence that says how much of the offered traffic was sent and received.
fn traffic_headline(result: &TrafficResult) -> SheetHeadline {
    let basis = basis_of(&result.asked);
    let total = &result.total;
    let rate = |amount: Amount| bit_rate(amount.bits_per_s(basis));
    let said = [
        total.offered.map(|amount| format!("Offered {}", rate(amount))),
        total.sent.map(|amount| format!("sent {}", rate(amount))),
        total.received.map(|amount| format!("received {}", rate(amount))),
        total.loss().map(|loss| {
            if loss > 0.0 {
                format!("{} of the messages lost", write::write_percent(loss))
            } else {
                "no message lost".to_owned()
            }
        }),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    let sentence = if said.is_empty() {
        "No message was sent or received.".to_owned()
    } else {
        format!("{}.", write::capitalised(&said.join(", ")))
    };
    SheetHeadline { sentence, ..SheetHeadline::default() }
}

/// Formats a rate with a non-breaking space between number and unit.
fn bit_rate(bits_per_s: f64) -> String {
    write_bit_rate(bits_per_s).replace(' ', "\u{a0}")
}

/// Returns the tiles: the offered, sent, received and lost traffic of each family.
fn tiles(result: &TrafficResult) -> Vec<Tile> {
    let basis = basis_of(&result.asked);
    let families: Vec<(Family, MessageFigures)> = Family::BOTH
        .into_iter()
        .filter(|family| result.kinds.iter().any(|kind| kind.family == *family))
        .map(|family| {
            let those = result.kinds.iter().filter(|kind| kind.family == family);
            (family, MessageFigures::sum(those.map(|kind| &kind.figures)))
        })
        .collect();
    let tile = |label, of: &dyn Fn(&MessageFigures) -> Option<String>| {
        let side = |(family, figures): &(Family, MessageFigures)| {
            let value = of(figures).unwrap_or_else(|| "unknown".to_owned());
            (usize::from(*family == Family::Ipv4), family.to_string(), value)
        };
        let sides = families.iter().map(side).collect();
        Tile { label, metric: None, sides, change: String::new() }
    };
    let rate = |amount: Option<Amount>| amount.map(|a| bit_rate(a.bits_per_s(basis)));
    vec![
        tile("Offered", &|of| rate(of.offered)),
        tile("Sent", &|of| rate(of.sent)),
        tile("Received", &|of| rate(of.received)),
        tile("Lost", &|of| of.loss().map(write::write_percent)),
    ]
}

/// Returns the part with the offered and achieved rates of each class of flows.
fn classes_part(result: &TrafficResult) -> Option<Part> {
    let basis = basis_of(&result.asked);
    let chart = Block::Charts(vec![classes_chart(result, basis)]);
    let rows = result.kinds.iter().map(|kind| {
        let count = write::write_count(kind.flows.into());
        let first = SheetCell::Number(count, kind.flows.into());
        let cells = figure_cells(&kind.figures, basis, kind.retransmitted);
        Row::new(class_name(kind), std::iter::once(first).chain(cells).collect())
    });
    let total = figure_cells(&result.total, basis, None);
    let total = Row::new("all", std::iter::once(SheetCell::none()).chain(total).collect());
    let columns = std::iter::once(Column::words("Class"))
        .chain([Column::number("Flows").off_terminal()])
        .chain(figure_columns());
    let several = result.kinds.len() > 1;
    let rows = rows.chain(several.then_some(total)).collect();
    let table = Table::new("Rates by class and family", columns.collect(), rows);
    let table = table.without_empty_columns();
    let blocks = match result.kinds.len() {
        0 => Vec::new(),
        // A chart of a single class would show little.
        1 => vec![Block::Table(table)],
        _ => vec![chart, Block::Table(table)],
    };
    Part::new("Offered and achieved", blocks).map(Part::open)
}

fn class_name(kind: &KindResult) -> String {
    format!("{} {} from {}", kind.protocol, kind.family, sender(kind.from))
}

fn figure_columns() -> impl Iterator<Item = Column> {
    let rates = ["Offered", "Sent", "Received"].map(Column::number).into_iter();
    let share = Column::number("Share of the offered rate").off_terminal();
    rates.chain([share]).chain(["Lost", "Retransmissions"].map(Column::number))
}

fn figure_cells(
    figures: &MessageFigures,
    basis: Basis,
    retransmitted: Option<u64>,
) -> Vec<SheetCell> {
    let bits = |amount: Option<Amount>| amount.map(|amount| amount.bits_per_s(basis));
    let rate = |bits: Option<f64>| {
        bits.map_or_else(SheetCell::none, |bits| SheetCell::Number(bit_rate(bits), rounded(bits)))
    };
    let share = |share: Option<f64>| {
        let cell = |share: f64| SheetCell::Number(write::write_percent(share), share);
        share.map_or_else(SheetCell::none, cell)
    };
    let (offered, achieved) = (bits(figures.offered), bits(figures.received.or(figures.sent)));
    let reached = offered.filter(|offered| *offered > 0.0).zip(achieved).map(|(a, got)| got / a);
    let count = |count: u64| SheetCell::Number(write::write_count(count), count as f64);
    vec![
        rate(offered),
        rate(bits(figures.sent)),
        rate(bits(figures.received)),
        share(reached),
        share(figures.loss()),
        retransmitted.map_or_else(SheetCell::none, count),
    ]
}

/// A series of the chart of classes: name, colour, mark, and the amount that it shows.
type AmountLine = (&'static str, usize, Mark, fn(&MessageFigures) -> Option<Amount>);

/// Returns the chart of the offered, sent and received rates of each class.
fn classes_chart(result: &TrafficResult, basis: Basis) -> Chart {
    let kinds = &result.kinds;
    let lines: [AmountLine; 3] = [
        ("offered", OFFERED_PLACE, Mark::Hollow, |of| of.offered),
        ("sent", SENT_PLACE, Mark::Dots, |of| of.sent),
        ("received", RECEIVED_PLACE, Mark::Dots, |of| of.received),
    ];
    let series: Vec<Series> = lines
        .into_iter()
        .map(|(name, side, mark, of)| {
            let at = |kind: &KindResult| of(&kind.figures).map(|a| rounded(a.bits_per_s(basis)));
            Series::new(name.to_owned(), side, mark, kinds.iter().map(at).collect())
        })
        .filter(|series| series.ys.iter().any(Option::is_some))
        .collect();
    let labels: Vec<String> = kinds.iter().map(class_name).collect();
    let xs: Vec<f64> = (0..kinds.len()).map(|at| at as f64).collect();
    let rows = kinds.iter().enumerate().map(|(at, kind)| {
        let cell = |series: &Series| {
            let value = series.ys[at];
            value.map_or_else(SheetCell::none, |bits| SheetCell::Number(bit_rate(bits), bits))
        };
        Row::new(class_name(kind), series.iter().map(cell).collect())
    });
    let columns = std::iter::once(Column::words("Class"))
        .chain(series.iter().map(|series| Column::number(&series.name)))
        .collect();
    let values = series.iter().flat_map(|series| series.ys.iter().flatten().copied());
    Chart {
        title: "Rate of each class".to_owned(),
        about: describe_classes(kinds, basis),
        table: Table::new("Rate of each class", columns, rows.collect()),
        x: Axis::linear("", Unit::Label, -0.5, kinds.len() as f64 - 0.5),
        y: Axis::from_zero("", Unit::BitsPerS, values.collect::<Vec<_>>().into_iter()),
        labels,
        xs,
        series,
        bands: Vec::new(),
    }
}

fn describe_classes(kinds: &[KindResult], basis: Basis) -> String {
    let rate = |amount: Option<Amount>| {
        amount.map_or("unknown".to_owned(), |amount| bit_rate(amount.bits_per_s(basis)))
    };
    let of = |kind: &KindResult| {
        let MessageFigures { offered, sent, received, .. } = &kind.figures;
        let name = class_name(kind);
        format!(
            "{name}: offered {}, sent {}, received {}.",
            rate(*offered),
            rate(*sent),
            rate(*received)
        )
    };
    kinds.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// Returns the part about the one-way delay of each flow.
fn delay_part(result: &TrafficResult) -> Option<Part> {
    let timed: Vec<(&FlowResult, &Delay)> =
        result.flows.iter().filter_map(|flow| Some((flow, flow.delay.as_ref()?))).collect();
    if timed.is_empty() {
        return None;
    }
    let clocks = if result.shared_clock {
        "Both sides read one clock, so the shortest delay of each flow is known."
    } else {
        "Each side has its own clock, so the shortest delay is unknown."
    };
    let text = format!(
        "{clocks} The variation of a message’s delay is how much longer it took than the shortest of its \
         flow (RFC 5481)."
    );
    let mut blocks = vec![Block::Text(text)];
    let is_drawn = (2..=MOST_DRAWN).contains(&timed.len());
    blocks.extend(is_drawn.then(|| Block::Charts(vec![delay_chart(&timed)])));
    let table = Block::Table(delay_table(&timed));
    blocks.push(if timed.len() <= MOST_ROWS {
        table
    } else {
        let words = format!("{} flows", write::write_count(timed.len() as u64));
        Block::Folded(words, vec![table])
    });
    Part::new("Delay", blocks)
}

fn flow_name(flow: &FlowResult) -> String {
    format!("{} {} {}", flow.id, flow.protocol, flow.family)
}

fn delay_chart(timed: &[(&FlowResult, &Delay)]) -> Chart {
    let [median, _, tail] = &QUANTILES;
    let drawn = [(median, Mark::Dots), (tail, Mark::Hollow)];
    let lines = drawn.into_iter().flat_map(|((name, of), mark)| {
        Family::BOTH.map(move |family| (format!("{family} {name}"), family, of, mark))
    });
    let series: Vec<Series> = lines
        .map(|(name, family, of, mark)| {
            let at = |(flow, delay): &(&FlowResult, &Delay)| {
                let value = of(&delay.variation_us).filter(|_| flow.family == family);
                value.map(rounded)
            };
            let side = usize::from(family == Family::Ipv4);
            Series::new(name, side, mark, timed.iter().map(at).collect())
        })
        .filter(|series| series.ys.iter().any(Option::is_some))
        .collect();
    let values: Vec<f64> = series.iter().flat_map(|of| of.ys.iter().flatten().copied()).collect();
    let rows = timed.iter().enumerate().map(|(at, (flow, _))| {
        let cell = |series: &Series| {
            let value = series.ys[at];
            value.map_or_else(SheetCell::none, |us| SheetCell::Number(write::write_time(us), us))
        };
        Row::new(flow_name(flow), series.iter().map(cell).collect())
    });
    let columns = std::iter::once(Column::words("Flow"))
        .chain(series.iter().map(|series| Column::number(&series.name)))
        .collect();
    Chart {
        title: "Variation of the delay of each flow".to_owned(),
        about: sixmark_sheet::chart::describe_series(&series, "", write::write_time),
        table: Table::new("Variation of the delay of each flow", columns, rows.collect()),
        x: Axis::linear("flow", Unit::Label, -0.5, timed.len() as f64 - 0.5),
        y: Axis::durations("", 0.1, values.into_iter()),
        labels: timed.iter().map(|(flow, _)| flow.id.to_string()).collect(),
        xs: (0..timed.len()).map(|at| at as f64).collect(),
        series,
        bands: Vec::new(),
    }
}

fn delay_table(timed: &[(&FlowResult, &Delay)]) -> Table {
    let time = |us: Option<f64>| {
        us.map_or_else(SheetCell::none, |us| SheetCell::Number(write::write_time(us), rounded(us)))
    };
    let row = |(flow, delay): &(&FlowResult, &Delay)| {
        let variation = QUANTILES.iter().map(|(_, of)| time(of(&delay.variation_us)));
        let cells = std::iter::once(time(delay.least_us)).chain(variation);
        let cells = cells.chain([time(delay.variation_us.max)]).collect();
        Row::new(flow_name(flow), cells)
    };
    let names = QUANTILES.iter().map(|(name, _)| format!("Variation, {name}"));
    let columns = std::iter::once(Column::words("Flow"))
        .chain([Column::number("Shortest delay")])
        .chain(names.map(Column::number))
        .chain([Column::number("Variation, longest")]);
    let rows = timed.iter().map(row).collect();
    Table::new("One-way delay of each flow", columns.collect(), rows)
}

/// Returns the folded table of all flows.
fn flows_part(result: &TrafficResult) -> Option<Part> {
    let basis = basis_of(&result.asked);
    let number = |count: Option<u64>| {
        count.map_or_else(SheetCell::none, |count| {
            SheetCell::Number(write::write_count(count), count as f64)
        })
    };
    let row = |flow: &FlowResult| {
        let figures = &flow.figures;
        let from = sender(flow.from);
        let cells = std::iter::once(from.into())
            .chain(figure_cells(figures, basis, flow.retransmitted.map(u64::from)))
            .chain([number(figures.duplicates), number(figures.reordered), number(figures.late)])
            .chain([flow.problem.clone().unwrap_or_default().into()]);
        Row::new(flow_name(flow), cells.collect())
    };
    let columns = std::iter::once(Column::words("Flow"))
        .chain([Column::words("From")])
        .chain(figure_columns())
        .chain(["Duplicates", "Out of order", "Late"].map(Column::number))
        .chain([Column::words("Problem")]);
    let rows: Vec<Row> = result.flows.iter().map(row).collect();
    let words = format!("{} flows", write::write_count(rows.len() as u64));
    let any = !rows.is_empty();
    let table =
        Block::Table(Table::new("Each flow", columns.collect(), rows).without_empty_columns());
    let block = Block::Folded(words, vec![table]);
    any.then(|| Part::new("Flows", vec![block])).flatten()
}

fn hosts_part(hosts: &[HostResult]) -> Option<Part> {
    let count = |count: u64| SheetCell::Number(write::write_count(count), count as f64);
    let row = |host: &HostResult| {
        let late = host.latest_us.map_or_else(SheetCell::none, |us| {
            SheetCell::Number(write::write_time(us), rounded(us))
        });
        let cells = vec![
            late,
            count(host.socket_drops),
            count(host.foreign),
            host.problems.join("; ").into(),
        ];
        Row::new(sender(host.side), cells)
    };
    let rows = hosts.iter().map(row).collect();
    let columns = ["Latest send", "Dropped (socket buffer full)", "Packets of other traffic"];
    let columns = std::iter::once(Column::words("Side"))
        .chain(columns.map(Column::number))
        .chain([Column::words("Problems")]);
    let table = Table::new("Each side", columns.collect(), rows).without_empty_columns();
    Part::new("Hosts", vec![Block::Table(table)])
}

fn setting(result: &TrafficResult) -> Vec<Block> {
    let time = |s: &Option<f64>| match s {
        Some(s) => write::write_time(s * 1e6),
        None => "until interrupted".to_owned(),
    };
    let facts = match &result.asked {
        OfferedTraffic::Mix { mix, duration_s, .. } => vec![
            ("Rate", format!("{}, {}", bit_rate(mix.rate.0 as f64), mix.basis)),
            ("TCP", mix.tcp.to_string()),
            ("IPv6", mix.ipv6.to_string()),
            ("Flows", write::write_count(mix.flows.into())),
            (
                "Rates of flows",
                match mix.spread {
                    Spread::Equal => "equal".to_owned(),
                    Spread::Rising => "rising as 1 : 2 : 3".to_owned(),
                },
            ),
            ("Arrivals", mix.arrivals.to_string()),
            ("Direction", mix.direction.to_string()),
            ("Time", time(duration_s)),
            ("Seed", result.seed.to_string()),
        ],
        OfferedTraffic::Script { file, duration_s, notes } => vec![
            ("Script", file.clone()),
            ("Time", time(duration_s)),
            (
                "Lines omitted",
                if notes.is_empty() { String::new() } else { notes.len().to_string() },
            ),
            ("Seed", result.seed.to_string()),
        ],
    };
    let mut blocks = vec![Block::Table(Table::facts("Settings", facts))];
    blocks.extend(setting::machine(&result.environment, Vec::new(), &result.tool));
    blocks
}

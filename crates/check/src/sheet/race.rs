//! What clients of users would do, as a table and a chart.

use std::collections::BTreeSet;

use sixmark_sheet::Block;
use sixmark_sheet::chart::{Axis, Chart, Mark, Series, Unit};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write::write_time;

use crate::check_result::{ClientRace, RacePoint, SiteResult};
use crate::happy_eyeballs::RaceProtocol;
use crate::observed::RaceEnd;

/// The delay that the chart shows at most, in milliseconds: beyond it nothing changes.
const MOST_DRAWN_MS: u32 = 500;

/// Returns the blocks; none if nothing was predicted.
pub(super) fn race_blocks(site: &SiteResult) -> Vec<Block> {
    if site.clients.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Table(race_table(&site.clients)),
        Block::Aside(
            "Predicted by Happy Eyeballs, as each client does it, from the times that were measured: the \
             answers of the first resolver, the connections to each address over TCP and QUIC, the \
             response. A client attempts QUIC if an HTTPS record offers it, or Alt-Svc on an earlier visit."
                .to_owned(),
        ),
    ];
    if let Some(table) = raced_table(&site.clients) {
        blocks.push(Block::Table(table));
        blocks.push(Block::Aside(
            "Raced over TCP alone, to addresses that were known, from the first connection on; so is what \
             was predicted for it."
                .to_owned(),
        ));
    }
    blocks.push(Block::Charts(vec![race_chart(&site.clients)]));
    blocks
}

/// Returns the outcome with this delay added; `None` if the content never came.
fn point_at(of: &ClientRace, added_ms: u32) -> Option<&RacePoint> {
    of.points.iter().find(|point| point.added_ms == added_ms)
}

/// Returns the delays for which any client has an outcome, in ascending order.
fn delays(clients: &[ClientRace]) -> BTreeSet<u32> {
    clients.iter().flat_map(|of| &of.points).map(|of| of.added_ms).collect()
}

fn time_cell(of: Option<&RacePoint>) -> SheetCell {
    match of {
        Some(of) => {
            let over = if of.protocol == RaceProtocol::Quic { ", QUIC" } else { "" };
            let text = format!("{} ({}{over})", write_time(of.content_ms * 1e3), of.family);
            SheetCell::Number(text, of.content_ms)
        }
        None => "never".into(),
    }
}

fn race_table(clients: &[ClientRace]) -> Table {
    let remembers = clients.iter().any(|of| of.remembered.is_some());
    let later = remembers.then(|| Column::number("On a later visit"));
    let mut columns = vec![Column::words("Client"), Column::number("Content after")];
    columns.extend(later);
    columns.extend(["If IPv6 were silent", "IPv6 may be slower by"].map(Column::number));
    columns.push(Column::words("Source").off_terminal());
    let row = |of: &ClientRace| {
        let tolerated = match of.tolerated_ms {
            Some(ms) => SheetCell::Number(format!("{ms} ms"), f64::from(ms)),
            None => "IPv4 wins".into(),
        };
        let mut cells = vec![time_cell(point_at(of, 0))];
        // Who uses no Alt-Svc does the same again.
        cells.extend(remembers.then(|| time_cell(of.remembered.as_ref().or(point_at(of, 0)))));
        cells.extend([time_cell(of.ipv6_silent.as_ref()), tolerated]);
        cells.push(of.source.as_str().into());
        Row::new(of.client.as_str(), cells)
    };
    Table::new("What clients would do", columns, clients.iter().map(row).collect())
}

/// Returns the races for real beside their predictions; `None` if there were none.
fn raced_table(clients: &[ClientRace]) -> Option<Table> {
    let cell = |end: Option<RaceEnd>| match end {
        Some(RaceEnd { family, connected_ms }) => {
            let text = format!("{} ({family})", write_time(connected_ms * 1e3));
            SheetCell::Number(text, connected_ms)
        }
        None => "no connection".into(),
    };
    let row = |of: &ClientRace| {
        let raced = of.raced?;
        Some(Row::new(of.client.as_str(), vec![cell(raced.found), cell(raced.predicted)]))
    };
    let rows: Vec<Row> = clients.iter().filter_map(row).collect();
    let columns = ["Connected after", "Predicted"].map(Column::number);
    let columns = std::iter::once(Column::words("Client")).chain(columns).collect();
    (!rows.is_empty()).then(|| Table::new("Raced for real", columns, rows))
}

fn race_chart(clients: &[ClientRace]) -> Chart {
    let drawn: Vec<u32> = delays(clients).into_iter().filter(|ms| *ms <= MOST_DRAWN_MS).collect();
    let xs: Vec<f64> = drawn.iter().map(|ms| f64::from(*ms)).collect();
    let series = clients.iter().enumerate().map(|(side, of)| {
        let at = |ms: &u32| point_at(of, *ms).map(|point| point.content_ms * 1e3);
        Series::new(of.client.clone(), side, Mark::Points, drawn.iter().map(at).collect())
    });
    let series: Vec<Series> = series.collect();
    let most = series.iter().flat_map(|of| of.ys.iter().flatten().copied());
    Chart {
        title: "Time until the content is there".to_owned(),
        about: "Each line is a client: how long it takes until the content is there, by the delay that is \
                added to connections over IPv6."
            .to_owned(),
        table: chart_table(clients),
        x: Axis {
            suffix: " ms".to_owned(),
            ..Axis::linear("added to IPv6", Unit::Plain, 0.0, f64::from(MOST_DRAWN_MS))
        },
        y: Axis::from_zero("time until the content", Unit::Us, most),
        labels: Vec::new(),
        xs,
        series,
        bands: Vec::new(),
    }
}

fn chart_table(clients: &[ClientRace]) -> Table {
    let names = clients.iter().map(|of| Column::number(of.client.as_str()));
    let columns = std::iter::once(Column::words("Added to IPv6")).chain(names).collect();
    let added = delays(clients).into_iter();
    let row = |ms: u32| {
        let at = |of: &ClientRace| time_cell(point_at(of, ms));
        Row::new(format!("{ms} ms"), clients.iter().map(at).collect())
    };
    Table::new("Time until the content is there", columns, added.map(row).collect())
}

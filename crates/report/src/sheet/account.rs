//! The account of response times: how long each of their parts took, of the mean, around the median and
//! around p99.

use sixmark_tally::account::{AccountFigures, AccountResult};
use sixmark_tally::response_part::ResponsePart;

use super::side::{Side, Sides};
use sixmark_sheet::table::{Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// One of the accounts of a side.
type OneAccount = fn(&AccountResult) -> &AccountFigures;

/// The accounts of a side, with the names of their groups.
const ACCOUNTS: [(&str, OneAccount); 3] = [
    ("Of the mean", |of| &of.mean),
    ("Around the median", |of| &of.p50),
    ("Around p99", |of| &of.p99),
];

/// Returns the table of the parts of the response times; `None` if no side has an account.
pub(super) fn account_part(sides: &Sides<'_>) -> Option<Part> {
    sides.all.iter().find(|side| side.figures.account.is_some())?;
    let groups = ACCOUNTS
        .into_iter()
        .map(|(name, of)| Group { name: Some(name.into()), rows: rows_of_account(sides, of) });
    let table = Table {
        caption: "The parts of the response times, which add up to them".to_owned(),
        columns: sides.columns("Part"),
        groups: groups.collect(),
        scale: None,
    };
    let mut blocks = vec![Block::Table(table)];
    // What packets show begins and ends with packets: the table of phases has those definitions.
    if !sides.watched {
        let definitions = ResponsePart::ALL.map(|part| {
            Block::Text(format!("{}: {}", write::capitalised(part.noun()), part.definition()))
        });
        blocks.push(Block::Folded("Definitions".to_owned(), definitions.into()));
    }
    Part::new("Parts of the response", blocks)
}

/// Parts below this share of the median response are named together.
const NAMED: f64 = 0.02;

/// Describes the parts of the median response of each side, which add up to it.
pub(crate) fn describe_accounts(sides: &Sides<'_>) -> Vec<String> {
    let line = |side: &Side<'_>| {
        let AccountFigures { response_us, parts_us, .. } = side.figures.account.as_ref()?.p50;
        let is_named = |us: f64| us >= NAMED * response_us;
        let named = parts_us.iter().filter(|(_, us)| is_named(**us));
        let named = named.map(|(part, us)| format!("{} {}", part.noun(), write::write_time(*us)));
        let rest: f64 = parts_us.iter().map(|(_, us)| *us).filter(|us| !is_named(*us)).sum();
        let rest = (rest > 0.0).then(|| format!("other {}", write::write_time(rest)));
        let parts: Vec<String> = named.chain(rest).collect();
        Some(format!("Median response over {}: {}", side.name, parts.join(" + ")))
    };
    sides.all.iter().filter_map(line).collect()
}

fn rows_of_account(sides: &Sides<'_>, of: impl Fn(&AccountResult) -> &AccountFigures) -> Vec<Row> {
    let row = |label: &str, value: &dyn Fn(&AccountFigures) -> f64| {
        let cells = sides.all.iter().map(|side| match &side.figures.account {
            Some(account) => {
                let us = value(of(account));
                SheetCell::Number(write::write_time(us), us)
            }
            None => SheetCell::none(),
        });
        Row::new(label, cells.collect())
    };
    let takes_any = |part: &ResponsePart| {
        let accounts = sides.all.iter().filter_map(|side| side.figures.account.as_ref());
        accounts.into_iter().any(|account| of(account).parts_us[*part] > 0.0)
    };
    let parts = ResponsePart::ALL.into_iter().filter(takes_any);
    let parts = parts.map(|part| row(part.noun(), &|figures| figures.parts_us[part]));
    parts.chain([row("response", &|figures| figures.response_us)]).collect()
}

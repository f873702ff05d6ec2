//! The published figures of the five studies beside a list that was typed a second time, from the papers and
//! not from the files that the program reads.

use serde_json::Value;
use sixmark_testkit::sixmark;
use sixmark_testkit::study::fine;

/// A table of a paper: where it stands there, the levels that name a row, and the figures of each row, a
/// column after the other.
struct PaperTable {
    study: &'static str,
    /// The table's name in the program.
    table: &'static str,
    /// Where in the paper, for who looks it up.
    place: &'static str,
    /// Family, what is read for what kind of system, measure and unit of each column.
    columns: &'static [(&'static str, &'static str, &'static str)],
    rows: &'static [(&'static [&'static str], &'static [Printed])],
}

/// A figure as it is printed.
#[derive(Clone, Copy, Debug)]
enum Printed {
    /// A number.
    Is(f64),
    /// A range: the text names the lowest and the highest of several levels.
    Within(f64, f64),
    /// A dash, or nothing.
    Nothing,
}

use Printed::{Is, Nothing, Within};

const ANMA_CLOSURES: PaperTable = PaperTable {
    study: "anma",
    table: "closures",
    place: "the table of how connections ended, rows A to E",
    columns: &[
        ("ipv6", "sent", ""),
        ("ipv4", "sent", ""),
        ("ipv6", "NORMAL", ""),
        ("ipv4", "NORMAL", ""),
        ("ipv6", "RESET", ""),
        ("ipv4", "RESET", ""),
    ],
    rows: &[
        (&["1:1"], &[Is(5_000.0), Is(5_000.0), Is(4_536.0), Is(4_537.0), Is(464.0), Is(463.0)]),
        (&["4:1"], &[Is(8_001.0), Is(1_999.0), Is(7_276.0), Is(1_822.0), Is(725.0), Is(177.0)]),
        (&["1:4"], &[Is(2_001.0), Is(7_999.0), Is(1_815.0), Is(7_522.0), Is(186.0), Is(747.0)]),
        (&["1:0"], &[Is(10_000.0), Is(0.0), Is(9_064.0), Is(0.0), Is(936.0), Is(0.0)]),
        (&["0:1"], &[Is(0.0), Is(10_000.0), Is(0.0), Is(8_993.0), Is(0.0), Is(1_007.0)]),
    ],
};

const ANMA_TIMES: PaperTable = PaperTable {
    study: "anma",
    table: "times",
    place: "the table of mean times, rows A to E",
    columns: &[
        ("ipv6", "connect.mean", "us"),
        ("ipv4", "connect.mean", "us"),
        ("ipv6", "lifetime.mean", "ms"),
        ("ipv4", "lifetime.mean", "ms"),
    ],
    rows: &[
        (&["1:1"], &[Is(12.4), Is(1.3), Is(2.7113), Is(1.9317)]),
        (&["4:1"], &[Is(14.4), Is(1.5), Is(2.7146), Is(1.9640)]),
        (&["1:4"], &[Is(8.7), Is(0.9), Is(2.7339), Is(1.9154)]),
        (&["1:0"], &[Is(10.0), Nothing, Is(2.7176), Nothing]),
        (&["0:1"], &[Nothing, Is(1.3), Nothing, Is(1.8871)]),
    ],
};

/// The source's MB have 2^20 bytes: its own column of sizes has 109,167,758 bytes as 104.11.
const REGENSBURG: PaperTable = PaperTable {
    study: "regensburg",
    table: "throughput",
    place: "the four tables of mean rates, a client each",
    columns: &[
        ("ipv6", "goodput", "MiB/s"),
        ("ipv4", "goodput", "MiB/s"),
        ("ipv6", "goodput", "MiB/s"),
        ("ipv4", "goodput", "MiB/s"),
        ("ipv6", "goodput", "MiB/s"),
        ("ipv4", "goodput", "MiB/s"),
        ("ipv6", "goodput", "MiB/s"),
        ("ipv4", "goodput", "MiB/s"),
    ],
    rows: &[
        (
            &["1746684128"],
            &[Is(4.25), Is(3.49), Is(8.46), Is(8.34), Is(8.02), Is(7.36), Is(8.16), Is(8.38)],
        ),
        (
            &["1528348612"],
            &[Is(4.03), Is(3.34), Is(8.47), Is(8.51), Is(8.10), Is(7.28), Is(8.16), Is(8.21)],
        ),
        (
            &["1310013096"],
            &[Is(4.12), Is(3.20), Is(8.54), Is(8.90), Is(8.16), Is(7.35), Is(8.13), Is(8.28)],
        ),
        (
            &["1091677580"],
            &[Is(3.98), Is(3.06), Is(8.61), Is(8.47), Is(8.14), Is(7.13), Is(7.90), Is(8.01)],
        ),
        (
            &["873342064"],
            &[Is(3.86), Is(2.95), Is(8.64), Is(8.56), Is(8.23), Is(7.19), Is(8.18), Is(8.27)],
        ),
        (
            &["655006548"],
            &[Is(3.74), Is(2.98), Is(8.73), Is(8.60), Is(8.22), Is(7.28), Is(7.92), Is(8.03)],
        ),
        (
            &["436671032"],
            &[Is(3.40), Is(2.95), Is(9.25), Is(9.27), Is(8.27), Is(7.40), Is(8.02), Is(8.08)],
        ),
        (
            &["327503274"],
            &[Is(2.94), Is(2.79), Is(8.94), Is(8.88), Is(7.91), Is(7.48), Is(8.03), Is(8.28)],
        ),
        (
            &["218335516"],
            &[Is(2.58), Is(2.49), Is(8.79), Is(8.83), Is(8.30), Is(7.49), Is(8.32), Is(8.53)],
        ),
        (
            &["109167758"],
            &[Is(2.75), Is(2.54), Is(9.47), Is(9.31), Is(8.57), Is(7.61), Is(8.64), Is(8.73)],
        ),
        (
            &["41592248"],
            &[Is(3.62), Is(3.30), Is(9.46), Is(9.77), Is(8.58), Is(7.76), Is(9.29), Is(9.40)],
        ),
        (
            &["31867608"],
            &[Is(3.96), Is(3.71), Is(9.31), Is(9.56), Is(8.61), Is(7.76), Is(9.04), Is(9.62)],
        ),
        (
            &["29793828"],
            &[Is(3.89), Is(3.54), Is(9.57), Is(9.36), Is(8.64), Is(7.79), Is(9.31), Is(9.60)],
        ),
        (
            &["20399831"],
            &[Is(3.92), Is(3.98), Is(9.11), Is(9.57), Is(8.56), Is(7.74), Is(9.38), Is(9.76)],
        ),
        (
            &["14269432"],
            &[Is(3.76), Is(3.83), Is(9.63), Is(9.81), Is(8.67), Is(7.76), Is(9.50), Is(9.75)],
        ),
        (
            &["5879824"],
            &[Is(4.17), Is(4.08), Is(9.67), Is(9.92), Is(8.44), Is(7.81), Is(9.45), Is(9.56)],
        ),
    ],
};

const DELL: PaperTable = PaperTable {
    study: "dell",
    table: "blocks",
    place: "the tables of IOPS, MB/s and CPU %, with offload off and on",
    columns: &[
        ("ipv4", "iops", "1/s"),
        ("ipv4", "content_rate", "MiB/s"),
        ("ipv4", "cpu_share", "%"),
        ("ipv6", "iops", "1/s"),
        ("ipv6", "content_rate", "MiB/s"),
        ("ipv6", "cpu_share", "%"),
    ],
    rows: &[
        (
            &["write", "off", "256K"],
            &[Is(8_696.1), Is(2_174.01), Is(4.9), Is(8_752.1), Is(2_188.02), Is(4.9)],
        ),
        (
            &["write", "off", "64K"],
            &[Is(34_862.7), Is(2_178.92), Is(6.6), Is(34_972.1), Is(2_185.76), Is(6.5)],
        ),
        (
            &["read", "off", "256K"],
            &[Is(19_987.8), Is(4_996.95), Is(14.1), Is(22_752.4), Is(5_688.09), Is(13.6)],
        ),
        (
            &["read", "off", "64K"],
            &[Is(73_194.1), Is(4_574.63), Is(13.9), Is(80_392.4), Is(5_024.53), Is(12.5)],
        ),
        (
            &["write", "on", "256K"],
            &[Is(8_596.0), Is(2_148.99), Is(2.0), Is(8_615.5), Is(2_153.88), Is(2.0)],
        ),
        (
            &["write", "on", "64K"],
            &[Is(34_727.8), Is(2_170.49), Is(3.6), Is(34_895.6), Is(2_180.97), Is(3.4)],
        ),
        (
            &["read", "on", "256K"],
            &[Is(35_559.3), Is(8_889.81), Is(8.1), Is(35_983.4), Is(8_995.86), Is(8.3)],
        ),
        (
            &["read", "on", "64K"],
            &[Is(101_545.6), Is(6_346.60), Is(7.4), Is(100_840.9), Is(6_302.55), Is(7.3)],
        ),
    ],
};

/// Stated of single levels: the ends of each range, and where the families' difference is given, the other
/// family's figure. All else is bounded by the range.
const TOWSON_DELAY: PaperTable = PaperTable {
    study: "towson",
    table: "delay",
    place: "the text on figures 3 (Apache) and 5 (bare server), which are lost",
    columns: &[("ipv6", "delay.mean", "ms"), ("ipv4", "delay.mean", "ms")],
    rows: &[
        (&["apache", "none"], &[Is(48.0), Is(48.0)]),
        (&["apache", "C1B"], &[Within(105.0, 121.0), Within(84.0, 103.0)]),
        (&["apache", "C2B"], &[Is(116.0), Is(84.0)]),
        (&["apache", "C3B"], &[Is(105.0), Is(99.0)]),
        (&["apache", "C4B"], &[Is(121.0), Within(84.0, 103.0)]),
        (&["apache", "C5B"], &[Within(105.0, 121.0), Within(84.0, 103.0)]),
        (&["apache", "C6B"], &[Within(105.0, 121.0), Is(103.0)]),
        (&["bare", "none"], &[Is(116.0), Is(99.0)]),
        (&["bare", "C1B"], &[Within(727.0, 824.0), Within(654.0, 725.0)]),
        (&["bare", "C2B"], &[Within(727.0, 824.0), Is(654.0)]),
        (&["bare", "C3B"], &[Is(727.0), Is(663.0)]),
        (&["bare", "C4B"], &[Within(727.0, 824.0), Within(654.0, 725.0)]),
        (&["bare", "C5B"], &[Is(824.0), Is(706.0)]),
        (&["bare", "C6B"], &[Within(727.0, 824.0), Is(725.0)]),
    ],
};

const TOWSON_THROUGHPUT: PaperTable = PaperTable {
    study: "towson",
    table: "throughput",
    place: "the text on figures 2 (Apache) and 4 (bare server), which are lost",
    columns: &[("ipv6", "throughput", "Mbit/s"), ("ipv4", "throughput", "Mbit/s")],
    rows: &[
        (&["apache", "C1B"], &[Within(20.0, 27.0), Within(22.0, 31.0)]),
        (&["apache", "C2B"], &[Is(24.0), Is(31.0)]),
        (&["apache", "C3B"], &[Is(27.0), Is(26.6)]),
        (&["apache", "C4B"], &[Is(20.0), Is(22.0)]),
        (&["apache", "C5B"], &[Within(20.0, 27.0), Within(22.0, 31.0)]),
        (&["apache", "C6B"], &[Within(20.0, 27.0), Within(22.0, 31.0)]),
        (&["bare", "C1B"], &[Is(4.8), Is(5.2)]),
        (&["bare", "C2B"], &[Within(3.4, 4.8), Is(5.3)]),
        (&["bare", "C3B"], &[Within(3.4, 4.8), Within(4.2, 5.3)]),
        (&["bare", "C4B"], &[Within(3.4, 4.8), Within(4.2, 5.3)]),
        (&["bare", "C5B"], &[Is(3.4), Is(4.8)]),
        (&["bare", "C6B"], &[Within(3.4, 4.8), Is(4.2)]),
    ],
};

const PAPERS: [PaperTable; 6] =
    [ANMA_CLOSURES, ANMA_TIMES, REGENSBURG, DELL, TOWSON_DELAY, TOWSON_THROUGHPUT];

impl PaperTable {
    /// What the program has otherwise, an entry each.
    fn differences(&self, tables: &Value) -> Vec<String> {
        let of_name = |table: &&Value| table["name"] == self.table;
        let known = tables.as_array().unwrap().iter().find(of_name).unwrap();
        let mut found = Vec::new();
        for (at, (family, measure, unit)) in self.columns.iter().enumerate() {
            let column = &known["columns"][at];
            if column["family"] != *family
                || column["measure"] != *measure
                || column["unit"] != *unit
            {
                found.push(format!("column {at}: {column}"));
            }
        }
        let rows = known["rows"].as_array().unwrap();
        if rows.len() != self.rows.len() {
            found.push(format!("{} rows", rows.len()));
        }
        for (levels, figures) in self.rows {
            let wanted: Vec<Value> = levels.iter().map(|level| (*level).into()).collect();
            let Some(row) = rows.iter().find(|row| row["levels"] == Value::from(wanted.clone()))
            else {
                found.push(format!("no row {levels:?}"));
                continue;
            };
            let values = row["values"].as_array().unwrap();
            assert_eq!(values.len(), figures.len(), "{}: {levels:?}", self.place);
            for (at, figure) in figures.iter().enumerate() {
                let [value, range] = [&row["values"][at], &row["ranges"][at]];
                if !figure.is(value, range) {
                    found.push(format!("{levels:?} column {at}: {figure:?} is {value} {range}"));
                }
            }
        }
        found
            .iter()
            .map(|one| format!("{} {} ({}): {one}", self.study, self.table, self.place))
            .collect()
    }
}

impl Printed {
    fn is(self, value: &Value, range: &Value) -> bool {
        match self {
            Is(figure) => value.as_f64() == Some(figure) && range.is_null(),
            Within(low, high) => *range == Value::from(vec![low, high]),
            Nothing => value.is_null() && range.is_null(),
        }
    }
}

#[test]
fn every_published_figure_is_that_of_its_paper() {
    let mut differences = Vec::new();
    let mut count = 0;
    for paper in &PAPERS {
        let output = sixmark(&["study", "reanalyse", paper.study, "--json"]);
        let published: Value = serde_json::from_str(&fine(&output)).unwrap();
        differences.extend(paper.differences(&published["tables"]));
        count += paper.rows.iter().map(|(_, figures)| figures.len()).sum::<usize>();
        let tables = published["tables"].as_array().unwrap();
        let listed = |table: &Value| {
            PAPERS.iter().any(|of| of.study == paper.study && table["name"] == of.table)
        };
        assert!(tables.iter().all(listed), "{}: a table that is not in this list", paper.study);
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(count, 30 + 20 + 128 + 48 + 28 + 24);
}

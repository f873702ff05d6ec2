//! docs/store.md tells people what to ask the store.

use rusqlite::Connection;
use sixmark::store::NewEntry;

use super::{RUN, headline, open};

const PAGE: &str = include_str!("../../../../../docs/store.md");

#[test]
fn the_page_describes_every_column() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.sqlite");
    drop(open(&file));
    let connection = Connection::open(&file).unwrap();
    let sql = "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c \
        WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite%'";
    let mut sql = connection.prepare(sql).unwrap();
    let columns = sql.query_map([], |row| {
        Ok(format!("{}.{}", row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let mut found: Vec<String> = columns.unwrap().map(Result::unwrap).collect();
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let names = rows.flat_map(|(names, _)| names.split("`, `"));
    let mut described: Vec<String> =
        names.filter(|name| name.contains('.')).map(str::to_owned).collect();
    found.sort();
    described.sort();
    assert_eq!(described, found);
}

/// As typed, but for what a shell takes away.
#[test]
fn the_queries_on_the_page_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.sqlite");
    let mut store = open(&file);
    let now = humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string();
    let headline = headline(RUN, &now);
    let label = Some("nightly");
    store.keep(&NewEntry { headline: &headline, document: RUN, command: &[], label }).unwrap();
    let connection = Connection::open(&file).unwrap();
    let queries: Vec<&str> =
        PAGE.split("```sql\n").skip(1).map(|of| of.split("```").next().unwrap()).collect();
    assert!(queries.len() >= 2);
    for query in queries {
        let mut sql = connection.prepare(query).unwrap();
        let full = sql.column_count();
        let rows = sql.query_map([], |row| {
            (0..full)
                .map(|at| row.get::<_, rusqlite::types::Value>(at))
                .collect::<Result<Vec<_>, _>>()
        });
        let rows: Vec<_> = rows.unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 1, "{query}");
        assert!(!rows[0].contains(&rusqlite::types::Value::Null), "{query}: {rows:?}");
    }
}

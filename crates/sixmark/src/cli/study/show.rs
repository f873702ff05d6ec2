//! The description of a study before it is carried out.

use std::fmt::Write as _;
use std::time::Duration;

use sixmark_clients::client::Client;
use sixmark_clients::setting::SettingValue;
use sixmark_design::form::Form;
use sixmark_design::spec::cells::cells;
use sixmark_design::spec::{CellGroup, Level, PlannedCell, Service, Study};
use sixmark_design::study_result::CellOrder;
use sixmark_sheet::terminal::{hanging, width, wrapped};
use sixmark_units::quantity::write_count;

use super::super::out::print;
use sixmark_study::engine::{Need, Source, builtin_names, needs};
use sixmark_study::inspection::{NAME, TITLE};
use sixmark_study::sheet::describe_omitted;
use sixmark_sys::command_error::CommandError;

/// Maximum number of levels shown for a factor.
const SHOWN: usize = 20;

/// Prints the built-in studies, one line each.
pub(super) fn list() -> Result<u8, CommandError> {
    let mut text = String::new();
    let mut titles = vec![(NAME, TITLE.to_owned())];
    for name in builtin_names() {
        let (study, _) = super::checked_study(&Source::find(name)?, Form::default())?;
        titles.push((name, study.title));
    }
    titles.sort_unstable();
    for (name, title) in titles {
        let line = format!("{name:<12}{title}");
        let _ = writeln!(text, "{}", hanging(&line, width()));
    }
    text.push_str(
        "\nsixmark study show NAME describes one; sixmark study run --quick NAME runs\nits short form, in about a minute.\n",
    );
    print(&text).map(|()| 0)
}

/// Returns the number of cells as text.
pub(super) fn amount(study: &Study) -> String {
    let combinations = cells(study).len() as u64;
    let repetitions = u64::from(study.repetitions.get());
    let all = write_count(combinations * repetitions);
    match repetitions {
        1 => format!("{all} cells"),
        _ => format!(
            "{} combinations, {repetitions} times each: {all} cells",
            write_count(combinations)
        ),
    }
}

/// Returns the complete description. `omitted` are the services that can't run here, each with the
/// reason.
pub(super) fn describe(study: &Study, omitted: &[(String, String)]) -> String {
    let mut text = hanging(&format!("{}: {}", study.name, study.title), width()) + "\n";
    if !study.description.is_empty() {
        text.push('\n');
    }
    for line in study.description.trim().lines() {
        let _ = writeln!(text, "{}", wrapped(line, width()));
    }
    if !study.differences.is_empty() {
        text.push_str("\nHow it differs from the paper:\n");
    }
    for difference in &study.differences {
        let _ = writeln!(text, "{}", hanging(&format!("  {difference}"), width()));
    }
    text.push('\n');
    for factor in &study.factors {
        let names: Vec<_> =
            factor.levels.iter().map(|level| level.name.as_str()).take(SHOWN).collect();
        let more = factor.levels.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let line = format!("{:<14}{}{more}", factor.name, names.join(", "));
        let _ = writeln!(text, "{}", hanging(&line, width()));
    }
    for group in study.groups.iter().filter(|group| group.has_cells()) {
        let _ = writeln!(text, "{}", hanging(&describe_group(study, group), width()));
    }
    let varied = |key: &str| {
        let sets = |level: &Level| level.settings.iter().any(|setting| setting.key == key);
        study.factors.iter().any(|factor| factor.levels.iter().all(sets))
    };
    for option in study.options.iter().filter(|option| !varied(&option.key)) {
        let value = match &option.value {
            SettingValue::Flag(flag) => flag.to_string(),
            SettingValue::Text(text) => text.clone(),
            SettingValue::List(list) => list.join(", "),
        };
        let line = format!("{:<14}{value} (always)", option.key);
        let _ = writeln!(text, "{}", hanging(&line, width()));
    }
    if !study.instruments.is_empty() {
        let names: Vec<_> = study.instruments.iter().map(|one| one.name()).collect();
        let _ = writeln!(text, "{:<14}{} (beside each cell)", "instruments", names.join(", "));
    }
    let order = match study.order {
        CellOrder::Random => "in random order within each repetition",
        CellOrder::Written => "in the order of the file",
    };
    let line = format!("{}, {order}", amount(study));
    let _ = writeln!(text, "\n{}", hanging(&line, width()));
    let _ = writeln!(text, "{}", takes(study));
    text.push_str(&describe_omissions(study, omitted));
    for need in needs(study).into_iter().filter(|need| !is_of_omitted(need, study, omitted)) {
        let _ = match (&need.found, &need.package) {
            (Some(path), _) => writeln!(text, "needs {}: {}", need.program, path.display()),
            (None, _) => writeln!(text, "{}", hanging(&need.error().to_string(), width())),
        };
    }
    text
}

/// Returns the factors that a group varies, with the levels if they are not all.
fn describe_group(study: &Study, group: &CellGroup) -> String {
    let varied = group.levels.iter().filter(|(_, levels)| levels.len() > 1);
    let factor = |(name, levels): &(String, Vec<String>)| match study.level_names(name).len() {
        all if all == levels.len() => name.clone(),
        _ => format!("{name} ({})", levels.join(", ")),
    };
    let varied: Vec<String> = varied.map(factor).collect();
    format!("{:<13} varies {}", format!("group {}", group.name), varied.join(", "))
}

/// Says what would be omitted if the study began now, and which services have probes.
fn describe_omissions(study: &Study, omitted: &[(String, String)]) -> String {
    let mut without = study.clone();
    let mut lines: Vec<String> = match without.omit(omitted) {
        Ok(()) => {
            let of = |one| describe_omitted(one, &study.labels);
            without.omitted.iter().map(of).collect()
        }
        Err(why) => vec![format!("can't be run here: {why}")],
    };
    let has_probe = |service: &&Service| {
        service.optional.as_ref().is_some_and(|optional| !optional.probe.is_empty())
    };
    let is_here = |service: &&Service| omitted.iter().all(|(name, _)| *name != service.name);
    let probed = study.services.iter().filter(has_probe).filter(is_here);
    lines.extend(probed.map(|service| {
        format!("{} is omitted if its probe fails when the study begins", service.name)
    }));
    lines.iter().map(|line| hanging(line, width()) + "\n").collect()
}

/// Returns true if a program is needed by omitted services alone.
fn is_of_omitted(need: &Need, study: &Study, omitted: &[(String, String)]) -> bool {
    let uses = |service: &&Service| service.command.first() == Some(&need.program);
    let mut users = study.services.iter().filter(uses).peekable();
    users.peek().is_some() && users.all(|one| omitted.iter().any(|(name, _)| *name == one.name))
}

/// Returns how long the study takes: according to its file, or else the sum over its cells.
fn takes(study: &Study) -> String {
    let about = |time: Duration| {
        let seconds = Duration::from_secs(time.as_secs().max(1));
        humantime::format_duration(seconds).to_string()
    };
    if let Some(time) = study.takes {
        return format!("takes about {}, according to the file", about(time));
    }
    let each: Option<Vec<Duration>> = cells(study).iter().map(length).collect();
    match each {
        Some(each) => {
            let all = each.into_iter().sum::<Duration>() * study.repetitions.get();
            format!("takes about {}, the total load time of its cells", about(all))
        }
        None => "its duration is unknown until some cells are measured".to_owned(),
    }
}

/// Returns how long a cell generates load. `None` if its number of requests decides that, or its
/// client is curl.
fn length(cell: &PlannedCell<'_>) -> Option<Duration> {
    let time = |key: &str| cell.text(key).map(humantime::parse_duration);
    let whole = |text: &str| text.parse().ok().map(Duration::from_secs);
    let read = |key: &str| match time(key) {
        Some(Ok(time)) => Some(time),
        Some(Err(_)) => cell.text(key).and_then(whole),
        None => None,
    };
    if cell.setting("count").is_some() || cell.client() == Client::Curl {
        return None;
    }
    Some(read("duration")? + read("warmup").unwrap_or_default())
}

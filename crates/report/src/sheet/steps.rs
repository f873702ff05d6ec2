//! The figures of each step of a rate.

use sixmark_result::measurement::Measurement;
use sixmark_tally::by_step::StepFigures;

use super::requests::{QUANTILES, RESULTS, number, time_cells, write_results};
use super::side::Sides;
use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};
use sixmark_units::quantity::counted;

/// Returns a table of rates, one of response times and, if not every exchange that was due got a
/// response of status 200, one of responses, statuses and outcomes: one table of all would not fit a
/// narrow page. Each has a group for each step, with a row for each side.
pub fn steps_part(of: &dyn Measurement, sides: &Sides<'_>) -> Option<Part> {
    let all = steps(of, sides);
    let rates = table(&all, "Rate of each step", numbers(&RATES), |of| rates(of).to_vec());
    let quantiles = QUANTILES.map(|(name, _)| name);
    let times = table(&all, "Response time of each step", numbers(&quantiles), |of| {
        time_cells(&of.response_us).collect()
    });
    let blocks = [Block::Aside(DEFINITION.to_owned()), rates, times].into_iter();
    let blocks = blocks.chain(results_table(&all)).collect();
    Part::new("Steps of the rate", blocks).filter(|_| !all.is_empty()).map(Part::open)
}

/// Returns the same figures of the first `most` steps for a terminal, with rates and response times
/// in one table, and where the other steps are.
pub fn steps_on_terminal(of: &dyn Measurement, sides: &Sides<'_>, most: usize) -> Option<Part> {
    let mut all = steps(of, sides);
    let left_out = all.split_off(all.len().min(most)).len();
    let quantiles = QUANTILES.map(|(name, _)| name);
    let columns = [numbers(&RATES), numbers(&quantiles)].concat();
    let first = table(&all, "Rate and response time of each step", columns, |of| {
        rates(of).into_iter().chain(time_cells(&of.response_us)).collect()
    });
    let others = (left_out > 0).then(|| {
        let number = counted(left_out as u64, "more step", "more steps");
        let places = "in `--full`, the page (`--html`) and the document (`--json`)";
        Block::Text(format!("{number}: {places}."))
    });
    let blocks = [first].into_iter().chain(results_table(&all)).chain(others).collect();
    Part::new("Steps of the rate", blocks).filter(|_| !all.is_empty())
}

/// The columns of [`rates`].
const RATES: [&str; 4] = ["Due", "Sent", "Failed", "Reached"];

fn numbers(names: &[&str]) -> Vec<Column> {
    names.iter().map(|name| Column::number(*name)).collect()
}

/// Returns a table with a group for each step.
fn table(
    steps: &[StepRows<'_>],
    caption: &str,
    columns: Vec<Column>,
    cells: fn(&StepFigures) -> Vec<SheetCell>,
) -> Block {
    let columns = std::iter::once(Column::words("Step")).chain(columns).collect();
    let groups = steps.iter().map(|step| step.group(cells)).collect();
    Block::Table(Table { caption: caption.to_owned(), columns, groups, scale: None })
}

/// Returns the table of responses, statuses and outcomes, if any step needs it.
fn results_table(steps: &[StepRows<'_>]) -> Option<Block> {
    let columns = vec![Column::number("Complete"), Column::words(RESULTS)];
    let well = steps.iter().all(StepRows::is_well);
    (!well).then(|| table(steps, "Responses of each step", columns, results))
}

/// What the figures of a step are.
const DEFINITION: &str = "An exchange belongs to the step in which it was due. Reached: responses per \
                          second that arrived during the step, whenever their exchanges were due.";

/// One step: its name, and the figures of each side.
struct StepRows<'a> {
    name: String,
    sides: Vec<(&'a str, &'a StepFigures)>,
}

/// Returns the steps of a run. If both families were used, the figures of both together follow
/// those of each.
fn steps<'a>(of: &'a dyn Measurement, sides: &'a Sides<'a>) -> Vec<StepRows<'a>> {
    let both = (sides.all.len() > 1).then(|| ("both", &of.total().by_step));
    let each = sides.all.iter().map(|side| (side.name.as_str(), &side.figures.by_step));
    let all: Vec<_> = each.chain(both).collect();
    let rows = |(number, step): (usize, &StepFigures)| {
        let figures =
            |&(name, steps): &(&'a str, &'a Vec<StepFigures>)| Some((name, steps.get(number)?));
        StepRows { name: name_of(number, step), sides: all.iter().filter_map(figures).collect() }
    };
    of.total().by_step.iter().enumerate().map(rows).collect()
}

/// Returns a text like `Step 2: 500/s for 2.00 s`.
fn name_of(number: usize, step: &StepFigures) -> String {
    let rate = if step.from == step.to {
        step.from.to_string()
    } else {
        format!("{} to {}", step.from, step.to)
    };
    if step.lasts_s > 0.0 {
        format!("Step {}: {rate} for {}", number + 1, write::write_time(step.lasts_s * 1e6))
    } else {
        format!("Step {}: {rate}, not begun", number + 1)
    }
}

impl StepRows<'_> {
    fn group(&self, cells: fn(&StepFigures) -> Vec<SheetCell>) -> Group {
        let row = |&(side, of): &(&str, &StepFigures)| Row::new(side, cells(of));
        Group { name: Some(self.name.clone()), rows: self.sides.iter().map(row).collect() }
    }

    /// Returns true if every exchange that was due got a response of status 200.
    fn is_well(&self) -> bool {
        self.sides.iter().all(|(_, of)| {
            of.failed == 0 && of.completed == of.due && of.status.keys().all(|&code| code == 200)
        })
    }
}

fn rates(of: &StepFigures) -> [SheetCell; 4] {
    let [due, sent, failed] = [of.due, of.sent, of.failed].map(number);
    let reached = SheetCell::Number(write::per_s(of.responses_per_s) + "/s", of.responses_per_s);
    [due, sent, failed, reached]
}

fn results(of: &StepFigures) -> Vec<SheetCell> {
    let not_sent = [("dropped", of.dropped), ("unsent", of.unsent)].into_iter();
    let not_sent = not_sent.filter(|(_, n)| *n > 0);
    let not_sent = not_sent.map(|(name, n)| format!("{name}: {}", write::write_count(n)));
    let results = Some(write_results(&of.status, &of.outcomes)).filter(|text| !text.is_empty());
    let words: Vec<String> = results.into_iter().chain(not_sent).collect();
    vec![number(of.completed), words.join(", ").into()]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use sixmark_plan::pace::{OpenLoop, Pace, RateStage, RequestRate};
    use sixmark_result::fixture;
    use sixmark_result::result::RunResult;
    use sixmark_sheet::terminal;
    use sixmark_tally::by_step::{LoadSteps, StepTally};
    use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};

    /// Returns a run of `steps` steps of a second, the last of which failed in part.
    fn run(steps: u32) -> RunResult {
        let mut run = fixture::run();
        let rate = |n: u32| RequestRate::new(f64::from(n) * 100.0).unwrap();
        let stages = (1..=steps).map(|n| RateStage::level(rate(n), Duration::from_secs(1)));
        run.plan.load.pace = Pace::Open(OpenLoop::new(stages.collect()).unwrap());
        let mut tallies = vec![StepTally::default(); steps as usize];
        for tally in &mut tallies {
            tally.exchanges.status.add(200, 50);
            tally.exchanges.response.record(1_200_000);
            tally.responses = 50;
        }
        let last = tallies.last_mut().unwrap();
        last.exchanges.failures.add(Failure::new(Outcome::Timeout, FailurePhase::Wait), 5);
        last.dropped = 7;
        let figures = LoadSteps::new(&run.plan).figures(&tallies, f64::from(steps));
        for of in [run.families.ipv6.as_mut(), run.families.ipv4.as_mut(), Some(&mut run.total)] {
            of.unwrap().by_step.clone_from(&figures);
        }
        run
    }

    fn text(run: &RunResult, most: usize) -> String {
        let mut text = String::new();
        let part = steps_on_terminal(run, &Sides::of_families(run), most);
        part.iter().for_each(|part| terminal::write_part(&mut text, part));
        text
    }

    #[test]
    fn each_step_has_rows_of_each_family_and_of_both() {
        let shown = text(&run(2), 8);
        let rows = ["Step 2: 200/s for 1.00 s", "  IPv6   62    55       5   50.0/s", "  both"];
        rows.iter().for_each(|row| assert!(shown.contains(row), "{row}\n{shown}"));
        assert!(shown.contains("200: 50, TIMEOUT: 5, dropped: 7"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        assert_eq!(text(&fixture::run(), 8), "");
    }

    #[test]
    fn shows_the_first_steps_and_refers_to_the_others() {
        let text = text(&run(12), 8);
        assert!(text.contains("Step 8:") && !text.contains("Step 9:"), "{text}");
        assert!(text.contains("4 more steps: in --full, the page (--html)"), "{text}");
    }
}

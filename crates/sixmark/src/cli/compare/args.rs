//! The options of `sixmark compare`, as typed.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use sixmark_compare::comparison_result::BlockOrder;
use sixmark_compare::until::UntilDecided;
use sixmark_sys::command_error::CommandError;
use sixmark_tally::metric::Metric;
use sixmark_tally::metric::compared::parse_compared_metric;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

use super::super::run;
use super::shared::SharedWorkload;
use sixmark_options::positive;
use sixmark_options::times::positive_time;

/// Compare two sides in interleaved blocks and give a verdict.
///
/// Side A is judged against side B, one of them loaded at a time. Blocks are measured in pairs, one block of each side in random
/// order. Each block opens its own connections and is loaded with the options below, which are
/// those of `sixmark run`. The number of blocks is fixed in advance: intermediate results never end
/// a comparison early, unless a side gives no usable response at all. With `--until decided` a test
/// that allows it judges the sides after each pair.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct CompareArgs {
    /// Side to judge: ipv6, ipv4, a URL, or its own options ('--http2 --streams 8') [default: ipv6,
    /// or the first of two URLs of one family]
    #[arg(long, value_name = "SIDE", allow_hyphen_values = true, help_heading = "Comparison")]
    pub(super) a: Option<String>,

    /// Side to judge it against [default: ipv4, or the second of two URLs of one family]
    #[arg(long, value_name = "SIDE", allow_hyphen_values = true, help_heading = "Comparison")]
    pub(super) b: Option<String>,

    /// Name of side A in reports [default: as given with --a]
    #[arg(long, value_name = "NAME", help_heading = "Comparison")]
    pub(super) name_a: Option<String>,

    /// Name of side B in reports [default: as given with --b]
    #[arg(long, value_name = "NAME", help_heading = "Comparison")]
    pub(super) name_b: Option<String>,

    /// Measured duration of each block; with -n, a block ends after that many requests [default:
    /// 1s]
    #[arg(long, value_name = "TIME", value_parser = positive_time,
          help_heading = "Comparison")]
    pub(super) block: Option<Duration>,

    /// Number of blocks of each side to compare [default: 12; with --until at most 400]
    #[arg(long, value_name = "N", help_heading = "Comparison",
          value_parser = positive::<NonZeroU32>)]
    pub(super) blocks: Option<NonZeroU32>,

    /// Judge after each pair, and end when these metrics are better, worse or equivalent [default
    /// metric: that of --metric]
    #[arg(long, value_name = "decided[:METRIC,...]", value_parser = until,
          conflicts_with = "calibrate", help_heading = "Comparison")]
    pub(super) until: Option<UntilNamed>,

    /// With --until: begin no pair after this time
    #[arg(long, value_name = "TIME", value_parser = positive_time, requires = "until",
          default_value = "30m", help_heading = "Comparison")]
    pub(super) at_most: Duration,

    /// With --until: add pairs to those of this stored comparison, with the same options and on the
    /// same machine
    #[arg(
        long = "continue",
        value_name = "ID|FILE",
        requires = "until",
        help_heading = "Comparison"
    )]
    pub(super) earlier: Option<String>,

    /// Number of warm-up blocks of each side before them, which are not compared
    #[arg(long, value_name = "N", default_value = "1", help_heading = "Comparison")]
    pub(super) warm_up_blocks: u32,

    /// Order of the two blocks in a pair: random, or alternating ABBA and BAAB
    #[arg(long, value_name = "random|abba", default_value = "random", value_parser = order,
          help_heading = "Comparison")]
    pub(super) order: BlockOrder,

    /// Differences smaller than this count as equivalent (5 is 5%); choose it before you measure
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percentage,
          help_heading = "Comparison")]
    pub(super) margin: f64,

    /// Probability of finding equal sides different, in any metric or in their responses; choose it
    /// before you measure
    #[arg(long, value_name = "PERCENT", default_value = "6%", value_parser = percentage,
          help_heading = "Comparison")]
    pub(super) false_alarms: f64,

    /// Metric of the headline: response.p50, wait.p99, goodput, failures… [default: response.p50, or
    /// the first that --until names]
    #[arg(
        long,
        value_name = "METRIC",
        value_parser = parse_compared_metric,
        help_heading = "Comparison"
    )]
    pub(super) metric: Option<Metric>,

    #[command(flatten)]
    pub(super) shared: SharedWorkload,

    #[command(flatten)]
    pub(super) session: run::SessionArgs,
}

/// Changes the defaults and help texts of the options that mean something else in a comparison than
/// in a run.
pub(in crate::cli) fn adapt(command: clap::Command) -> clap::Command {
    command
        .mut_arg("warmup", |arg| {
            arg.default_value(WARM_UP).help("Load each block for this time before its measurement")
        })
        // Each side may have URLs of its own.
        .mut_arg("urls", |arg| arg.required_unless_present_any(["a", "b"]))
        .mut_arg("count", |arg| arg.help("End each block after this many requests"))
        .mut_arg("calibrate", |arg| {
            arg.help(
                "First compare A with itself: differences below that noise floor get no verdict",
            )
        })
        .mut_arg("json", |arg| arg.help("Write the result document (sixmark.comparison/1)"))
}

impl CompareArgs {
    /// Returns the duration of a block. `None` if only the number of requests ends it.
    pub(super) fn block(&self) -> Option<Duration> {
        let usual = self.shared.workload.load.count.is_none().then_some(Duration::from_secs(1));
        self.block.or(usual)
    }

    /// Returns the number of pairs of blocks, or the most of them if the comparison ends when it is
    /// decided.
    pub(super) fn pairs(&self) -> u32 {
        let usual = if self.until.is_some() { MOST_PAIRS } else { USUAL_PAIRS };
        self.blocks.map_or(usual, NonZeroU32::get)
    }

    /// Returns the metric of the headline, and how the comparison ends if it is judged after each
    /// pair.
    ///
    /// # Errors
    /// The metric of the headline is not tested, or the order of blocks is not random.
    pub(super) fn ending(&self) -> Result<(Metric, Option<UntilDecided>), CommandError> {
        let usual = Metric::Time(TimedPhase::Response, TimePoint::P50);
        let Some(UntilNamed(named)) = &self.until else {
            return Ok((self.metric.unwrap_or(usual), None));
        };
        let primary = self.metric.or(named.first().copied()).unwrap_or(usual);
        let metrics = if named.is_empty() { vec![primary] } else { named.clone() };
        if !metrics.contains(&primary) {
            return Err(CommandError::Usage(format!(
                "--until does not name the metric of the headline: --until decided:{primary},…"
            )));
        }
        if self.order != BlockOrder::Random {
            return Err(CommandError::Usage(
                "--until needs blocks in random order: its test bets on the order that was drawn"
                    .to_owned(),
            ));
        }
        Ok((primary, Some(UntilDecided { metrics, at_most_s: self.at_most.as_secs_f64() })))
    }

    /// Returns the number of requests after which a block ends. `None` if only time ends it.
    pub(super) fn block_requests(&self) -> Option<NonZeroU64> {
        self.shared.workload.load.count
    }
}

/// The number of pairs of blocks.
const USUAL_PAIRS: u32 = 12;

/// The most pairs of a comparison that ends when it is decided.
const MOST_PAIRS: u32 = 400;

/// The metrics that `--until decided` names; none for that of the headline.
#[derive(Clone, Debug)]
pub(super) struct UntilNamed(Vec<Metric>);

fn until(text: &str) -> Result<UntilNamed, String> {
    match text.split_once(':') {
        None if text == "decided" => Ok(UntilNamed(Vec::new())),
        Some(("decided", names)) => {
            let mut named = Vec::new();
            for name in names.split(',') {
                let metric = parse_compared_metric(name.trim())?;
                if named.contains(&metric) {
                    return Err(format!("'{metric}' is named twice"));
                }
                named.push(metric);
            }
            Ok(UntilNamed(named))
        }
        _ => {
            Err("expected decided, or decided:METRIC,… as in decided:response.p50,failures".into())
        }
    }
}

fn order(text: &str) -> Result<BlockOrder, String> {
    match text {
        "abba" => Ok(BlockOrder::Abba),
        "random" => Ok(BlockOrder::Random),
        _ => Err("expected random or abba".to_owned()),
    }
}

/// Parses a percentage into a share (0 to 1). A number without a unit is in percent, as one of a time
/// is in seconds; below 1 it might be meant as a share, so it needs the unit.
fn percentage(text: &str) -> Result<f64, String> {
    let with_unit = text.strip_suffix('%').map(str::trim_end);
    let number: Option<f64> = with_unit.unwrap_or(text).parse().ok();
    let percent = number.filter(|percent| *percent > 0.0 && *percent < 100.0);
    match percent {
        Some(below) if with_unit.is_none() && below < 1.0 => {
            let share = below * 100.0;
            Err(format!("'{text}' may mean {below}% or {share}%: write it with %"))
        }
        Some(percent) => Ok(percent / 100.0),
        None => Err(format!("'{text}' is not a percentage above 0 and below 100, as in 5%")),
    }
}

/// Default of `--warmup`: the load before each block is measured, so that opening connections is
/// not part of what is compared.
pub(super) const WARM_UP: &str = "100ms";

#[cfg(test)]
mod tests {
    use super::{percentage, until};

    #[test]
    fn parses_until_decided_with_metrics_and_rejects_duplicates() {
        assert!(until("decided").unwrap().0.is_empty());
        let named = until("decided:response.p50, failures").unwrap().0;
        assert_eq!(
            named.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["response.p50", "failures"]
        );
        for wrong in ["", "certain", "decided:", "decided:speed", "decided:goodput,goodput"] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn requires_a_percent_sign_when_a_number_could_be_a_fraction() {
        for (text, share) in [("5%", 0.05), ("5", 0.05), ("0.5%", 0.005), ("1", 0.01)] {
            assert_eq!(percentage(text).unwrap(), share, "{text}");
        }
        let said = percentage("0.05").unwrap_err();
        assert_eq!(said, "'0.05' may mean 0.05% or 5%: write it with %");
        for wrong in ["0", "100", "-1%", "five", "5 s", ""] {
            assert!(percentage(wrong).is_err(), "{wrong}");
        }
    }
}

//! `sixmark traffic`.

mod args;

pub(super) use args::TrafficArgs;

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use sixmark_document::provenance::Warning;
use sixmark_sheet::board::elapsed_text;
use sixmark_traffic::sheet::traffic_text;
use sixmark_traffic::text::write_bit_rate;
use sixmark_traffic::traffic_result::TrafficResult;
use sixmark_units::family::{Family, PerFamily};

use super::files::CommandFiles;
use super::out::{self, OutputPlace, complain, encoded, print, warn};
use super::progress::{can_repaint, repaint};
use super::{signals, stop_flag};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;
use sixmark_traffic::engine::{Counters, FAR_SIDE_LOST, far, near, script};

/// How long the near side sends, unless -d is given.
const DURATION: Duration = Duration::from_secs(10);

/// Serves, or measures and shows. Returns the exit status: 130 if a signal ended the measurement
/// early; else 3 if nothing arrived or the far side sent no report; else 0.
pub(super) fn main(args: &TrafficArgs) -> Result<u8, CommandError> {
    if !args.listen.is_empty() {
        return listen(args);
    }
    let files = CommandFiles::default().document("--json", args.json.as_ref());
    files.needed(args.script.as_deref(), "it is the script").check()?;
    let usual = args.script.is_none().then_some(DURATION);
    let mut live = LiveTraffic::new(!args.quiet && can_repaint(), args.duration.or(usual));
    let result = match &args.script {
        Some(path) => of_script(args, path, &mut live),
        None => of_mix(args, &mut live),
    };
    live.clear();
    let result = result?;
    let shown = !args.quiet && args.json != Some(OutputPlace::Standard);
    let printed = if shown { print(&traffic_text(&result)) } else { Ok(()) };
    warn(&result.warnings);
    let document = encoded(&result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write(&document));
    out::do_all([printed, written])?;
    let could_not = lost(&result).or_else(|| nothing(&result));
    signals::status_after(result.ended, could_not.map_or(Ok(0), Err))
}

/// Returns an error if the far side did not report.
fn lost(result: &TrafficResult) -> Option<CommandError> {
    let lost = result.warnings.iter().any(|warning| warning.code == FAR_SIDE_LOST);
    let line = "the far side sent no report: its figures are unknown";
    lost.then(|| CommandError::Measure(line.into()))
}

/// Returns an error if messages were sent to a known receiver and none arrived.
fn nothing(result: &TrafficResult) -> Option<CommandError> {
    let sent = result.total.sent.map_or(0, |sent| sent.messages);
    let received = result.total.received?.messages;
    let line = "messages were sent but none arrived; check firewalls and routes";
    (sent > 0 && received == 0).then(|| CommandError::Measure(line.into()))
}

fn listen(args: &TrafficArgs) -> Result<u8, CommandError> {
    let stop = stop_flag()?;
    let at: Vec<_> = args.listen.iter().flat_map(|listen| listen.0.iter().copied()).collect();
    let listener = far::Listener::new(&at)?;
    let lines = listener.addresses().iter().map(|at| format!("{at}\n")).collect::<String>();
    print(&(lines + "Ctrl-C ends it.\n"))?;
    let quiet = args.quiet;
    listener.serve(&stop, move |line| {
        if !quiet {
            complain(&line);
        }
    });
    Ok(0)
}

fn of_mix(args: &TrafficArgs, live: &mut LiveTraffic) -> Result<TrafficResult, CommandError> {
    let to = args.far()?;
    let mix = args.mix(&to)?;
    let duration = Some(args.duration.unwrap_or(DURATION));
    let job = near::TrafficJob { mix, duration, seed: args.seed, to };
    let stop = stop_flag()?;
    let mut result = near::run_near_side(&job, &stop, |sent, heard| live.see(sent, heard))?;
    result.warnings.extend(alone(args, &to));
    Ok(result)
}

/// Returns a warning if one family got all traffic although nobody asked for that.
fn alone(args: &TrafficArgs, to: &PerFamily<Option<SocketAddr>>) -> Option<Warning> {
    let missing = Family::BOTH.into_iter().find(|&family| to[family].is_none())?;
    let code = "single_family".to_owned();
    let message = format!("--to has no {missing} address: all traffic uses the other family");
    args.ipv6.is_none().then_some(Warning { code, message })
}

fn of_script(
    args: &TrafficArgs,
    path: &Path,
    live: &mut LiveTraffic,
) -> Result<TrafficResult, CommandError> {
    let file = path.display().to_string();
    let text = text_file::read_file(path)
        .map_err(|error| CommandError::Usage(format!("can't read '{file}': {error}")))?;
    let script = sixmark_traffic::parse_script(&text)
        .map_err(|wrong| CommandError::Usage(format!("{file}: {wrong}")))?;
    if script.flows.is_empty() && script.listening.is_empty() {
        let line = format!("{file} neither sends nor listens; add an ON or a LISTEN event");
        return Err(CommandError::Usage(line));
    }
    let stop = stop_flag()?;
    let (duration, seed) = (args.duration, args.seed);
    let job = script::ScriptJob { script, file, duration, seed };
    script::run_script(&job, &stop, |sent, heard| live.see(sent, heard))
}

/// The progress line on a terminal, repainted once per second.
struct LiveTraffic {
    shown: bool,
    /// How long it sends; `None` if that is not known.
    duration: Option<Duration>,
    began: Instant,
    last: Instant,
    bytes: [u64; 2],
}

impl LiveTraffic {
    fn new(shown: bool, duration: Option<Duration>) -> LiveTraffic {
        let now = Instant::now();
        LiveTraffic { shown, duration, began: now, last: now, bytes: [0, 0] }
    }

    fn see(&mut self, sent: &Counters, heard: &Counters) {
        let s = self.last.elapsed().as_secs_f64();
        if !self.shown || s < 1.0 {
            return;
        }
        let bytes = [sent.bytes(), heard.bytes()];
        let [out, inward] =
            [0, 1].map(|at| write_bit_rate((bytes[at] - self.bytes[at]) as f64 * 8.0 / s));
        let elapsed = elapsed_text(self.began.elapsed().as_secs(), self.duration);
        repaint(&format!("{elapsed}   sent {out}   received here {inward}   (payload)"));
        (self.last, self.bytes) = (Instant::now(), bytes);
    }

    fn clear(&self) {
        if self.shown {
            repaint("");
        }
    }
}

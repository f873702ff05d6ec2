//! JUnit XML, as Jenkins, GitLab and other systems show it: one test case per gate, and one that
//! tells whether anything could be measured.

use std::borrow::Cow;
use std::io;

use quick_xml::Writer;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::report::headline::ListHeadline;
use sixmark_check::check_result::CheckResult;
use sixmark_check::site_verdict::SiteVerdict;
use sixmark_compare::Comparison;
use sixmark_compare::comparison_result::ComparisonResult;
use sixmark_compare::deciding::margin_text;
use sixmark_compare::sheet::why::why_notes;
use sixmark_compare::text::interval_text;
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_eyes::clause::{ClauseFinding, ClauseState};
use sixmark_eyes::eyes_result::{CaseResult, EyesGateResult, EyesResult};
use sixmark_only6::only6_result::{Only6Result, ScenarioResult, ScenarioVerdict};
use sixmark_result::find::FindMax;
use sixmark_result::gate_result::GateResult;
use sixmark_result::measurement::Measurement;
use sixmark_result::result::RunResult;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_watch::Watched;
use sixmark_watch::watch_result::WatchResult;

/// The reason why a measurement that a signal ended counts as failed.
const INTERRUPTED: &str = "interrupted by a signal";

/// Returns the JUnit XML for the gates of `sixmark run`.
pub fn of_run(run: &RunResult, gates: &[GateResult]) -> String {
    let sides = run.families.iter().map(|(family, figures)| (family.to_string(), figures));
    let stopped = run.find_max.as_ref().and_then(FindMax::describe_stop);
    let measured = stopped.map_or_else(|| check_measured(run.ended, sides), Err);
    of_measurement(run, &ListHeadline::of_run(run), measured, gates)
}

/// Returns the JUnit XML for the gates of `sixmark watch`.
pub fn of_watch(watch: &WatchResult, gates: &[GateResult]) -> String {
    let measured = seen(watch.ended, &watch.watched);
    of_measurement(watch, &ListHeadline::of_watch(watch), measured, gates)
}

fn of_measurement(
    of: &dyn Measurement,
    headline: &ListHeadline,
    measured: Result<(), String>,
    gates: &[GateResult],
) -> String {
    let mut properties = properties(of.tool(), of.run().map(|run| run.seed), of.environment());
    properties.extend(not_comparable(of.not_same()));
    Suite {
        name: format!("sixmark {} {}", headline.kind.name(), headline.targets.join(" ")),
        started: of.started(),
        elapsed_s: of.elapsed_s(),
        properties,
        measured,
        before_gates: FAIL_IF,
        gates,
        warnings: of.warnings(),
    }
    .xml()
}

/// Returns the JUnit XML for the gates of `sixmark compare`.
pub fn of_comparison(result: &ComparisonResult) -> String {
    let (a, b) = (&result.sides.a, &result.sides.b);
    let settings = &result.comparison.settings;
    let mut properties = properties(&result.tool, Some(result.seed), &result.environment);
    for compared in &result.comparison.metrics {
        let verdict = compared.verdict.word().to_owned();
        properties.push((format!("verdict.{}", compared.metric), verdict));
        let interval = interval_text(compared, settings);
        properties.extend(interval.map(|said| (format!("interval.{}", compared.metric), said)));
    }
    let why = why_notes(result);
    properties.extend((!why.is_empty()).then(|| ("why".to_owned(), why.join(" "))));
    properties.extend(margins(&result.comparison));
    properties.extend(not_comparable(result.comparison.not_same()));
    let sides = [a, b].map(|side| (side.name.clone(), &side.figures));
    Suite {
        name: format!("sixmark compare {} with {}", a.name, b.name),
        started: &result.started,
        elapsed_s: result.elapsed_s,
        properties,
        measured: match result.describe_no_answers() {
            Some(why) => Err(why),
            None => check_measured(result.ended, sides),
        },
        before_gates: FAIL_IF,
        gates: &result.gates,
        warnings: &result.warnings,
    }
    .xml()
}

/// Returns the JUnit XML for the checks of `sixmark check`: a test case for each of `gates`.
pub fn of_check(result: &CheckResult, gates: &[GateResult]) -> String {
    let mut properties = properties(&result.tool, None, &result.environment);
    for site in &result.sites {
        properties.push((format!("verdict.{}", site.url), site.sentence.clone()));
    }
    let urls: Vec<&str> = result.sites.iter().map(|site| site.url.as_str()).collect();
    let unknown = result.sites.iter().find(|site| site.verdict == SiteVerdict::CantTell);
    Suite {
        name: format!("sixmark check {}", urls.join(" ")),
        started: &result.started,
        elapsed_s: result.elapsed_s,
        properties,
        measured: unknown.map_or(Ok(()), |site| Err(site.sentence.clone())),
        before_gates: FAIL_IF,
        gates,
        warnings: &[],
    }
    .xml()
}

/// Returns the JUnit XML of `sixmark eyes`: a test case for each case, each clause that was shown and each
/// gate. Only gates fail, and without gates the cases that are not survived and the clauses that are not met.
pub fn of_eyes(result: &EyesResult) -> String {
    let gates = eyes_cases(result);
    let started = |of: &CaseResult| of.starts.iter().any(|start| !start.is_empty());
    let measured = if result.cases.iter().any(started) {
        match result.ended {
            Ended::Complete => Ok(()),
            _ => Err("the measurement ended early".to_owned()),
        }
    } else {
        Err("the client sent no packet to the site or its name server".to_owned())
    };
    Suite {
        name: format!("sixmark eyes {}", result.command.join(" ")),
        started: &result.started,
        elapsed_s: result.elapsed_s,
        properties: properties(&result.tool, None, &result.environment),
        measured,
        before_gates: "",
        gates: &gates,
        warnings: &[],
    }
    .xml()
}

/// Returns a test case for each case, each clause and each gate, in the form of gates.
fn eyes_cases(result: &EyesResult) -> Vec<GateResult> {
    // Who says what must hold is content with it.
    let is_strict = result.gates.is_empty();
    let case = |of: &CaseResult| {
        let figures = &of.figures;
        GateResult {
            fail_if: format!("survives({})", of.case),
            failed: is_strict && figures.survived < figures.starts,
            because: format!("content in {} of {} starts", figures.survived, figures.starts),
        }
    };
    let clause = |of: &ClauseFinding| GateResult {
        fail_if: format!("met({})", of.clause),
        failed: is_strict && of.state == ClauseState::NotMet,
        because: format!("{} in {} of {} starts", of.state.word(), of.met, of.shown),
    };
    let gate = |of: &EyesGateResult| GateResult {
        fail_if: format!("--gate {}", of.gate),
        failed: of.failed,
        because: of.because.clone(),
    };
    let shown = result.clauses.iter().filter(|of| of.state != ClauseState::NotShown);
    let cases = result.cases.iter().map(case).chain(shown.map(clause));
    cases.chain(result.gates.iter().map(gate)).collect()
}

/// Returns the JUnit XML of `sixmark only6`: a test case for each scenario, which fails unless the program works.
pub fn of_only6(result: &Only6Result) -> String {
    let because = |name: &str| {
        let found = result.findings.iter().filter(|of| of.scenarios.iter().any(|of| of == name));
        let all: Vec<String> = found.map(|of| format!("{}: {}", of.code, of.evidence)).collect();
        all.join("; ")
    };
    let case = |of: &ScenarioResult| GateResult {
        fail_if: format!("works({})", of.name()),
        failed: of.verdict != ScenarioVerdict::Works,
        because: match because(&of.name()) {
            found if found.is_empty() => of.verdict.words().to_owned(),
            found => found,
        },
    };
    let gates: Vec<GateResult> = result.scenarios.iter().map(case).collect();
    let programs = &result.programs;
    let command = programs.client.as_ref().or(programs.server.as_ref());
    Suite {
        name: format!("sixmark only6 {}", command.map_or("", String::as_str)),
        started: &result.started,
        elapsed_s: result.elapsed_s,
        properties: properties(&result.tool, None, &result.environment),
        measured: match result.ended {
            Ended::Complete => Ok(()),
            _ => Err("the measurement ended early".to_owned()),
        },
        before_gates: "",
        gates: &gates,
        warnings: &[],
    }
    .xml()
}

/// A test suite. Each file has exactly one.
struct Suite<'a> {
    name: String,
    started: &'a str,
    elapsed_s: f64,
    properties: Vec<(String, String)>,
    /// An error states why nothing could be measured.
    measured: Result<(), String>,
    /// What comes before the condition of a gate in the name of its test case.
    before_gates: &'static str,
    gates: &'a [GateResult],
    warnings: &'a [Warning],
}

/// What comes before a condition that is a failure.
const FAIL_IF: &str = "fail if ";

/// Returns the suite's properties. `seed` is `None` for a watch, which draws no random numbers.
fn properties(tool: &Tool, seed: Option<u64>, environment: &Environment) -> Vec<(String, String)> {
    let property = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let version = property(&format!("{}.version", tool.name), &tool.version);
    let seed = seed.map(|seed| property("seed", &seed.to_string()));
    let machine = [property("kernel", &environment.kernel), property("cpu", &environment.cpu)];
    [version].into_iter().chain(seed).chain(machine).collect()
}

/// Returns the margins within which sides count as equivalent: of failures, which are shares, and of
/// all other metrics.
fn margins(of: &Comparison) -> Vec<(String, String)> {
    let failures = Metric::Quantity(Quantity::Failures);
    let others = of.metrics.iter().map(|of| of.metric).find(|metric| *metric != failures);
    let named = |name: &str, metric| (name.to_owned(), margin_text(metric, &of.settings));
    let of_failures = of.metrics.iter().any(|of| of.metric == failures).then_some(failures);
    let others = others.map(|metric| named("margin", metric));
    others.into_iter().chain(of_failures.map(|metric| named("margin.failures", metric))).collect()
}

/// Returns the property that states why the sides are not comparable. `None` if they are.
fn not_comparable(said: Option<&str>) -> Option<(String, String)> {
    said.map(|said| ("not_comparable".to_owned(), said.to_owned()))
}

/// Returns an error unless the measurement ran to its end and each side has a complete response
/// with an accepted status. The exit status follows the same rule.
fn check_measured<'a>(
    ended: Ended,
    sides: impl IntoIterator<Item = (String, &'a FamilyResult)>,
) -> Result<(), String> {
    let without: Vec<_> = sides.into_iter().filter(|(_, of)| of.accepted() == 0).collect();
    let (silent, errors): (Vec<_>, Vec<_>) =
        without.iter().partition(|(_, of)| of.requests.completed == 0);
    let names = |of: &[&(String, &FamilyResult)]| {
        of.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    };
    match ended {
        _ if !silent.is_empty() => Err(format!("no NORMAL response of {}", names(&silent))),
        _ if !errors.is_empty() => Err(format!("only errors of {}", names(&errors))),
        Ended::Complete => Ok(()),
        Ended::Interrupted => Err(INTERRUPTED.to_owned()),
        Ended::Hopeless => Err("no connection could be established".to_owned()),
    }
}

/// Returns an error unless the watch ran to its end and saw a connection. The exit status follows
/// the same rule. It is no failure if requests can't be seen.
fn seen(ended: Ended, watched: &Watched) -> Result<(), String> {
    let mut connections = watched.families.iter().map(|(_, of)| of.connections);
    match ended {
        Ended::Interrupted => Err(INTERRUPTED.to_owned()),
        _ if connections.all(|number| number == 0) => Err("no connection was seen".to_owned()),
        _ => Ok(()),
    }
}

impl Suite<'_> {
    fn xml(&self) -> String {
        let mut to = Writer::new_with_indent(Vec::new(), b' ', 2);
        // Writing to memory can't fail.
        let _ = self.write(&mut to);
        let mut xml = String::from_utf8(to.into_inner()).unwrap_or_default();
        xml.push('\n');
        xml
    }

    fn write(&self, to: &mut Writer<Vec<u8>>) -> io::Result<()> {
        to.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let all = to.create_element("testsuites").with_attribute(("name", "sixmark"));
        all.with_attributes(self.counts()).write_inner_content(|to| {
            let name = legal(&self.name);
            let suite = to.create_element("testsuite").with_attribute(("name", name.as_str()));
            let suite =
                suite.with_attribute(("timestamp", legal(timestamp(self.started)).as_str()));
            suite.with_attributes(self.counts()).write_inner_content(|to| self.inner(to))?;
            Ok(())
        })?;
        Ok(())
    }

    fn inner(&self, to: &mut Writer<Vec<u8>>) -> io::Result<()> {
        self.properties(to)?;
        case(to, "could be measured", self.elapsed_s, self.measured.as_ref().err())?;
        for gate in self.gates {
            let failure = gate.failed.then_some(&gate.because);
            case(to, &format!("{}{}", self.before_gates, gate.fail_if), 0.0, failure)?;
        }
        self.output(to)
    }

    fn counts(&self) -> [Attribute<'static>; 5] {
        let failures = self.gates.iter().filter(|gate| gate.failed).count();
        let failures = failures + usize::from(self.measured.is_err());
        [
            ("tests", (self.gates.len() + 1).to_string()),
            ("failures", failures.to_string()),
            ("errors", "0".to_owned()),
            ("skipped", "0".to_owned()),
            ("time", write_seconds(self.elapsed_s)),
        ]
        .map(|(name, value)| Attribute::from((name, Cow::Owned(value))))
    }

    fn properties(&self, to: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let all = to.create_element("properties");
        all.write_inner_content(|to| {
            for (name, value) in &self.properties {
                let (name, value) = (legal(name), legal(value));
                let property = to.create_element("property");
                let property = property.with_attribute(("name", name.as_str()));
                property.with_attribute(("value", value.as_str())).write_empty()?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Writes `system-out`: the reasons of the gates that passed, and the warnings.
    fn output(&self, to: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let passed = self.gates.iter().filter(|gate| !gate.failed);
        let passed = passed.map(|gate| format!("passed: {}\n", gate.because));
        let doubts = self.warnings.iter().map(|doubt| format!("warning: {}\n", doubt.message));
        let text: String = passed.chain(doubts).collect();
        if !text.is_empty() {
            let text = legal(&text);
            to.create_element("system-out").write_text_content(BytesText::new(&text))?;
        }
        Ok(())
    }
}

/// Writes a test case. `failure` is the reason if it failed.
fn case(
    to: &mut Writer<Vec<u8>>,
    name: &str,
    time_s: f64,
    failure: Option<&String>,
) -> io::Result<()> {
    let (name, time) = (legal(name), write_seconds(time_s));
    let case = to.create_element("testcase").with_attribute(("classname", "sixmark"));
    let case = case.with_attribute(("name", name.as_str())).with_attribute(("time", time.as_str()));
    let Some(why) = failure.map(|why| legal(why)) else { return case.write_empty().map(|_| ()) };
    case.write_inner_content(|to| {
        let failure = to.create_element("failure").with_attribute(("message", why.as_str()));
        let failure = failure.with_attribute(("type", "gate"));
        failure.write_text_content(BytesText::new(&why)).map(|_| ())
    })?;
    Ok(())
}

fn write_seconds(seconds: f64) -> String {
    format!("{:.3}", if seconds.is_finite() { seconds.max(0.0) } else { 0.0 })
}

/// Cuts the fractions of a second and the zone off a timestamp. JUnit has neither (`xs:dateTime`
/// without them); sixmark's timestamps are in UTC.
fn timestamp(rfc3339: &str) -> &str {
    rfc3339.get(.."2026-01-02T03:04:05".len()).unwrap_or(rfc3339)
}

/// Replaces the characters that XML can't represent even when escaped.
fn legal(text: &str) -> String {
    text.chars().map(|c| if allowed(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Returns true if the production Char of XML 1.0 allows the character.
fn allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::*;
    use sixmark_compare::fixture::comparison_result;
    use sixmark_result::fixture::{run, silent};
    use sixmark_result::result::RunResult;

    fn gate(failed: bool, because: &str) -> GateResult {
        GateResult {
            fail_if: "a.sent < 1 && b.goodput > 1MB/s".into(),
            failed,
            because: because.into(),
        }
    }

    fn cases<'a>(document: &'a Document<'_>) -> Vec<Node<'a, 'a>> {
        document.descendants().filter(|node| node.has_tag_name("testcase")).collect()
    }

    /// Returns the reason why a case failed: first the attribute, then the text.
    fn failure<'a>(case: &Node<'a, 'a>) -> Option<(&'a str, &'a str)> {
        let failure = case.children().find(|node| node.has_tag_name("failure"))?;
        Some((failure.attribute("message")?, failure.text()?))
    }

    #[test]
    fn each_gate_is_a_test_case() {
        let gates = [gate(false, "b.goodput is 3 MB/s"), gate(true, "a.sent is 0")];
        let xml = of_run(&run(), &gates);
        let document = Document::parse(&xml).unwrap();
        let cases = cases(&document);
        let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
        let fail_if = "fail if a.sent < 1 && b.goodput > 1MB/s";
        assert_eq!(names, ["could be measured", fail_if, fail_if]);
        let failures: Vec<_> = cases.iter().map(failure).collect();
        assert_eq!(failures, [None, None, Some(("a.sent is 0", "a.sent is 0"))]);
        for name in ["testsuites", "testsuite"] {
            let node = document.descendants().find(|node| node.has_tag_name(name)).unwrap();
            let counts = ["tests", "failures", "errors", "time"].map(|key| node.attribute(key));
            assert_eq!(counts, ["3", "1", "0", "1.000"].map(Some), "{name}");
        }
        let suite = document.root_element().first_element_child().unwrap();
        assert_eq!(suite.attribute("name"), Some("sixmark run http://localhost/?a&b"));
        assert_eq!(suite.attribute("timestamp"), Some("2026-01-02T03:04:05"));
        assert!(xml.contains("<system-out>passed: b.goodput is 3 MB/s\n</system-out>"), "{xml}");
    }

    #[test]
    fn a_comparison_has_its_verdicts_among_the_properties() {
        let mut result = comparison_result();
        result.gates = vec![gate(true, "response.p50 is worse")];
        let xml = of_comparison(&result);
        let document = Document::parse(&xml).unwrap();
        let value = |name: &str| {
            let mut nodes = document.descendants();
            let found = nodes.find(|node| node.attribute("name") == Some(name));
            found.and_then(|node| node.attribute("value"))
        };
        assert_eq!(value("verdict.response.p50"), Some("worse"));
        assert_eq!((value("seed"), value("sixmark.version")), (Some("7"), Some("0.1.0")));
        assert_eq!(cases(&document).iter().filter_map(failure).count(), 1);
        let suite = document.root_element().first_element_child().unwrap();
        assert_eq!(suite.attribute("name"), Some("sixmark compare ipv6 with ipv4"));
    }

    #[test]
    fn reports_a_failed_measurement_as_a_failure_even_without_gates() {
        let mut run = run();
        let first = |run: &RunResult| {
            let xml = of_run(run, &[]);
            let document = Document::parse(&xml).unwrap();
            failure(&cases(&document)[0]).map(|(message, _)| message.to_owned())
        };
        assert_eq!(first(&run), None);
        run.ended = Ended::Interrupted;
        assert_eq!(first(&run).as_deref(), Some("interrupted by a signal"));
        run.families.ipv4 = Some(silent());
        assert_eq!(first(&run).as_deref(), Some("no NORMAL response of IPv4"));
        run.families.ipv6 = Some(silent());
        assert_eq!(first(&run).as_deref(), Some("no NORMAL response of IPv6, IPv4"));
    }

    #[test]
    fn writes_any_text_as_well_formed_xml_replacing_forbidden_characters() {
        let hard = "<a href=\"x\">&amp;'\t\n\r ]]> ü 🦀 --";
        let all: String = ('\0'..='\u{1ff}').chain('\u{fff0}'..='\u{1000f}').collect();
        let kept: String = all.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect();
        for (text, expected) in [(hard, hard), (all.as_str(), kept.as_str())] {
            let mut run = run();
            run.warnings = vec![Warning { code: "x".into(), message: text.into() }];
            run.plan.targets[0].url = text.to_owned();
            let xml = of_run(&run, &[gate(true, text)]);
            let document = Document::parse(&xml).unwrap();
            assert_eq!(failure(&cases(&document)[1]), Some((expected, expected)));
            let suite = document.root_element().first_element_child().unwrap();
            assert_eq!(suite.attribute("name"), Some(format!("sixmark run {expected}").as_str()));
        }
    }

    #[test]
    fn writes_negative_and_non_finite_times_as_zero() {
        assert_eq!(
            [0.0, 1.25, -1.0, f64::NAN, f64::INFINITY].map(write_seconds),
            ["0.000", "1.250", "0.000", "0.000", "0.000"]
        );
    }
}

//! What is to be said of starts that show little of a client.

use sixmark_document::provenance::{Ended, Warning, warning};
use sixmark_units::quantity::counted;

use crate::client_end::ClientEnd;
use crate::client_trace::{CaseTraces, ClientTrace, SeenElsewhere};

/// Returns why a start has no attempt to connect to the site, as words that follow the client; `None` if it
/// has one.
pub fn silence_note(trace: &ClientTrace) -> Option<String> {
    if !trace.attempts.is_empty() {
        return None;
    }
    let mut note = match &trace.end {
        Some(ClientEnd { status: None, signal: None, .. }) => {
            "did not try to connect until its time was over".to_owned()
        }
        Some(end) => format!("{} before it tried to connect", end.words()),
        None => "did not try to connect".to_owned(),
    };
    if let Some(elsewhere) = trace.elsewhere.first() {
        note += &format!(", and sent packets to {}", elsewhere_words(elsewhere));
    }
    if let Some(line) = trace.end.as_ref().and_then(|end| end.last_line.as_ref()) {
        note += &format!(" ({line})");
    }
    Some(note)
}

/// Returns how a client ended, with the last line that it wrote.
fn describe_end(end: &ClientEnd) -> String {
    let line = end.last_line.as_ref().map(|line| format!(" ({line})"));
    end.words() + &line.unwrap_or_default()
}

fn elsewhere_words(of: &SeenElsewhere) -> String {
    let transport = if of.is_udp { "UDP" } else { "TCP" };
    format!("{}, port {} ({transport})", of.address, of.port)
}

/// Returns what is to be said of the starts in all cases.
pub fn client_warnings(traces: &CaseTraces) -> Vec<Warning> {
    let all = || traces.iter().flat_map(|(case, starts)| starts.iter().map(move |of| (case, of)));
    let starts = all().count() as u64;
    let mut warnings = Vec::new();
    let silent: Vec<_> = all().filter_map(|(case, of)| Some((case, silence_note(of)?))).collect();
    if let Some((case, note)) = silent.first() {
        let count = of_starts(silent.len(), starts);
        warnings.push(warning(
            "client_silent",
            format!(
                "in {count} the client did not try to connect to the site; in {case} it {note}"
            ),
        ));
    }
    let without: Vec<_> = all().filter(|(_, of)| of.is_answered_in_vain()).collect();
    if let Some((case, first)) = without.first() {
        let count = of_starts(without.len(), starts);
        let end =
            first.end.as_ref().map_or("was watched until its time was over".into(), describe_end);
        warnings.push(warning(
            "client_without_content",
            format!("in {count} the site answered and the content did not arrive; in {case} the client {end}"),
        ));
    }
    let elsewhere: Vec<_> =
        all().filter_map(|(case, of)| Some((case, of.elsewhere.first()?))).collect();
    if let Some((case, first)) = elsewhere.first() {
        let (count, place) = (of_starts(elsewhere.len(), starts), elsewhere_words(first));
        warnings.push(warning(
            "client_elsewhere",
            format!("in {count} the client sent packets elsewhere; in {case} to {place}"),
        ));
    }
    let left: u32 = all().filter_map(|(_, of)| Some(of.end.as_ref()?.processes_left)).sum();
    if left > 0 {
        let left = counted(left.into(), "process", "processes");
        warnings.push(warning(
            "client_left_processes",
            format!("the client left {left} when it had ended; they were ended too"),
        ));
    }
    let lossy = all().filter(|(_, of)| of.lost_packets > 0).count();
    if lossy > 0 {
        let count = of_starts(lossy, starts);
        warnings.push(warning(
            "capture_dropped",
            format!("in {count} the capture lost packets; no clause is judged by them"),
        ));
    }
    let uncounted = all().filter(|(_, of)| of.uncounted > 0).count();
    if uncounted > 0 {
        let count = of_starts(uncounted, starts);
        warnings.push(warning(
            "attempts_uncounted",
            format!("in {count} the client began more attempts than are kept"),
        ));
    }
    warnings
}

/// Returns what is to be said if fewer starts were seen than were asked for: because of a failure, of a signal, or
/// because the first one asked nothing about the site.
pub fn warn_of_early_end(
    ended: Ended,
    failure: Option<String>,
    seen: usize,
    asked: usize,
) -> Option<Warning> {
    let count = of_starts(seen, asked as u64);
    match ended {
        Ended::Complete => None,
        Ended::Interrupted => Some(warning(
            "interrupted",
            format!("the client was watched in {count}: a signal ended the command"),
        )),
        Ended::Hopeless => {
            let why = failure
                .unwrap_or_else(|| "it asked nothing about the site in the first one".into());
            Some(warning("ended_early", format!("the client was watched in {count}: {why}")))
        }
    }
}

fn of_starts(count: usize, all: u64) -> String {
    format!("{count} of {}", counted(all, "start", "starts"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_trace::make_attempt;

    fn ended(end: ClientEnd) -> ClientTrace {
        ClientTrace { end: Some(end), ..ClientTrace::default() }
    }

    #[test]
    fn says_how_a_silent_client_ended() {
        let said = Some("curl: (6) no host".to_owned());
        let failed = ended(ClientEnd { status: Some(6), last_line: said, ..ClientEnd::default() });
        let note = silence_note(&failed).unwrap();
        assert_eq!(note, "ended with status 6 before it tried to connect (curl: (6) no host)");
        let killed = ended(ClientEnd { signal: Some(9), ..ClientEnd::default() });
        assert_eq!(
            silence_note(&killed).unwrap(),
            "was ended by signal 9 before it tried to connect"
        );
        let mut hangs = ended(ClientEnd::default());
        hangs.elsewhere.push(SeenElsewhere {
            address: "192.0.2.9".parse().unwrap(),
            port: 53,
            is_udp: true,
        });
        assert_eq!(
            silence_note(&hangs).unwrap(),
            "did not try to connect until its time was over, and sent packets to 192.0.2.9, port 53 (UDP)"
        );
    }

    #[test]
    fn says_that_a_client_rejected_what_the_site_answered() {
        let mut rejects = ended(ClientEnd {
            status: Some(60),
            last_line: Some("no such issuer".to_owned()),
            ..ClientEnd::default()
        });
        rejects.attempts.push(make_attempt("2001:db8::1", 0.0));
        rejects.attempts[0].heard_ms = Some(8.0);
        let traces = CaseTraces::from([("healthy".to_owned(), vec![rejects])]);
        let [only] = &client_warnings(&traces)[..] else { panic!("one warning") };
        assert_eq!(
            (only.code.as_str(), only.message.as_str()),
            (
                "client_without_content",
                "in 1 of 1 start the site answered and the content did not arrive; in healthy the client \
                 ended with status 60 (no such issuer)"
            )
        );
    }

    #[test]
    fn warns_of_all_that_was_unusual() {
        let mut odd = ended(ClientEnd { status: Some(1), ..ClientEnd::default() });
        odd.uncounted = 3;
        odd.end.as_mut().unwrap().processes_left = 2;
        odd.lost_packets = 1;
        let traces = CaseTraces::from([("healthy".to_owned(), vec![odd])]);
        let codes: Vec<_> = client_warnings(&traces).into_iter().map(|of| of.code).collect();
        assert_eq!(
            codes,
            ["client_silent", "client_left_processes", "capture_dropped", "attempts_uncounted"]
        );
        assert!(client_warnings(&CaseTraces::new()).is_empty());
    }
}

//! Whatever describes a study, and whatever other clients say: nothing panics, what is wrong is told in
//! single lines of the file, and a study that is read has cells that are commands.
//!
//! The first byte of the input chooses what the rest is read as.

use std::time::Duration;

use sixmark_analysis::outputs::{claims, outputs, published_claims};
use sixmark_clients::client::{Blocks, Client, Job, ProgramOutput};
use sixmark_design::form::Form;
use sixmark_design::spec::cells::{cells, schedule};
use sixmark_design::spec::command_line::{CellTarget, words};
use sixmark_design::spec::{ReadContext, parse_study};
use sixmark_units::family::Family;

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let [kind, rest @ ..] = input else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    match Client::ALL.get(usize::from(*kind)) {
        Some(&client) => answer(client, text),
        None => study(text),
    }
}

/// The published figures stand behind the first NUL.
fn study(text: &str) {
    let (text, published) = text.split_once('\0').unwrap_or((text, ""));
    let short = Form { quick: true, in_lab: true, ..Form::default() };
    for form in [Form::default(), short, Form { full: true, ..Form::default() }] {
        let mut open = |_: &str| Ok(published.to_owned());
        let has_option = |name: &str| name.len() > 3;
        match parse_study(text, &mut ReadContext { form, has_option: &has_option, open: &mut open })
        {
            Ok(study) => {
                let all = cells(&study);
                assert!(!all.is_empty());
                drop(published_claims(&study));
                // Thousands of them tell nothing more.
                if all.len() < 200 {
                    assert_eq!(schedule(&study, all.len(), 1).first().map(|(_, n)| *n), Some(1));
                    for cell in &all {
                        let urls = |_: &str| Some(vec!["http://[::1]:1".to_owned()]);
                        if let Ok(place) = CellTarget::new(&study, cell, urls) {
                            drop(words(&study, cell, &place, None, |_| None));
                        }
                    }
                    drop(outputs(&study, &[]));
                    drop(claims(&study, &[]));
                }
            }
            Err(wrongs) => {
                assert!(!wrongs.is_empty());
                for wrong in wrongs {
                    let line = wrong.of_file("f");
                    assert!(!line.contains('\n'), "{line:?}");
                    assert!(
                        wrong.file.is_some() || wrong.line <= text.lines().count() + 1,
                        "{line}"
                    );
                }
            }
        }
    }
}

/// Standard error stands behind the first NUL.
fn answer(client: Client, text: &str) {
    let (out, err) = text.split_once('\0').unwrap_or((text, ""));
    let job = Job {
        url: "http://[::1]/".to_owned(),
        family: Family::Ipv6,
        count: Some(1),
        duration: None,
        connections: 1,
        streams: 1,
        threads: 1,
        timeout: Duration::from_secs(1),
        keep_alive: true,
        protocol: None,
        headers: Vec::new(),
        insecure: false,
        save: false,
        save_to: None,
        blocks: Blocks::default(),
    };
    if let Ok(answer) = client.read(&job, &ProgramOutput { out, err, wall_s: 1.0, cpu_s: 1.0 }) {
        assert!(answer.figures.values().all(|value| !value.is_nan()), "{answer:?}");
    }
}

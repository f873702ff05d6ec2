//! What every transport between a controller and its agents must do, as one suite.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use sixmark_fleet::engine::transport::{
    AgentSide, ControllerSide, Handler, LONGEST_MESSAGE, PublishedRecord, RecordSource,
    TransportError,
};
use sixmark_fleet::names::{AgentName, LoadName};

use crate::DEADLINE;

/// A patience that ends without an answer, where none is expected.
const SHORT: Duration = Duration::from_millis(200);
/// The interval between two checks of a condition that cannot be waited for.
const LOOK: Duration = Duration::from_millis(20);

/// Makes the side of an agent of this name.
pub type AgentMaker<'a> = &'a (dyn Fn(&str) -> Box<dyn AgentSide> + Sync);

/// Runs the whole suite. No other agents may be connected.
pub fn conform(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    one_agent_is_asked(controller, make);
    all_agents_are_asked(controller, make);
    announcements_arrive_in_order(controller, make);
    a_later_agent_is_found(controller, make);
    records_are_kept(controller, make);
    a_source_waits_for_records(controller, make);
    only_one_has_the_lease(controller);
    notes_are_kept(controller);
    a_load_is_forgotten(controller, make);
    long_messages_are_refused(controller, make);
}

/// Returns a name.
pub fn agent_name(text: &str) -> AgentName {
    text.parse().unwrap()
}

/// Returns a name.
pub fn load_name(text: &str) -> LoadName {
    text.parse().unwrap()
}

/// Returns a record with a number as its content.
pub fn record(load: &str, agent: &str, number: usize) -> PublishedRecord {
    PublishedRecord {
        load: load_name(load),
        agent: agent_name(agent),
        id: format!("{load}.{agent}.{number}"),
        content: format!("{agent} {number}").into_bytes(),
    }
}

/// Returns all records that a source has by now.
pub fn drain(source: &mut dyn RecordSource, count: usize) -> Vec<String> {
    let mut records = Vec::new();
    while records.len() < count {
        match source.next(DEADLINE).unwrap() {
            Some(record) => {
                let text = String::from_utf8(record.content).unwrap();
                assert!(text.starts_with(record.agent.as_str()), "{text} of {}", record.agent);
                records.push(text);
            }
            None => panic!("{} of {count} records came: {records:?}", records.len()),
        }
    }
    records
}

/// A handler that answers with its name and the question.
pub fn echo(name: &str) -> Handler {
    let name = name.to_owned();
    Arc::new(move |question| Some([name.as_bytes(), b" ", question].concat()))
}

/// A handler that answers nothing and hands on what it gets.
fn listener() -> (Handler, Receiver<Vec<u8>>) {
    let (sender, receiver) = channel();
    let sender = Mutex::new(sender);
    let handler: Handler = Arc::new(move |message| {
        // The test may have ended.
        let _ = sender.lock().unwrap().send(message.to_owned());
        None
    });
    (handler, receiver)
}

fn serve(make: AgentMaker<'_>, name: &str) -> Box<dyn AgentSide> {
    let agent = make(name);
    agent.serve(&agent_name(name), echo(name)).unwrap();
    agent
}

fn is_silent<T: std::fmt::Debug>(result: Result<T, TransportError>) -> bool {
    match result {
        Err(TransportError::Silent(line)) => !line.contains('\n'),
        other => panic!("{other:?}"),
    }
}

fn one_agent_is_asked(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    let (a, _b) = (serve(make, "a"), serve(make, "b"));
    for name in ["a", "b", "a"] {
        let answer = controller.ask(&agent_name(name), b"who", DEADLINE).unwrap();
        assert_eq!(answer, format!("{name} who").into_bytes());
    }
    assert!(is_silent(controller.ask(&agent_name("c"), b"who", SHORT)));
    drop(a);
    assert!(is_silent(controller.ask(&agent_name("a"), b"who", SHORT)));
    let (handler, heard) = listener();
    let mute = make("mute");
    mute.serve(&agent_name("mute"), handler).unwrap();
    assert!(is_silent(controller.ask(&agent_name("mute"), b"who", SHORT)));
    assert_eq!(heard.recv_timeout(DEADLINE).unwrap(), b"who");
}

fn all_agents_are_asked(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    assert_eq!(controller.ask_all(b"?", None, SHORT), Ok(Vec::new()));
    let _agents = ["a", "b", "c"].map(|name| serve(make, name));
    let sorted = |expected: Option<usize>, patience: Duration| {
        let answers = controller.ask_all(b"?", expected, patience).unwrap().into_iter();
        let mut contents: Vec<Vec<u8>> = answers
            .map(|answer| {
                assert!(answer.content.starts_with(answer.agent.as_str().as_bytes()));
                answer.content
            })
            .collect();
        contents.sort();
        contents
    };
    let all: Vec<Vec<u8>> = [b"a ?", b"b ?", b"c ?"].iter().map(|text| text.to_vec()).collect();
    assert_eq!(sorted(Some(3), DEADLINE), all);
    assert_eq!(sorted(Some(2), DEADLINE).len(), 2);
    // More than there are, and no number: it ends by itself.
    assert!(sorted(Some(4), Duration::from_secs(2)).len() <= 3);
    let patience = Instant::now();
    let answers = sorted(None, SHORT);
    assert!(answers.iter().all(|answer| all.contains(answer)) && patience.elapsed() >= SHORT);
}

fn announcements_arrive_in_order(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    controller.announce(b"nobody hears this").unwrap();
    let heard: Vec<_> = ["a", "b"]
        .map(|name| {
            let (handler, heard) = listener();
            let agent = make(name);
            agent.serve(&agent_name(name), handler).unwrap();
            (agent, heard)
        })
        .into();
    for number in 0..100_u8 {
        controller.announce(&[number]).unwrap();
    }
    for (_, heard) in &heard {
        for number in 0..100_u8 {
            assert_eq!(heard.recv_timeout(DEADLINE).unwrap(), [number]);
        }
    }
}

fn a_later_agent_is_found(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    scope(|scope| {
        let asked = scope.spawn(|| controller.ask(&agent_name("late"), b"yet", DEADLINE));
        // It may be asked before or after it is there: both must give an answer.
        let _agent = serve(make, "late");
        assert_eq!(asked.join().unwrap().unwrap(), b"late yet");
    });
}

fn records_are_kept(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    const COUNT: usize = 50;
    let load = load_name("kept");
    scope(|scope| {
        for name in ["a", "b"] {
            scope.spawn(move || {
                let agent = make(name);
                for number in 0..COUNT {
                    agent.publish(&record("kept", name, number), DEADLINE).unwrap();
                    // The same once more, as after an acknowledgement that was lost.
                    if number % 7 == 0 {
                        agent.publish(&record("kept", name, number), DEADLINE).unwrap();
                    }
                }
                agent.publish(&record("other", name, 0), DEADLINE).unwrap();
            });
        }
    });
    // Nobody was there to read them; a second source begins at the first as well.
    for _ in 0..2 {
        let mut source = controller.records(&load).unwrap();
        let records = drain(&mut *source, 2 * COUNT);
        for name in ["a", "b"] {
            let own = records.iter().filter(|record| record.starts_with(name));
            let expected: Vec<String> =
                (0..COUNT).map(|number| format!("{name} {number}")).collect();
            assert!(own.eq(&expected), "{records:?}");
        }
        assert_eq!(source.next(SHORT), Ok(None));
    }
}

fn a_source_waits_for_records(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    let agent = make("a");
    let mut source = controller.records(&load_name("later")).unwrap();
    assert_eq!(source.next(Duration::ZERO), Ok(None));
    for number in 0..3 {
        scope(|scope| {
            let waiting = scope.spawn(|| source.next(DEADLINE));
            agent.publish(&record("later", "a", number), DEADLINE).unwrap();
            let content = waiting.join().unwrap().unwrap().unwrap().content;
            assert_eq!(content, record("later", "a", number).content);
        });
    }
    assert_eq!(source.next(SHORT), Ok(None));
}

fn only_one_has_the_lease(controller: &dyn ControllerSide) {
    let long = Duration::from_secs(1000);
    assert_eq!(controller.take_lease("first", long), Ok(Ok(())));
    assert_eq!(controller.take_lease("first", long), Ok(Ok(())));
    assert_eq!(controller.take_lease("second", long), Ok(Err("first".to_owned())));
    controller.give_up_lease("second").unwrap();
    assert_eq!(controller.take_lease("second", long), Ok(Err("first".to_owned())));
    controller.give_up_lease("first").unwrap();
    controller.give_up_lease("first").unwrap();

    let short = Duration::from_secs(2);
    assert_eq!(controller.take_lease("second", short), Ok(Ok(())));
    let taken = Instant::now();
    assert_eq!(controller.take_lease("third", long), Ok(Err("second".to_owned())));
    // The length of the first lease counts.
    assert_eq!(controller.take_lease("second", long), Ok(Ok(())));
    let winners: Vec<bool> = scope(|scope| {
        let take = |name| move || wait_for_lease(controller, name, taken + DEADLINE);
        let both = ["third", "fourth"].map(|name| scope.spawn(take(name)));
        both.map(|one| one.join().unwrap()).into()
    });
    assert!(taken.elapsed() >= short, "the lease was taken over before it had ended");
    assert_eq!(winners.iter().filter(|won| **won).count(), 1, "both have the lease, or none");
    for name in ["third", "fourth"] {
        controller.give_up_lease(name).unwrap();
    }
}

/// Waits until `name` has the lease, or another waiter has it.
fn wait_for_lease(controller: &dyn ControllerSide, name: &str, end: Instant) -> bool {
    loop {
        match controller.take_lease(name, Duration::from_secs(1000)).unwrap() {
            Ok(()) => return true,
            Err(holder) if holder != "second" => return false,
            Err(_) => assert!(Instant::now() < end, "the lease does not end"),
        }
        sleep(LOOK);
    }
}

fn notes_are_kept(controller: &dyn ControllerSide) {
    let (one, two) = (load_name("one"), load_name("two"));
    assert_eq!(controller.note(&one), Ok(None));
    for content in [&b"first"[..], b"", b"last"] {
        controller.keep_note(&one, content).unwrap();
        assert_eq!(controller.note(&one), Ok(Some(content.to_owned())));
    }
    controller.keep_note(&two, b"other").unwrap();
    let mut loads = controller.loads().unwrap();
    loads.sort();
    assert_eq!(loads, [one.clone(), two.clone()]);
    controller.forget(&one).unwrap();
    assert_eq!((controller.note(&one), controller.loads()), (Ok(None), Ok(vec![two.clone()])));
    controller.forget(&two).unwrap();
    assert_eq!(controller.loads(), Ok(Vec::new()));
}

fn a_load_is_forgotten(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    let agent = make("a");
    for load in ["gone", "stays"] {
        agent.publish(&record(load, "a", 0), DEADLINE).unwrap();
    }
    controller.forget(&load_name("gone")).unwrap();
    agent.publish(&record("gone", "a", 1), DEADLINE).unwrap();
    assert_eq!(drain(&mut *controller.records(&load_name("gone")).unwrap(), 1), ["a 1"]);
    assert_eq!(drain(&mut *controller.records(&load_name("stays")).unwrap(), 1), ["a 0"]);
}

fn long_messages_are_refused(controller: &dyn ControllerSide, make: AgentMaker<'_>) {
    let refused = |result: Result<(), TransportError>| match result {
        Err(TransportError::Refused(line)) => assert!(line.contains("is too long"), "{line}"),
        other => panic!("{other:?}"),
    };
    let long = vec![b'x'; LONGEST_MESSAGE + 1];
    let agent = serve(make, "long");
    refused(
        agent.publish(
            &PublishedRecord { content: long.clone(), ..record("l", "long", 0) },
            DEADLINE,
        ),
    );
    refused(controller.ask(&agent_name("long"), &long, DEADLINE).map(drop));
    refused(controller.ask_all(&long, None, DEADLINE).map(drop));
    refused(controller.announce(&long));
    refused(controller.keep_note(&load_name("l"), &long));
    // The answer is five bytes longer.
    refused(controller.ask(&agent_name("long"), &long[5..], DEADLINE).map(drop));
    let all_but = &long[4096..];
    assert_eq!(
        controller.ask(&agent_name("long"), all_but, DEADLINE).unwrap().len(),
        all_but.len() + 5
    );
    let content = all_but.to_owned();
    agent.publish(&PublishedRecord { content, ..record("l", "long", 1) }, DEADLINE).unwrap();
    let mut source = controller.records(&load_name("l")).unwrap();
    assert_eq!(source.next(DEADLINE).unwrap().unwrap().content.len(), all_but.len());
    controller.forget(&load_name("l")).unwrap();
}

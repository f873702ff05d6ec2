//! The scenes of `conformance`, simulated.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use libc::{ECONNREFUSED, ECONNRESET};
use sixmark_sys::driver::{ReceiveStamps, SocketRoute};
use sixmark_units::family::Family;

use super::driver::Simulated;
use super::random::Random;
use super::script::{Dial, MILLI, Passed, Reply, Script, Step, Take};
use super::stage::{Checker, Scene, Stage};
use super::world::{Rules, World};

pub(crate) struct InSimulation {
    driver: Simulated,
    way: SocketRoute,
}

impl Stage for InSimulation {
    type Driver = Simulated;

    fn set(scene: Scene, family: Family) -> InSimulation {
        let dial = move |way: &SocketRoute, random: &mut Random| match scene {
            Scene::Refuses => Dial::Fails { after: random.below(2), errno: ECONNREFUSED },
            _ => Dial::connects(way, random.below(2)),
        };
        let rules = Rules {
            most_in_flight: 1,
            most_open: 1,
            most_waits: 1_000,
            cost: 1,
            drops: 50,
            stop: Arc::new(AtomicBool::new(false)),
            stop_at: u64::MAX,
            pause: None,
            late: 0,
        };
        let script = Script::new(dial, move |_, _| reply(scene));
        let script = if scene == Scene::Checks { script.seeing(check()) } else { script };
        let world = Rc::new(RefCell::new(World::new(script, Random::new(0), MILLI, rules)));
        let to = match family {
            Family::Ipv6 => "[fd00::1]:80",
            Family::Ipv4 => "192.0.2.1:80",
        };
        let way = SocketRoute {
            to: to.parse().unwrap(),
            from: None,
            no_delay: false,
            lasting: true,
            ask_handshake: true,
            stamps: ReceiveStamps::Absent,
            datagrams: false,
        };
        InSimulation { driver: Simulated::new(&world), way }
    }

    fn parts(&mut self) -> (&mut Simulated, SocketRoute) {
        (&mut self.driver, self.way)
    }

    fn go_on(&mut self) {}
}

/// Answers the ends of pieces. Every hundredth pass finds no room at first.
fn check() -> impl FnMut(&Passed, &mut Random) -> Reply {
    let (mut checkers, mut passes) = (BTreeMap::new(), 0);
    move |passed, _| {
        let checker: &mut Checker = checkers.entry(passed.connection).or_default();
        let ends = checker.check(&passed.bytes).unwrap_or(0);
        passes += 1;
        let reply = match passes % 100 {
            0 => Reply::of(MILLI, Step::Sent).taken(Take::Later),
            _ => Reply::no_response(),
        };
        (0..ends).fold(reply, |reply, _| reply.then(1, Step::Bytes(vec![b'x'])))
    }
}

fn reply(scene: Scene) -> Reply {
    match scene {
        Scene::Refuses => unreachable!("nothing is connected"),
        Scene::Checks => unreachable!("nothing is sent but by passes"),
        Scene::Closes => Reply::of(MILLI, Step::Fin),
        Scene::Resets => Reply::of(MILLI, Step::Error(ECONNRESET)),
        Scene::Objects => Reply {
            take: Take::Later,
            steps: vec![(MILLI, Step::Bytes(vec![b'x'; 45])), (MILLI, Step::Error(ECONNRESET))],
        },
        Scene::BreaksOff => Reply {
            take: Take::Whole,
            steps: vec![(MILLI, Step::Bytes(vec![b'x'; 45])), (0, Step::Error(ECONNRESET))],
        },
        Scene::Hesitates => Reply::of(MILLI, Step::Sent).taken(Take::Later),
        Scene::Answers(size) => {
            let (first, rest) = (vec![b'x'; size / 2], vec![b'x'; size - size / 2]);
            let early = (!first.is_empty()).then_some((MILLI, Step::Bytes(first)));
            let steps = early.into_iter().chain([(MILLI, Step::LastBytes(rest))]).collect();
            Reply { take: Take::Whole, steps }
        }
    }
}

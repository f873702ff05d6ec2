//! The agents of a fleet: who is there, and who may take part.

use std::time::{Duration, Instant};

use sixmark_document::provenance::Warning;
use sixmark_sys::command_error::CommandError;

use crate::engine::transport::ControllerSide;
use crate::messages::{AgentAnswer, AgentCard, AskedOfAgent, AskedOfAll, FromAgent, PROTOCOL};
use crate::names::AgentName;
use crate::reason::reason;

/// How long to wait for the answers of agents whose number is not known.
const GATHERING: Duration = Duration::from_secs(2);
/// How long to wait for a known number of agents.
const GATHERING_ALL: Duration = Duration::from_secs(15);
/// How long to wait before the first question is asked again.
const AGAIN: Duration = Duration::from_millis(100);
/// The most agents that are asked at the same time.
const TOGETHER: usize = 64;

/// An agent that takes part.
#[derive(Clone, Debug)]
pub struct Member {
    /// What it said about itself.
    pub card: AgentCard,
}

/// The agents that are wanted.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// All that are there, at least one.
    All,
    /// This many, the first by name.
    Number(usize),
    /// Those with these names, in this order.
    Named(Vec<AgentName>),
}

impl Member {
    /// Returns a line that begins with the agent's name.
    pub(super) fn says(&self, line: &str) -> String {
        format!("agent {}: {line}", self.card.name)
    }

    /// Returns a warning about this agent.
    pub(super) fn warns(&self, warning: Warning) -> Warning {
        Warning { message: self.says(&warning.message), ..warning }
    }
}

/// Finds the agents that are wanted.
///
/// # Errors
/// Too few are there, or one is busy or of another version.
pub fn find_members(
    side: &dyn ControllerSide,
    wanted: Wanted,
) -> Result<Vec<Member>, CommandError> {
    let number = match &wanted {
        Wanted::All => None,
        Wanted::Number(number) => Some(*number),
        Wanted::Named(names) => Some(names.len()),
    };
    let cards = match number {
        None => ask_for_cards(side, None, GATHERING)?,
        Some(number) => gather_cards(side, number)?,
    };
    if let Some([one, other]) = cards.windows(2).find(|two| two[0].name == two[1].name) {
        let (name, hosts) = (&one.name, [&one.host, &other.host].map(|host| reason(host)));
        let line = format!(
            "two agents are called '{name}', on {} and {}; give each credentials of its own",
            hosts[0], hosts[1]
        );
        return Err(CommandError::Measure(line));
    }
    let chosen = choose(cards, wanted)?;
    chosen.iter().try_for_each(may_take_part)?;
    Ok(chosen.into_iter().map(|card| Member { card }).collect())
}

/// Returns the cards of the agents that answer, by name.
pub(super) fn ask_for_cards(
    side: &dyn ControllerSide,
    expected: Option<usize>,
    patience: Duration,
) -> Result<Vec<AgentCard>, CommandError> {
    let question = serde_json::to_vec(&AskedOfAll::Who).map_err(cannot)?;
    let answers = side.ask_all(&question, expected, patience).map_err(cannot)?;
    // Whoever has the key of an agent can claim to be another one.
    let is_own = |answer: &FromAgent| {
        let card = crate::messages::read_json::<AgentCard>(&answer.content).ok()?;
        (card.name == answer.agent).then_some(card)
    };
    let mut cards: Vec<AgentCard> = answers.iter().filter_map(is_own).collect();
    cards.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cards)
}

/// Asks until so many agents are there: some may still be connecting.
fn gather_cards(side: &dyn ControllerSide, number: usize) -> Result<Vec<AgentCard>, CommandError> {
    let end = Instant::now() + GATHERING_ALL;
    let mut patience = AGAIN;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let cards = ask_for_cards(side, Some(number), patience.min(left))?;
        if cards.len() >= number || patience >= left {
            return Ok(cards);
        }
        // Agents of a large fleet may take longer to answer.
        patience *= 2;
    }
}

fn choose(mut cards: Vec<AgentCard>, wanted: Wanted) -> Result<Vec<AgentCard>, CommandError> {
    let there = cards.len();
    match wanted {
        Wanted::All if there == 0 => {
            let line = "no agent answered; start some with `sixmark agent`";
            Err(CommandError::Measure(line.to_owned()))
        }
        Wanted::All => Ok(cards),
        Wanted::Number(number) if number > there => {
            let line =
                format!("{there} of {number} agents answered; start more, or lower --agents");
            Err(CommandError::Measure(line))
        }
        Wanted::Number(number) => {
            cards.truncate(number);
            Ok(cards)
        }
        Wanted::Named(names) => names.iter().map(|name| take_named(&mut cards, name)).collect(),
    }
}

fn take_named(cards: &mut Vec<AgentCard>, name: &AgentName) -> Result<AgentCard, CommandError> {
    match cards.iter().position(|card| card.name == *name) {
        Some(at) => Ok(cards.swap_remove(at)),
        None => Err(CommandError::Measure(format!("agent {name} did not answer"))),
    }
}

/// Checks that an agent is of the same version and free.
fn may_take_part(card: &AgentCard) -> Result<(), CommandError> {
    let AgentCard { name, version, protocol, busy, .. } = card;
    let own = env!("CARGO_PKG_VERSION");
    if *protocol != PROTOCOL || version != own {
        let version = version.escape_debug();
        let line = format!("agent {name} is sixmark {version}, but this is {own}; use the same");
        return Err(CommandError::Measure(line));
    }
    match busy {
        None => Ok(()),
        Some(load) => Err(CommandError::Measure(format!(
            "agent {name} is busy with load {load}; wait for it, or end it with `sixmark fleet abort`"
        ))),
    }
}

/// Asks each agent something, many at the same time. The answers are in the agents' order.
pub(super) fn ask_each(
    side: &dyn ControllerSide,
    members: &[Member],
    request: impl Fn(usize) -> AskedOfAgent + Sync,
    patience: Duration,
) -> Vec<Result<AgentAnswer, String>> {
    let ask_one = |number: usize| ask(side, &members[number], &request(number), patience);
    let numbers: Vec<usize> = (0..members.len()).collect();
    let mut answers = Vec::with_capacity(members.len());
    for some in numbers.chunks(TOGETHER) {
        std::thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|&n| scope.spawn(move || ask_one(n))).collect();
            let died = || Err("a thread died; this is a defect of sixmark".to_owned());
            answers.extend(threads.into_iter().map(|one| one.join().unwrap_or_else(|_| died())));
        });
    }
    answers
}

/// Asks one agent.
pub(super) fn ask(
    side: &dyn ControllerSide,
    member: &Member,
    request: &AskedOfAgent,
    patience: Duration,
) -> Result<AgentAnswer, String> {
    let request = serde_json::to_vec(request).map_err(|error| error.to_string())?;
    let answer = side.ask(&member.card.name, &request, patience);
    let answer = answer.map_err(|error| error.to_string())?;
    crate::messages::read_json(&answer).map_err(|error| format!("can't read its answer: {error}"))
}

fn cannot(error: impl std::fmt::Display) -> CommandError {
    CommandError::Measure(error.to_string())
}

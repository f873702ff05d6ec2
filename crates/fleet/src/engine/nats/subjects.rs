//! What the parts of the fleet are called on the server.

use crate::names::{AgentName, LoadName};

/// The stream of records, on the subjects below [`record`].
pub(super) const RECORDS: &str = "sixmark";
/// The stream of notes, on the subjects of [`note`].
pub(super) const NOTES: &str = "sixmark-notes";
/// The stream with the lease.
pub(super) const LEASES: &str = "sixmark-lease";
/// All subjects of records.
pub(super) const ALL_RECORDS: &str = "sixmark.record.>";
/// All subjects of notes.
pub(super) const ALL_NOTES: &str = "sixmark.note.*";
/// The subject of the lease.
pub(super) const LEASE: &str = "sixmark.lease";
/// Questions and announcements to all agents.
pub(super) const ALL: &str = "sixmark.all";
/// Nobody listens here. The server says so once it has processed all that came before.
pub(super) const NOBODY: &str = "sixmark.nobody";
/// Where answers to the controller arrive.
pub(super) const CONTROLLER_INBOX: &str = "_INBOX";

/// The header of an answer that can't be sent: why not.
pub(super) const REFUSED: &str = "Sixmark-Refused";

/// The subject of the requests to an agent.
pub(super) fn agent(name: &AgentName) -> String {
    format!("sixmark.agent.{name}")
}

/// Where acknowledgements to an agent arrive.
pub(super) fn agent_inbox(name: &AgentName) -> String {
    format!("_INBOX_AGENT.{name}")
}

/// The subjects of an agent's answers to questions to all, one for each question.
pub(super) fn answers_of(name: &AgentName) -> String {
    format!("sixmark.answer.{name}.*")
}

/// The reply subject of a question to all. Nobody listens there: agents answer on [`answer`], which
/// proves who they are.
pub(super) fn question(number: &str) -> String {
    format!("sixmark.question.{number}")
}

/// Where an agent answers a question to all with this reply subject; `None` if it is not one.
pub(super) fn answer(name: &AgentName, reply: &str) -> Option<String> {
    let number = reply.strip_prefix("sixmark.question.")?;
    Some(format!("sixmark.answer.{name}.{number}"))
}

/// All answers to a question to all.
pub(super) fn answers_to(number: &str) -> String {
    format!("sixmark.answer.*.{number}")
}

/// The agent that sent an answer with this subject.
pub(super) fn agent_of_answer(subject: &str) -> Option<AgentName> {
    subject.strip_prefix("sixmark.answer.")?.split('.').next()?.parse().ok()
}

/// The subject of an agent's records of a load.
pub(super) fn record(load: &LoadName, agent: &AgentName) -> String {
    format!("sixmark.record.{load}.{agent}")
}

/// The subjects of an agent's records of all loads.
pub(super) fn records_by(agent: &AgentName) -> String {
    format!("sixmark.record.*.{agent}")
}

/// The agent that published a record with this subject.
pub(super) fn agent_of_record(subject: &str) -> Option<AgentName> {
    subject.strip_prefix("sixmark.record.")?.split('.').nth(1)?.parse().ok()
}

/// All subjects of the records of a load.
pub(super) fn records_of(load: &LoadName) -> String {
    format!("sixmark.record.{load}.>")
}

/// The subject of the note of a load.
pub(super) fn note(load: &LoadName) -> String {
    format!("sixmark.note.{load}")
}

/// The load whose note has this subject.
pub(super) fn load_of_note(subject: &str) -> Option<LoadName> {
    subject.strip_prefix("sixmark.note.")?.parse().ok()
}

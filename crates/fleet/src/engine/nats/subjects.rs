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
/// The requests to all agents, each under its name.
pub(super) const ALL_AGENTS: &str = "sixmark.agent.>";
/// Nobody listens here. The server says so once it has processed all that came before.
pub(super) const NOBODY: &str = "sixmark.nobody";
/// Where answers to the controller arrive.
pub(super) const CONTROLLER_INBOX: &str = "_INBOX";
/// Where acknowledgements to agents arrive.
pub(super) const AGENT_INBOX: &str = "_INBOX_AGENT";

/// The header of an answer that can't be sent: why not.
pub(super) const REFUSED: &str = "Sixmark-Refused";

/// The subject of the requests to an agent.
pub(super) fn agent(name: &AgentName) -> String {
    format!("sixmark.agent.{name}")
}

/// The subject of an agent's records of a load.
pub(super) fn record(load: &LoadName, agent: &AgentName) -> String {
    format!("sixmark.record.{load}.{agent}")
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

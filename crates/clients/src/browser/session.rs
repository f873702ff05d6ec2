//! Commands, their results, and events: the common part of the protocols of both browsers.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The most events that are queued.
const MOST: usize = 10_000;

/// A connection to a browser.
pub(super) trait Transport {
    /// Sends a message.
    fn send(&mut self, message: String) -> Result<(), String>;

    /// Returns the next message; `None` if none arrives before `until`.
    fn receive(&mut self, until: Instant) -> Result<Option<String>, String>;
}

/// A protocol session with a browser.
#[derive(Debug)]
pub(super) struct BrowserSession<W> {
    transport: W,
    last: u64,
    events: VecDeque<Value>,
    /// The session id that is added to each command.
    session: Option<String>,
}

impl<W: Transport> BrowserSession<W> {
    pub(super) fn new(transport: W) -> BrowserSession<W> {
        BrowserSession { transport, last: 0, events: VecDeque::new(), session: None }
    }

    /// Sets the session that later commands are addressed to.
    pub(super) fn address(&mut self, session: Option<String>) {
        self.session = session;
    }

    /// Sends a command and returns its number.
    pub(super) fn send(&mut self, method: &str, params: Value) -> Result<u64, String> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.transport.send(message.to_string())?;
        Ok(self.last)
    }

    /// Sends a command and waits for its result.
    pub(super) fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let number = self.send(method, params)?;
        let until = Instant::now() + super::PATIENCE;
        loop {
            match self.next(until)? {
                Some(BrowserMessage::Returned(id, result)) if id == number => {
                    return result.map_err(|why| format!("{method}: {why}"));
                }
                Some(BrowserMessage::Returned(..)) => {}
                Some(BrowserMessage::Event(event)) => {
                    self.events.push_back(event);
                    if self.events.len() > MOST {
                        self.events.pop_front();
                    }
                }
                None => {
                    return Err(format!(
                        "{method}: no answer within {} s",
                        super::PATIENCE.as_secs()
                    ));
                }
            }
        }
    }

    /// Returns the next message, queued events first; `None` if none arrives before `until`.
    pub(super) fn listen(&mut self, until: Instant) -> Result<Option<BrowserMessage>, String> {
        match self.events.pop_front() {
            Some(event) => Ok(Some(BrowserMessage::Event(event))),
            None => self.next(until),
        }
    }

    /// Discards queued events.
    pub(super) fn forget(&mut self) {
        self.events.clear();
    }

    fn next(&mut self, until: Instant) -> Result<Option<BrowserMessage>, String> {
        let Some(text) = self.transport.receive(until)? else { return Ok(None) };
        let mut message: Value = serde_json::from_str(&text)
            .map_err(|error| format!("it sent invalid JSON: {error}"))?;
        let Some(id) = message["id"].as_u64() else {
            return Ok(Some(BrowserMessage::Event(message)));
        };
        let result = match message["error"].is_null() {
            true => Ok(message["result"].take()),
            // Chromium sends an object there, Firefox a word and another field.
            false => Err(format!("{} {}", message["error"], message["message"])),
        };
        Ok(Some(BrowserMessage::Returned(id, result)))
    }
}

/// A message of a browser.
#[derive(Debug)]
pub(super) enum BrowserMessage {
    /// The result of the command with this number.
    Returned(u64, Result<Value, String>),
    /// An event, with `method` and `params`.
    Event(Value),
}

/// Returns a text field of a result.
pub(super) fn text_field(value: &Value, name: &str) -> Result<String, String> {
    let found = value[name].as_str().map(str::to_owned);
    found.ok_or_else(|| format!("its answer lacks {name}"))
}

/// Returns the time until `until`; `None` if it has passed.
pub(super) fn time_left(until: Instant) -> Option<Duration> {
    until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

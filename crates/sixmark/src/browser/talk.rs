//! Commands and what they return, with events between: what the protocols of both browsers have in
//! common.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The most events that wait for somebody who wants them.
const MOST: usize = 10_000;

/// The way to a browser and back.
pub(super) trait Way {
    /// Sends a message.
    fn send(&mut self, message: String) -> Result<(), String>;

    /// The next message; none where none came by then.
    fn receive(&mut self, until: Instant) -> Result<Option<String>, String>;
}

/// A talk with a browser.
#[derive(Debug)]
pub(super) struct BrowserSession<W> {
    way: W,
    last: u64,
    events: VecDeque<Value>,
    /// What goes into each command beside its own.
    session: Option<String>,
}

impl<W: Way> BrowserSession<W> {
    pub(super) fn new(way: W) -> BrowserSession<W> {
        BrowserSession { way, last: 0, events: VecDeque::new(), session: None }
    }

    /// To whom commands go from now on.
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
        self.way.send(message.to_string())?;
        Ok(self.last)
    }

    /// Sends a command and waits for what it returns.
    pub(super) fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let number = self.send(method, params)?;
        let until = Instant::now() + super::PATIENCE;
        loop {
            match self.next(until)? {
                Some(Said::Returned(id, result)) if id == number => {
                    return result.map_err(|why| format!("{method}: {why}"));
                }
                Some(Said::Returned(..)) => {}
                Some(Said::Event(event)) => {
                    self.events.push_back(event);
                    if self.events.len() > MOST {
                        self.events.pop_front();
                    }
                }
                None => {
                    return Err(format!(
                        "{method}: no answer came within {} s",
                        super::PATIENCE.as_secs()
                    ));
                }
            }
        }
    }

    /// What comes next, events that waited first; none where nothing came by then.
    pub(super) fn listen(&mut self, until: Instant) -> Result<Option<Said>, String> {
        match self.events.pop_front() {
            Some(event) => Ok(Some(Said::Event(event))),
            None => self.next(until),
        }
    }

    /// Forgets events that came before.
    pub(super) fn forget(&mut self) {
        self.events.clear();
    }

    fn next(&mut self, until: Instant) -> Result<Option<Said>, String> {
        let Some(text) = self.way.receive(until)? else { return Ok(None) };
        let mut message: Value = serde_json::from_str(&text)
            .map_err(|error| format!("it says what is no JSON: {error}"))?;
        let Some(id) = message["id"].as_u64() else { return Ok(Some(Said::Event(message))) };
        let result = match message["error"].is_null() {
            true => Ok(message["result"].take()),
            // Chromium has an object there, Firefox a word and another field.
            false => Err(format!("{} {}", message["error"], message["message"])),
        };
        Ok(Some(Said::Returned(id, result)))
    }
}

/// What a browser said.
#[derive(Debug)]
pub(super) enum Said {
    /// What a command of this number returned.
    Returned(u64, Result<Value, String>),
    /// That something happened: `method` and `params`.
    Event(Value),
}

/// A text in what was returned.
pub(super) fn text_field(value: &Value, name: &str) -> Result<String, String> {
    let found = value[name].as_str().map(str::to_owned);
    found.ok_or_else(|| format!("it says nothing of {name}"))
}

/// How long until then.
pub(super) fn time_left(until: Instant) -> Option<Duration> {
    until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

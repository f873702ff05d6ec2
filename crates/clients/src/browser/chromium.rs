//! Chromium, driven by the Chrome DevTools Protocol over pipes. Pipes work across network
//! namespaces, which a TCP port would not.

use std::fs::File;
use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::client::PageLoad;
use serde_json::{Value, json};
use sixmark_sys::process::Running;

use super::session::{BrowserMessage, BrowserSession, Transport, text_field, time_left};
use super::{
    Browser, Confinement, PAGE, PATIENCE, SOON, failed_load, last_of, loaded_bytes, page_type,
    script,
};
use sixmark_sys::program::{find_program, plain_command};

/// The command of the shell that starts it. Chromium uses descriptors 3 and 4 for the protocol; the
/// shell moves its standard input and output there.
const SHELL: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >&2"#;

/// The file for its standard error.
const STDERR: &str = "stderr";

/// A running Chromium.
pub(super) struct Chromium {
    session: BrowserSession<Pipes>,
    /// The open browser context, with its page.
    context: Option<String>,
    said: PathBuf,
    confinement: Confinement,
    // Declared after the pipes: closing them makes the browser exit, and if it does not, it is
    // stopped.
    running: Running,
}

impl Chromium {
    /// Starts it, without its sandbox if that can't be set up, as in many containers.
    pub(super) fn start(
        words: &[String],
        folder: &Path,
        confinement: Confinement,
    ) -> Result<Chromium, String> {
        match Chromium::try_start(words, folder, confinement) {
            Err(_) if blames_sandbox(&last_of(&folder.join(STDERR))) => {
                Chromium::try_start(words, folder, confinement.without_sandbox())
            }
            started => started,
        }
    }

    fn try_start(
        words: &[String],
        folder: &Path,
        confinement: Confinement,
    ) -> Result<Chromium, String> {
        let unable = |error: std::io::Error| format!("can't be started: {error}");
        let program = find_program("chromium").ok_or("is no longer installed")?;
        let shell = find_program("sh").ok_or("needs sh")?;
        let (its_in, to) = pipe().map_err(unable)?;
        let (from, its_out) = pipe().map_err(unable)?;
        let said = folder.join(STDERR);
        let mut command = plain_command(&shell);
        command.arg("-c").arg(SHELL).arg(&program).args(words);
        if !confinement.has_sandbox() {
            command.arg("--no-sandbox");
        }
        confinement.lead(&mut command, &[folder]).map_err(unable)?;
        command.arg(format!("--user-data-dir={}", folder.display())).arg("about:blank");
        command.stdin(Stdio::from(its_in)).stdout(Stdio::from(its_out));
        command.stderr(File::create(&said).map_err(unable)?).env("HOME", folder);
        let running = Running::start(&mut command).map_err(unable)?;
        // Dropping the command closes this process's copies of the browser's pipe ends, so that the
        // end of the browser is noticed.
        drop(command);
        let session = BrowserSession::new(Pipes::new(to, from)?);
        let mut chromium = Chromium { session, context: None, said, confinement, running };
        let version = chromium.session.call("Browser.getVersion", json!({}));
        version.map_err(|why| format!("{why}{}", last_line(&chromium.said)))?;
        Ok(chromium)
    }

    /// Synthesizes the page: intercepts the request for it, and no other, and answers it in the
    /// browser.
    fn make_up(&mut self, url: &str) -> Result<(), String> {
        self.session.call("Page.enable", json!({}))?;
        self.session.call("Fetch.enable", json!({"patterns": [{"urlPattern": "*"}]}))?;
        self.session.send("Page.navigate", json!({"url": url}))?;
        let until = Instant::now() + PATIENCE;
        loop {
            let said = self.session.listen(until)?.ok_or("no page loaded")?;
            let BrowserMessage::Event(event) = said else { continue };
            match event["method"].as_str() {
                Some("Fetch.requestPaused") => {
                    self.session.send("Fetch.fulfillRequest", answer(&event["params"]))?;
                }
                Some("Page.loadEventFired") => break,
                _ => {}
            }
        }
        self.session.call("Fetch.disable", json!({})).map(drop)
    }
}

/// Returns the page as the response to an intercepted request.
fn answer(held: &Value) -> Value {
    use base64::Engine as _;
    let body = base64::engine::general_purpose::STANDARD.encode(PAGE);
    let head = [page_type("name", "text/html".into())];
    json!({"requestId": held["requestId"], "responseCode": 200, "responseHeaders": head, "body": body})
}

impl Browser for Chromium {
    fn open(&mut self, url: &str) -> Result<(), String> {
        self.session.address(None);
        self.session.forget();
        let context = self.session.call("Target.createBrowserContext", json!({}))?;
        let context = text_field(&context, "browserContextId")?;
        let new = json!({"url": "about:blank", "browserContextId": context});
        let target = text_field(&self.session.call("Target.createTarget", new)?, "targetId")?;
        self.context = Some(context);
        let attach = json!({"targetId": target, "flatten": true});
        let session =
            text_field(&self.session.call("Target.attachToTarget", attach)?, "sessionId")?;
        self.session.address(Some(session));
        self.make_up(url)?;
        self.session.call("Network.enable", json!({}))?;
        self.session.call("Network.setCacheDisabled", json!({"cacheDisabled": true})).map(drop)
    }

    fn fetch(&mut self, url: &str, timeout: Duration) -> Result<PageLoad, String> {
        self.session.forget();
        let began = Instant::now();
        let mut until = began + timeout + PATIENCE;
        let code = json!({"expression": script(url, timeout), "awaitPromise": true, "returnByValue": true});
        let number = self.session.send("Runtime.evaluate", code)?;
        let (mut content, mut account) = (None, ChromiumEvents::default());
        while content.is_none() || !account.is_over() {
            match self.session.listen(until)? {
                Some(BrowserMessage::Returned(id, result)) if id == number => {
                    let result = result?;
                    let said = result["result"]["value"].as_str();
                    let said = loaded_bytes(said.unwrap_or("its script failed"));
                    // The reason of a failure may be reported a little later, or never.
                    until = if said.is_err() { Instant::now() + SOON } else { until };
                    content = Some(said);
                }
                Some(BrowserMessage::Event(event)) => account.take(&event),
                Some(_) => {}
                None if matches!(content, Some(Err(_))) => break,
                None => return Err("the page load did not finish".to_owned()),
            }
        }
        match (content.unwrap_or(Ok(0)), account.error.clone()) {
            (Ok(bytes), None) => account.load(bytes),
            (content, why) => {
                let why = why.or(content.err()).unwrap_or_default();
                Ok(failed_load(&why, began.elapsed()))
            }
        }
    }

    fn close(&mut self) -> Result<(), String> {
        self.session.address(None);
        match self.context.take() {
            Some(context) => {
                let which = json!({"browserContextId": context});
                self.session.call("Target.disposeBrowserContext", which).map(drop)
            }
            None => Ok(()),
        }
    }

    fn id(&self) -> u32 {
        self.running.id()
    }

    fn said(&self) -> String {
        last_of(&self.said)
    }

    fn confinement(&self) -> Confinement {
        self.confinement
    }
}

/// Reports whether its output mentions a sandbox, or the namespaces that it consists of.
fn blames_sandbox(said: &str) -> bool {
    said.contains("sandbox") || said.contains("namespace")
}

/// The events of a load.
#[derive(Debug, Default)]
struct ChromiumEvents {
    id: Option<String>,
    response: Value,
    finished: Value,
    error: Option<String>,
}

impl ChromiumEvents {
    fn take(&mut self, event: &Value) {
        let params = &event["params"];
        let ours = params["requestId"].as_str().is_some_and(|id| self.id.as_deref() == Some(id));
        match event["method"].as_str() {
            Some("Network.requestWillBeSent") if params["type"] == "Fetch" => {
                self.id = params["requestId"].as_str().map(str::to_owned);
            }
            Some("Network.responseReceived") if ours => self.response = params["response"].clone(),
            Some("Network.loadingFinished") if ours => self.finished = params.clone(),
            Some("Network.loadingFailed") if ours => {
                self.error = Some(params["errorText"].as_str().unwrap_or("failed").to_owned());
            }
            _ => {}
        }
    }

    fn is_over(&self) -> bool {
        self.error.is_some() || !self.finished.is_null()
    }

    /// Returns the figures of a load. `requestTime` is in seconds, the other times are milliseconds
    /// after it, -1 if absent.
    fn load(&self, content_bytes: u64) -> Result<PageLoad, String> {
        let (response, timing) = (&self.response, &self.response["timing"]);
        let number = |value: &Value, name: &str| {
            value[name].as_f64().ok_or_else(|| format!("its answer lacks {name}"))
        };
        let ms = |name: &str| timing[name].as_f64().filter(|ms| *ms >= 0.0);
        let between = |from: &str, to: &str| Some((ms(to)? - ms(from)?).max(0.0) * 1e3);
        let whole_ms =
            (number(&self.finished, "timestamp")? - number(timing, "requestTime")?) * 1e3;
        let first_ms = number(timing, "receiveHeadersEnd")?;
        let begun = if ms("sslStart").is_some() { "sslStart" } else { "connectEnd" };
        Ok(PageLoad {
            error: None,
            status: number(response, "status")? as u16,
            protocol: text_field(response, "protocol")?,
            peer: response["remoteIPAddress"].as_str().and_then(parse_address),
            reused: response["connectionReused"].as_bool().unwrap_or(false),
            content_bytes,
            bytes: number(&self.finished, "encodedDataLength")? as u64,
            connect_us: between("connectStart", begun),
            tls_us: between("sslStart", "sslEnd"),
            wait_us: between("sendEnd", "receiveHeadersStart"),
            transfer_us: Some((whole_ms - first_ms).max(0.0) * 1e3),
            response_us: whole_ms.max(0.0) * 1e3,
        })
    }
}

/// Parses an address; IPv6 addresses are in brackets.
fn parse_address(text: &str) -> Option<std::net::IpAddr> {
    text.trim_matches(['[', ']']).parse().ok()
}

/// Returns the last line of its standard error as a clause for messages; empty if there is none.
fn last_line(said: &Path) -> String {
    let said = last_of(said);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map_or(String::new(), |line| format!("; its last line: {line}"))
}

/// The pipes to the browser, which carry messages that end with a NUL.
struct Pipes {
    to: PipeWriter,
    from: Receiver<String>,
}

impl Pipes {
    /// Starts a thread that reads messages until the browser has ended.
    fn new(to: PipeWriter, from: PipeReader) -> Result<Pipes, String> {
        let (sender, receiver) = channel();
        let read = move || {
            let mut from = BufReader::new(from);
            loop {
                let mut message = Vec::new();
                match from.read_until(0, &mut message) {
                    Ok(1..) if message.pop() == Some(0) => {
                        let message = String::from_utf8_lossy(&message).into_owned();
                        if sender.send(message).is_err() {
                            break;
                        }
                    }
                    _ => break,
                }
            }
        };
        let thread = std::thread::Builder::new().name("chromium".into()).spawn(read);
        thread.map_err(|error| format!("can't start a thread: {error}"))?;
        Ok(Pipes { to, from: receiver })
    }
}

impl Transport for Pipes {
    fn send(&mut self, message: String) -> Result<(), String> {
        let mut bytes = message.into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).map_err(|error| format!("no longer reads commands: {error}"))
    }

    fn receive(&mut self, until: Instant) -> Result<Option<String>, String> {
        match self.from.recv_timeout(time_left(until).unwrap_or_default()) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err("has ended".to_owned()),
        }
    }
}

//! Firefox, driven by WebDriver BiDi over a WebSocket.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::client::PageLoad;
use serde_json::{Value, json};
use sixmark_sys::process::Running;
use tungstenite::{Message, WebSocket};

use super::session::{BrowserMessage, BrowserSession, Transport, text_field, time_left};
use super::{
    Browser, Confinement, PAGE, PATIENCE, SOON, failed_load, last_of, loaded_bytes, page_type,
    script,
};
use sixmark_sys::program::{find_program, plain_command};

/// The text that it prints before the address on which it listens.
const LISTENS: &str = "WebDriver BiDi listening on ws://";
/// The interval at which its output is checked for that text.
const LOOK: Duration = Duration::from_millis(20);

/// Settings that turn off caches and prefetching, and connections to any host but those that a
/// study names.
const SETTINGS: [(&str, &str); 33] = [
    ("app.normandy.enabled", "false"),
    ("app.update.disabledForTesting", "true"),
    ("app.update.enabled", "false"),
    ("browser.cache.disk.enable", "false"),
    ("browser.cache.memory.enable", "false"),
    ("browser.chrome.site_icons", "false"),
    ("browser.newtabpage.enabled", "false"),
    ("browser.region.network.url", "''"),
    ("browser.region.update.enabled", "false"),
    ("browser.safebrowsing.malware.enabled", "false"),
    ("browser.safebrowsing.phishing.enabled", "false"),
    ("browser.safebrowsing.update.enabled", "false"),
    ("browser.startup.homepage", "'about:blank'"),
    ("browser.startup.page", "0"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("dom.push.connection.enabled", "false"),
    ("extensions.update.enabled", "false"),
    ("extensions.getAddons.cache.enabled", "false"),
    ("media.gmp-manager.updateEnabled", "false"),
    ("network.captive-portal-service.enabled", "false"),
    ("network.connectivity-service.enabled", "false"),
    ("network.dns.disablePrefetch", "true"),
    ("network.http.altsvc.enabled", "false"),
    ("network.http.http3.enable", "false"),
    ("network.http.speculative-parallel-limit", "0"),
    // Seconds. A connection of a page that is closed would stay open for two minutes, and a server with
    // few sockets would run out of them.
    ("network.http.keep-alive.timeout", "2"),
    ("network.prefetch-next", "false"),
    ("network.proxy.type", "0"),
    ("network.trr.mode", "5"),
    ("services.settings.server", "'data:,#remote-settings-dummy/v1'"),
    ("toolkit.telemetry.server", "''"),
    ("toolkit.telemetry.unified", "false"),
    ("trailhead.firstrun.didSeeAboutWelcome", "true"),
];

/// A running Firefox.
pub(super) struct Firefox {
    session: BrowserSession<Socket>,
    /// The open page, and its user context, which has its own connections, cache and cookies.
    page: String,
    container: Option<String>,
    said: PathBuf,
    confinement: Confinement,
    running: Running,
}

impl Firefox {
    pub(super) fn start(
        words: &[String],
        insecure: bool,
        folder: &Path,
        confinement: Confinement,
    ) -> Result<Firefox, String> {
        let unable = |error: std::io::Error| format!("can't be started: {error}");
        let program = find_program("firefox").ok_or("is no longer installed")?;
        let settings = SETTINGS.map(|(name, value)| format!("user_pref('{name}', {value});\n"));
        let file = folder.join("user.js");
        fs::write(&file, settings.concat()).map_err(unable)?;
        let said = folder.join("stderr");
        let mut command = plain_command(&program);
        command.args(words).arg("--profile").arg(folder).arg("about:blank");
        confinement.lead(&mut command, &[folder, file.as_path()]).map_err(unable)?;
        // Its crash reporter would outlive it.
        command.env("HOME", folder).env("MOZ_CRASHREPORTER_DISABLE", "1");
        command.stdout(std::process::Stdio::null());
        command.stderr(File::create(&said).map_err(unable)?);
        let mut running = Running::start(&mut command).map_err(unable)?;
        let address = listens(&mut running, &said)?;
        let mut session = BrowserSession::new(Socket::open(address)?);
        let wanted = json!({"alwaysMatch": {"acceptInsecureCerts": insecure}});
        session.call("session.new", json!({"capabilities": wanted}))?;
        let events =
            ["network.beforeRequestSent", "network.responseCompleted", "network.fetchError"];
        session.call("session.subscribe", json!({"events": events}))?;
        Ok(Firefox { session, page: String::new(), container: None, said, confinement, running })
    }

    /// Synthesizes the page: intercepts the request for it, and no other, and answers it in the
    /// browser.
    fn make_up(&mut self, url: &str) -> Result<(), String> {
        let hold = json!({"phases": ["beforeRequestSent"], "contexts": [self.page]});
        let hold = text_field(&self.session.call("network.addIntercept", hold)?, "intercept")?;
        let page = json!({"context": self.page, "url": url, "wait": "complete"});
        let number = self.session.send("browsingContext.navigate", page)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match self.session.listen(until)?.ok_or("no page loaded")? {
                BrowserMessage::Returned(id, result) if id == number => break result.map(drop)?,
                BrowserMessage::Event(event) if event["params"]["isBlocked"] == true => {
                    self.session.send("network.provideResponse", answer(&event["params"]))?;
                }
                _ => {}
            }
        }
        self.session.call("network.removeIntercept", json!({"intercept": hold})).map(drop)
    }
}

/// Waits until it listens, and returns the address.
fn listens(running: &mut Running, said: &Path) -> Result<SocketAddr, String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(said).unwrap_or_default();
        let found = text.lines().filter(|_| text.ends_with('\n'));
        let found = found.filter_map(|line| line.strip_prefix(LISTENS)).next();
        if let Some(address) = found {
            return address.trim().parse().map_err(|_| {
                format!(
                    "reported an invalid address to connect to: \
                     '{address}'"
                )
            });
        }
        let ended = running.wait(LOOK).map_err(|error| error.to_string())?;
        if ended.is_some() || time_left(until).is_none() {
            let last = text.lines().last().unwrap_or_default();
            return Err(format!("did not open its control port; its last line: {last}"));
        }
    }
}

/// Returns the page as the response to an intercepted request.
fn answer(held: &Value) -> Value {
    let bytes = |text: &str| json!({"type": "string", "value": text});
    let head = [page_type("name", bytes("text/html"))];
    let request = &held["request"]["request"];
    json!({"request": request, "statusCode": 200, "reasonPhrase": "OK", "headers": head,
        "body": bytes(PAGE)})
}

impl Browser for Firefox {
    fn open(&mut self, url: &str) -> Result<(), String> {
        self.session.forget();
        let container = self.session.call("browser.createUserContext", json!({}))?;
        let container = text_field(&container, "userContext")?;
        let tab = json!({"type": "tab", "userContext": container});
        self.container = Some(container);
        self.page = text_field(&self.session.call("browsingContext.create", tab)?, "context")?;
        self.make_up(url)
    }

    fn fetch(&mut self, url: &str, timeout: Duration) -> Result<PageLoad, String> {
        self.session.forget();
        let began = Instant::now();
        let mut until = began + timeout + PATIENCE;
        let code = json!({"expression": script(url, timeout), "target": {"context": self.page},
            "awaitPromise": true});
        let number = self.session.send("script.evaluate", code)?;
        let (mut content, mut account) = (None, FirefoxEvents::default());
        while content.is_none() || account.end.is_null() {
            match self.session.listen(until)? {
                Some(BrowserMessage::Returned(id, result)) if id == number => {
                    let said = result?["result"]["value"].as_str().map(str::to_owned);
                    let said = loaded_bytes(said.as_deref().unwrap_or("its script failed"));
                    // The reason of a failure may be reported a little later, or never.
                    until = if said.is_err() { Instant::now() + SOON } else { until };
                    content = Some(said);
                }
                Some(BrowserMessage::Event(event))
                    if event["params"]["context"] == self.page.as_str() =>
                {
                    account.take(&event);
                }
                Some(_) => {}
                None if matches!(content, Some(Err(_))) => break,
                None => return Err("the page load did not finish".to_owned()),
            }
        }
        let why = account.end["errorText"].as_str().map(str::to_owned);
        match (content.unwrap_or(Ok(0)), why) {
            (Ok(bytes), None) => page_load(&account.end, bytes),
            (content, why) => {
                let why = why.or(content.err()).unwrap_or_default();
                Ok(failed_load(&why, began.elapsed()))
            }
        }
    }

    fn close(&mut self) -> Result<(), String> {
        match self.container.take() {
            Some(container) => {
                let which = json!({"userContext": container});
                self.session.call("browser.removeUserContext", which).map(drop)
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

/// The events of a load.
#[derive(Debug, Default)]
struct FirefoxEvents {
    id: Option<String>,
    /// The parameters of the event that ended it.
    end: Value,
}

impl FirefoxEvents {
    fn take(&mut self, event: &Value) {
        let params = &event["params"];
        let id = params["request"]["request"].as_str();
        let ours = id.is_some() && self.id.as_deref() == id;
        match event["method"].as_str() {
            Some("network.beforeRequestSent") if params["navigation"].is_null() => {
                self.id = id.map(str::to_owned);
            }
            Some("network.responseCompleted" | "network.fetchError") if ours => {
                self.end = params.clone();
            }
            _ => {}
        }
    }
}

/// Returns the figures of a load. Its times are milliseconds of one clock, 0 if absent.
fn page_load(account: &Value, content_bytes: u64) -> Result<PageLoad, String> {
    let (response, timings) = (&account["response"], &account["request"]["timings"]);
    let number = |value: &Value, name: &str| {
        value[name].as_f64().ok_or_else(|| format!("its answer lacks {name}"))
    };
    let ms = |name: &str| timings[name].as_f64().filter(|ms| *ms > 0.0);
    let between = |from: &str, to: &str| Some((ms(to)? - ms(from)?).max(0.0) * 1e3);
    let begun = if ms("tlsStart").is_some() { "tlsStart" } else { "connectEnd" };
    // On a reused connection there is nothing before the request.
    let reused = ms("connectStart").is_none();
    let from = if reused { "requestStart" } else { "fetchStart" };
    Ok(PageLoad {
        error: None,
        status: number(response, "status")? as u16,
        protocol: text_field(response, "protocol")?,
        peer: None,
        reused,
        content_bytes,
        bytes: number(response, "bytesReceived")? as u64,
        connect_us: between("connectStart", begun),
        tls_us: between("tlsStart", "tlsEnd"),
        wait_us: between("requestStart", "responseStart"),
        transfer_us: between("responseStart", "responseEnd"),
        response_us: between(from, "responseEnd").ok_or("it reported no times")?,
    })
}

/// A WebSocket connection.
struct Socket(WebSocket<TcpStream>);

impl Socket {
    /// Connects to `address` in the calling thread's network namespace. Sends no Origin field,
    /// because Firefox would refuse it.
    fn open(address: SocketAddr) -> Result<Socket, String> {
        let unable = |why: &dyn std::fmt::Display| {
            format!("can't connect to its control port {address}: {why}")
        };
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(|e| unable(&e))?;
        stream.set_nodelay(true).map_err(|e| unable(&e))?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|e| unable(&e))?;
        let (socket, _) = tungstenite::client(format!("ws://{address}/session"), stream)
            .map_err(|error| unable(&error))?;
        Ok(Socket(socket))
    }
}

impl Transport for Socket {
    fn send(&mut self, message: String) -> Result<(), String> {
        let sent = self.0.send(Message::text(message));
        sent.map_err(|error| format!("no longer reads commands: {error}"))
    }

    fn receive(&mut self, until: Instant) -> Result<Option<String>, String> {
        while let Some(left) = time_left(until) {
            let set = self.0.get_ref().set_read_timeout(Some(left));
            set.map_err(|error| error.to_string())?;
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(Some(text.to_string())),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error))
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                Err(error) => return Err(format!("exited: {error}")),
            }
        }
        Ok(None)
    }
}

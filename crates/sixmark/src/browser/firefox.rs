//! Firefox, by WebDriver BiDi over a WebSocket.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sixmark_model::study::client::PageLoad;
use sixmark_sys::process::Running;
use tungstenite::{Message, WebSocket};

use super::talk::{BrowserSession, Said, Way, text_field, time_left};
use super::{
    Browser, Confinement, PAGE, PATIENCE, SOON, failed_load, last_of, loaded_bytes, page_type,
    script,
};
use sixmark_machine::program::{find_program, plain_command};

/// What it says before the address that it listens on.
const LISTENS: &str = "WebDriver BiDi listening on ws://";
/// Between two looks whether it has said so.
const LOOK: Duration = Duration::from_millis(20);

/// Nothing kept, nothing fetched ahead, nobody called but whom a study names.
const SETTINGS: [(&str, &str); 32] = [
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
    talk: BrowserSession<Socket>,
    /// The page that is open, and what has connections, cache and cookies of its own with it.
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
        let program = find_program("firefox").ok_or("is not there any more")?;
        let settings = SETTINGS.map(|(name, value)| format!("user_pref('{name}', {value});\n"));
        let file = folder.join("user.js");
        fs::write(&file, settings.concat()).map_err(unable)?;
        let said = folder.join("stderr");
        let mut command = plain_command(&program);
        command.args(words).arg("--profile").arg(folder).arg("about:blank");
        confinement.lead(&mut command, &[folder, file.as_path()]).map_err(unable)?;
        // Its reporter of crashes would outlive it.
        command.env("HOME", folder).env("MOZ_CRASHREPORTER_DISABLE", "1");
        command.stdout(std::process::Stdio::null());
        command.stderr(File::create(&said).map_err(unable)?);
        let mut running = Running::start(&mut command).map_err(unable)?;
        let address = listens(&mut running, &said)?;
        let mut talk = BrowserSession::new(Socket::open(address)?);
        let wanted = json!({"alwaysMatch": {"acceptInsecureCerts": insecure}});
        talk.call("session.new", json!({"capabilities": wanted}))?;
        let events =
            ["network.beforeRequestSent", "network.responseCompleted", "network.fetchError"];
        talk.call("session.subscribe", json!({"events": events}))?;
        Ok(Firefox { talk, page: String::new(), container: None, said, confinement, running })
    }

    /// Answers the page's own request, and none other, in the browser.
    fn make_up(&mut self, url: &str) -> Result<(), String> {
        let hold = json!({"phases": ["beforeRequestSent"], "contexts": [self.page]});
        let hold = text_field(&self.talk.call("network.addIntercept", hold)?, "intercept")?;
        let page = json!({"context": self.page, "url": url, "wait": "complete"});
        let number = self.talk.send("browsingContext.navigate", page)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match self.talk.listen(until)?.ok_or("no page came")? {
                Said::Returned(id, result) if id == number => break result.map(drop)?,
                Said::Event(event) if event["params"]["isBlocked"] == true => {
                    self.talk.send("network.provideResponse", answer(&event["params"]))?;
                }
                _ => {}
            }
        }
        self.talk.call("network.removeIntercept", json!({"intercept": hold})).map(drop)
    }
}

/// Where it listens, once it does.
fn listens(running: &mut Running, said: &Path) -> Result<SocketAddr, String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(said).unwrap_or_default();
        let found = text.lines().filter(|_| text.ends_with('\n'));
        let found = found.filter_map(|line| line.strip_prefix(LISTENS)).next();
        if let Some(address) = found {
            return address.trim().parse().map_err(|_| format!("listens on '{address}'"));
        }
        let ended = running.wait(LOOK).map_err(|error| error.to_string())?;
        if ended.is_some() || time_left(until).is_none() {
            let last = text.lines().last().unwrap_or_default();
            return Err(format!("does not listen; its last line: {last}"));
        }
    }
}

/// The page, as the answer to a request that was held.
fn answer(held: &Value) -> Value {
    let bytes = |text: &str| json!({"type": "string", "value": text});
    let head = [page_type("name", bytes("text/html"))];
    let request = &held["request"]["request"];
    json!({"request": request, "statusCode": 200, "reasonPhrase": "OK", "headers": head,
        "body": bytes(PAGE)})
}

impl Browser for Firefox {
    fn open(&mut self, url: &str) -> Result<(), String> {
        self.talk.forget();
        let container = self.talk.call("browser.createUserContext", json!({}))?;
        let container = text_field(&container, "userContext")?;
        let tab = json!({"type": "tab", "userContext": container});
        self.container = Some(container);
        self.page = text_field(&self.talk.call("browsingContext.create", tab)?, "context")?;
        self.make_up(url)
    }

    fn fetch(&mut self, url: &str, timeout: Duration) -> Result<PageLoad, String> {
        self.talk.forget();
        let began = Instant::now();
        let mut until = began + timeout + PATIENCE;
        let code = json!({"expression": script(url, timeout), "target": {"context": self.page},
            "awaitPromise": true});
        let number = self.talk.send("script.evaluate", code)?;
        let (mut content, mut account) = (None, FirefoxEvents::default());
        while content.is_none() || account.end.is_null() {
            match self.talk.listen(until)? {
                Some(Said::Returned(id, result)) if id == number => {
                    let said = result?["result"]["value"].as_str().map(str::to_owned);
                    let said = loaded_bytes(said.as_deref().unwrap_or("its script failed"));
                    // Why it failed may be told of a little later, or never.
                    until = if said.is_err() { Instant::now() + SOON } else { until };
                    content = Some(said);
                }
                Some(Said::Event(event)) if event["params"]["context"] == self.page.as_str() => {
                    account.take(&event);
                }
                Some(_) => {}
                None if matches!(content, Some(Err(_))) => break,
                None => return Err("the load does not end".to_owned()),
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
                self.talk.call("browser.removeUserContext", which).map(drop)
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

/// What events say of a load.
#[derive(Debug, Default)]
struct FirefoxEvents {
    id: Option<String>,
    /// How it ended.
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

/// Its times: milliseconds of one clock, 0 where there is none.
fn page_load(account: &Value, content_bytes: u64) -> Result<PageLoad, String> {
    let (response, timings) = (&account["response"], &account["request"]["timings"]);
    let number = |value: &Value, name: &str| {
        value[name].as_f64().ok_or_else(|| format!("it says nothing of {name}"))
    };
    let ms = |name: &str| timings[name].as_f64().filter(|ms| *ms > 0.0);
    let between = |from: &str, to: &str| Some((ms(to)? - ms(from)?).max(0.0) * 1e3);
    let begun = if ms("tlsStart").is_some() { "tlsStart" } else { "connectEnd" };
    // Where it used a connection again, there is nothing before the request.
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
        response_us: between(from, "responseEnd").ok_or("it reports no times")?,
    })
}

/// A WebSocket.
struct Socket(WebSocket<TcpStream>);

impl Socket {
    /// To whoever listens there in the calling thread's network namespace. Without a field Origin, which
    /// Firefox would refuse.
    fn open(address: SocketAddr) -> Result<Socket, String> {
        let unable =
            |why: &dyn std::fmt::Display| format!("can't be spoken to at {address}: {why}");
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(|e| unable(&e))?;
        stream.set_nodelay(true).map_err(|e| unable(&e))?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|e| unable(&e))?;
        let (socket, _) = tungstenite::client(format!("ws://{address}/session"), stream)
            .map_err(|error| unable(&error))?;
        Ok(Socket(socket))
    }
}

impl Way for Socket {
    fn send(&mut self, message: String) -> Result<(), String> {
        let sent = self.0.send(Message::text(message));
        sent.map_err(|error| format!("does not listen any more: {error}"))
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
                Err(error) => return Err(format!("has ended: {error}")),
            }
        }
        Ok(None)
    }
}

//! Browsers that have been started, kept until the study ends: starting one takes seconds.
//!
//! A program ends with the thread that started it, and a cell in a lab is measured in a thread of its
//! own. So there is a thread for each network, which has its browsers and lasts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use sixmark_model::study::client::{Client, Job};

use super::{Browser, Loads, load_all, start_browser};
use sixmark_machine::CommandError;

/// The browsers of all networks.
#[derive(Default)]
pub(crate) struct Browsers(Mutex<BTreeMap<u64, Hand>>);

/// The thread that has the browsers of a network.
struct Hand {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

/// A job for a browser.
struct Order {
    client: Client,
    words: Vec<String>,
    job: Job,
    folder: PathBuf,
    stop: Arc<AtomicBool>,
    answer: Sender<Result<Option<Loads>, String>>,
}

/// Two jobs of the same name and care for certificates can share a browser.
type BrowserKey = BTreeMap<(&'static str, bool), Box<dyn Browser>>;

impl Browsers {
    /// Has a browser do a job, with `words` as its arguments, in the calling thread's network
    /// namespace. It is started where none is there yet, with its profile under `folder`, and ends
    /// when these are dropped. None where `stop` was set before.
    ///
    /// # Errors
    /// The browser can't be started, or does not do as told.
    pub(crate) fn load(
        &self,
        client: Client,
        words: &[String],
        job: &Job,
        folder: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Loads>, CommandError> {
        let unable = |why: String| CommandError::Measure(format!("{}: {why}", client.name()));
        let lost = || unable("the thread that drives it has ended".to_owned());
        let network = network().map_err(unable)?;
        let (answer, told) = mpsc::channel();
        let order = Order {
            client,
            words: words.to_vec(),
            job: job.clone(),
            folder: folder.join(network.to_string()),
            stop: Arc::clone(stop),
            answer,
        };
        {
            let mut hands = self.0.lock().map_err(|_| lost())?;
            let hand = match hands.entry(network) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(free) => free.insert(hand().map_err(unable)?),
            };
            hand.orders.send(order).map_err(|_| lost())?;
        }
        told.recv().map_err(|_| lost())?.map_err(unable)
    }

    /// Ends all of them.
    pub(crate) fn end(&self) {
        let Ok(mut hands) = self.0.lock() else { return };
        for (_, Hand { orders, thread }) in std::mem::take(&mut *hands) {
            drop(orders);
            // What it panicked of was told on standard error.
            let _ = thread.join();
        }
    }
}

impl Drop for Browsers {
    fn drop(&mut self) {
        self.end();
    }
}

/// A thread in the network namespace of the calling one.
fn hand() -> Result<Hand, String> {
    let (orders, taken) = mpsc::channel();
    let thread = std::thread::Builder::new().name("browsers".to_owned());
    let thread = thread.spawn(move || work(&taken)).map_err(|error| error.to_string())?;
    Ok(Hand { orders, thread })
}

fn work(orders: &Receiver<Order>) {
    let mut own = BrowserKey::new();
    while let Ok(order) = orders.recv() {
        let done = serve_one(&mut own, &order);
        // Whoever asked may have gone.
        let _ = order.answer.send(done);
    }
}

fn serve_one(own: &mut BrowserKey, order: &Order) -> Result<Option<Loads>, String> {
    let Order { client, words, job, folder, stop, .. } = order;
    let key = (client.name(), job.insecure);
    let profile = folder.join(format!("{}-{}", client.name(), own.len()));
    let browser = match own.entry(key) {
        Entry::Occupied(there) => there.into_mut(),
        Entry::Vacant(free) => {
            make_profile(folder, &profile)?;
            free.insert(start_browser(*client, words, job.insecure, &profile)?)
        }
    };
    let done = load_all(browser.as_mut(), job, stop);
    if done.is_err() {
        // Nobody knows what state it is in.
        own.remove(&key);
    }
    done
}

/// A folder for a profile, in one that other accounts may pass, whatever a strict umask says.
fn make_profile(folder: &Path, profile: &Path) -> Result<(), String> {
    let may_pass = std::fs::Permissions::from_mode(0o755);
    std::fs::create_dir_all(profile)
        .and_then(|()| std::fs::set_permissions(folder, may_pass))
        .map_err(|error| format!("can't make '{}': {error}", profile.display()))
}

/// The calling thread's network namespace, by its inode.
pub(super) fn network() -> Result<u64, String> {
    inode_of("/proc/thread-self/ns/net")
}

/// That of the program's first thread, which goes into none of a lab.
pub(super) fn network_of_program() -> Result<u64, String> {
    inode_of("/proc/self/ns/net")
}

fn inode_of(path: &str) -> Result<u64, String> {
    let found = std::fs::metadata(path);
    found.map(|found| found.ino()).map_err(|error| format!("/proc is not there: {error}"))
}

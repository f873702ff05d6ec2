//! Running browsers. They are kept until the study ends, because starting one takes seconds.
//!
//! A program ends with the thread that started it, and a cell in a lab is measured in a separate
//! thread. So each network has a thread that lasts and that owns the browsers of that network.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::client::{Client, Job};

use super::{Browser, Loads, load_all, start_browser};
use sixmark_sys::command_error::CommandError;

/// The browsers of all networks.
#[derive(Default)]
pub struct Browsers(Mutex<BTreeMap<u64, BrowserThread>>);

/// The thread that owns the browsers of a network.
struct BrowserThread {
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

/// The browsers by client name and by whether certificates are ignored. Jobs with equal keys share
/// a browser.
type BrowserKey = BTreeMap<(&'static str, bool), Box<dyn Browser>>;

impl Browsers {
    /// Runs a job with a browser, with `words` as its arguments, in the calling thread's network
    /// namespace. The browser is started if none is running, with its profile below `folder`, and
    /// ends when `self` is dropped. Returns `None` if `stop` was set before the job was done.
    ///
    /// # Errors
    /// Returns an error if the browser can't be started or does not follow the protocol.
    pub fn load(
        &self,
        client: Client,
        words: &[String],
        job: &Job,
        folder: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Result<Option<Loads>, CommandError> {
        let unable = |why: String| CommandError::Measure(format!("{}: {why}", client.name()));
        let lost = || unable("the thread that controls it ended".to_owned());
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
            let mut threads = self.0.lock().map_err(|_| lost())?;
            let thread = match threads.entry(network) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(free) => free.insert(start_thread().map_err(unable)?),
            };
            thread.orders.send(order).map_err(|_| lost())?;
        }
        told.recv().map_err(|_| lost())?.map_err(unable)
    }

    /// Ends all browsers.
    pub fn end(&self) {
        let Ok(mut threads) = self.0.lock() else { return };
        for (_, BrowserThread { orders, thread }) in std::mem::take(&mut *threads) {
            drop(orders);
            // A panic of the thread has already been reported on standard error.
            let _ = thread.join();
        }
    }
}

impl Drop for Browsers {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts a thread in the network namespace of the calling thread.
fn start_thread() -> Result<BrowserThread, String> {
    let (orders, taken) = mpsc::channel();
    let thread = std::thread::Builder::new().name("browsers".to_owned());
    let thread = thread.spawn(move || work(&taken)).map_err(|error| error.to_string())?;
    Ok(BrowserThread { orders, thread })
}

fn work(orders: &Receiver<Order>) {
    let mut own = BrowserKey::new();
    while let Ok(order) = orders.recv() {
        let done = serve_one(&mut own, &order);
        // The requester may have disappeared.
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
        // The state of the browser is unknown.
        own.remove(&key);
    }
    done
}

/// Creates the folder for a profile. Other accounts may pass through its parent, whatever the
/// umask.
fn make_profile(folder: &Path, profile: &Path) -> Result<(), String> {
    let may_pass = std::fs::Permissions::from_mode(0o755);
    std::fs::create_dir_all(profile)
        .and_then(|()| std::fs::set_permissions(folder, may_pass))
        .map_err(|error| format!("can't make '{}': {error}", profile.display()))
}

/// Returns the calling thread's network namespace, by its inode number.
pub(super) fn network() -> Result<u64, String> {
    inode_of("/proc/thread-self/ns/net")
}

/// Returns the network namespace of the program's first thread, which never enters a lab.
pub(super) fn network_of_program() -> Result<u64, String> {
    inode_of("/proc/self/ns/net")
}

fn inode_of(path: &str) -> Result<u64, String> {
    let found = std::fs::metadata(path);
    found.map(|found| found.ino()).map_err(|error| format!("can't read /proc: {error}"))
}

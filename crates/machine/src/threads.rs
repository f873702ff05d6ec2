//! Threads that can't be had.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::Builder;

/// What a kernel says that has no thread to give (pthread_create(3), EAGAIN), so that it can be told from
/// what else says so.
pub fn no_thread(error: &io::Error) -> io::Error {
    io::Error::other(format!(
        "no thread can be had ({error}): this user may run no more of them (ulimit -u), or the machine \
         can't"
    ))
}

/// Makes sure that so many threads more can be had, for those who can't live without: tokio panics where it
/// gets none, and a runtime that has only some of its threads never ends.
///
/// # Errors
/// As [`no_thread`].
pub fn demand(number: usize) -> io::Result<()> {
    let (end, wait) = channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(wait));
    let mut threads = Vec::new();
    let mut failed = None;
    for _ in 0..number {
        let wait = Arc::clone(&wait);
        // They are there at the same time: each waits for its turn at the others' end.
        let stay = move || drop(wait.lock().map(|wait| wait.recv()));
        match Builder::new().name("attempt".into()).spawn(stay) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                failed = Some(no_thread(&error));
                break;
            }
        }
    }
    drop(end);
    for thread in threads {
        // It does nothing that could panic.
        let _ = thread.join();
    }
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_few_threads_can_be_had() {
        super::demand(8).unwrap();
    }
}

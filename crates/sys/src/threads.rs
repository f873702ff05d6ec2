//! Failure to create threads.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::Builder;

/// Returns the error for a thread that could not be created (pthread_create(3), EAGAIN). Its
/// message distinguishes this error from other causes of EAGAIN.
pub fn no_thread(error: &io::Error) -> io::Error {
    io::Error::other(format!(
        "can't create a thread ({error}): this user has reached the thread limit (ulimit -u), or \
         memory is exhausted"
    ))
}

/// Ensures that `number` more threads can be created, for callers that fail badly otherwise: tokio
/// panics if it cannot create a thread, and a runtime with only some of its threads never ends.
///
/// # Errors
/// The error of [`no_thread`].
pub fn demand(number: usize) -> io::Result<()> {
    let (end, wait) = channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(wait));
    let mut threads = Vec::new();
    let mut failed = None;
    for _ in 0..number {
        let wait = Arc::clone(&wait);
        // All threads exist at the same time: each waits until the sender is dropped.
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
        // The thread does nothing that could panic.
        let _ = thread.join();
    }
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    #[test]
    fn creates_a_few_threads() {
        super::demand(8).unwrap();
    }
}

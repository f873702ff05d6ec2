//! Threads that answer messages in hosts of a lab.

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sixmark_sys::poll;

/// The time for which a thread rests after its socket has failed, so that a lasting failure costs no CPU time.
const REST: Duration = Duration::from_secs(1);

/// What a thread does. Its socket belongs to the namespace of a host; the thread itself need not be in it.
pub(super) trait ResponderWork: Send + 'static {
    /// Returns the socket that messages arrive at. It does not block.
    fn socket(&self) -> BorrowedFd<'_>;

    /// Sends what is due. Returns the time until more is due; `None` if never.
    fn send_due(&mut self, now: Instant) -> Option<Duration>;

    /// Reads one message and answers it.
    fn answer(&mut self, now: Instant) -> io::Result<()>;
}

/// A thread that answers messages. It ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Responder {
    stop: UnixStream,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if the kernel cannot provide a thread or a descriptor.
    pub(super) fn start(name: &str, work: impl ResponderWork) -> io::Result<Responder> {
        let (stop, stopped) = UnixStream::pair()?;
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || answer_messages(work, &stopped))?;
        Ok(Responder { stop, thread: Some(thread) })
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        // The thread finds its end closed.
        let _ = self.stop.shutdown(Shutdown::Both);
        // A panic of the thread has been reported on standard error.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn answer_messages(mut work: impl ResponderWork, stopped: &UnixStream) {
    loop {
        let most = work.send_due(Instant::now());
        let ready = poll::readable([work.socket(), stopped.as_fd()], most);
        let Ok([heard, false]) = ready else { return };
        if !heard {
            continue;
        }
        let lasting = work.answer(Instant::now()).is_err_and(|error| !is_passing(&error));
        if lasting && !matches!(poll::readable([stopped.as_fd()], Some(REST)), Ok([false])) {
            return;
        }
    }
}

/// Returns whether an error says only that there was nothing to read, or nothing that can be answered.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::sync::mpsc::{Sender, channel};

    /// ResponderWork each byte with the one that follows it, and tells of each that is due.
    struct Successor {
        socket: UnixStream,
        due: u8,
        sender: Sender<u8>,
    }

    impl ResponderWork for Successor {
        fn socket(&self) -> BorrowedFd<'_> {
            self.socket.as_fd()
        }

        fn send_due(&mut self, _now: Instant) -> Option<Duration> {
            self.due = self.due.checked_sub(1)?;
            let _ = self.sender.send(self.due);
            Some(Duration::from_millis(1))
        }

        fn answer(&mut self, _now: Instant) -> io::Result<()> {
            let mut byte = [0];
            self.socket.read_exact(&mut byte)?;
            self.socket.write_all(&[byte[0] + 1])
        }
    }

    #[test]
    fn a_responder_answers_sends_what_is_due_and_ends_when_dropped() {
        let (mut here, socket) = UnixStream::pair().unwrap();
        let (sender, receiver) = channel();
        let responder = Responder::start("test", Successor { socket, due: 3, sender }).unwrap();
        here.write_all(&[7]).unwrap();
        let mut byte = [0];
        here.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [8]);
        assert_eq!(receiver.iter().take(3).collect::<Vec<u8>>(), [2, 1, 0]);
        drop(responder);
        assert!(receiver.recv().is_err(), "the thread has dropped its end");
    }
}

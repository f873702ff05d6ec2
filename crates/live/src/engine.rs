//! The screen: the terminal, its keys, and the thread that redraws.

#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::fs::File;
use std::io::{self, BufWriter, PipeReader, PipeWriter};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Size;
use sixmark_sheet::board::Board;
use sixmark_sys::schedule::run_when_idle;
use sixmark_sys::terminal::{ViewTerminal, restore_terminal, suspend, take_suspension};

use crate::{SMALLEST, ViewColour, ViewState, draw_board, keys_of};

/// The least time between two drawings.
const TICK: Duration = Duration::from_millis(250);

/// What a view may ask of the command.
#[derive(Clone, Debug, Default)]
pub struct ViewRequests {
    /// Set when the command is to end early.
    pub stop: Arc<AtomicBool>,
    /// Set while the command is to pause between two blocks. `None` if it can't pause.
    pub pause: Option<Arc<AtomicBool>>,
}

/// A view on the terminal. It is removed when this is dropped.
#[derive(Debug)]
pub struct LiveScreen {
    shared: Arc<SharedBoard>,
    waker: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

/// What the command hands over to the thread that draws.
#[derive(Debug, Default)]
struct SharedBoard {
    /// The latest board, until it is drawn.
    next: Mutex<Option<Board>>,
}

/// Reports whether a view can be shown: standard error is a terminal that is large enough, and this
/// process is in its foreground.
pub fn can_show() -> bool {
    let large = ratatui::crossterm::terminal::size()
        .is_ok_and(|(width, height)| width >= SMALLEST.0 && height >= SMALLEST.1);
    large && io::IsTerminal::is_terminal(&io::stderr())
}

impl LiveScreen {
    /// Shows an empty board, and starts the thread that draws.
    ///
    /// # Errors
    /// There is no terminal, or no thread can be started.
    pub fn open(requests: ViewRequests, colour: ViewColour) -> io::Result<LiveScreen> {
        let terminal = ViewTerminal::open()?;
        if !terminal.is_foreground() {
            return Err(io::Error::other("the process is in the background"));
        }
        restore_on_panic();
        let shared = Arc::<SharedBoard>::default();
        let (reader, waker) = io::pipe()?;
        let state =
            ViewState { can_pause: requests.pause.is_some(), colour, ..ViewState::default() };
        let drawer = Drawer {
            screen: Terminal::new(CrosstermBackend::new(BufWriter::new(terminal.writer()?)))?,
            terminal,
            shared: Arc::clone(&shared),
            requests,
            state,
            board: Board::default(),
            size: Size::default(),
            changed: true,
        };
        let thread = std::thread::Builder::new().name("view".to_owned());
        let thread = thread.spawn(move || drawer.run(&reader))?;
        Ok(LiveScreen { shared, waker: Some(waker), thread: Some(thread) })
    }

    /// Shows a board within a quarter of a second. Boards that were not drawn until then are
    /// dropped.
    pub fn show(&self, board: Board) {
        *self.shared.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(board);
    }
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        // The end of the pipe wakes the thread.
        drop(self.waker.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has printed why.
            let _ = thread.join();
        }
        restore_terminal();
    }
}

/// Has a panic restore the terminal before its message is printed.
fn restore_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore_terminal();
        before(info);
    }));
}

/// The state of the thread that draws.
struct Drawer {
    screen: Terminal<CrosstermBackend<BufWriter<File>>>,
    terminal: ViewTerminal,
    shared: Arc<SharedBoard>,
    requests: ViewRequests,
    state: ViewState,
    board: Board,
    size: Size,
    /// Whether the screen does not show the state and the board.
    changed: bool,
}

impl Drawer {
    /// Draws and reads keys until the pipe ends. If the terminal fails, only the view ends.
    fn run(mut self, end: &PipeReader) {
        // The workers of a load come first. Where the kernel refuses, the thread only costs more.
        let _ = run_when_idle();
        let _ = self.terminal.enter().and_then(|()| self.until_end(end));
        self.terminal.leave();
    }

    fn until_end(&mut self, end: &PipeReader) -> io::Result<()> {
        let mut next = Instant::now();
        loop {
            let left = next.saturating_duration_since(Instant::now());
            let [pressed, ended] = self.terminal.wait(end.as_fd(), left)?;
            if ended {
                return Ok(());
            }
            if pressed {
                self.press(&self.terminal.read_keys()?);
            }
            if take_suspension() {
                self.suspend(end)?;
            }
            if Instant::now() >= next {
                next = Instant::now() + TICK;
                self.redraw()?;
            }
        }
    }

    fn press(&mut self, bytes: &[u8]) {
        for key in keys_of(bytes) {
            self.state.press(key);
            self.changed = true;
        }
        if self.state.ending {
            self.requests.stop.store(true, Ordering::Relaxed);
        }
        if let Some(pause) = &self.requests.pause {
            pause.store(self.state.paused, Ordering::Relaxed);
        }
    }

    fn redraw(&mut self) -> io::Result<()> {
        let next = self.shared.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(board) = next {
            (self.board, self.changed) = (board, true);
        }
        let size = self.screen.size()?;
        if self.changed || size != self.size {
            (self.changed, self.size) = (false, size);
            let (board, state) = (&self.board, &self.state);
            self.screen.draw(|frame| draw_board(frame, board, state))?;
        }
        Ok(())
    }

    /// Leaves the screen, suspends the process, and returns to the screen once the process is in
    /// the foreground again, or when the view is to end.
    fn suspend(&mut self, end: &PipeReader) -> io::Result<()> {
        self.terminal.leave();
        suspend()?;
        while !self.terminal.is_foreground() {
            let [ended] = sixmark_sys::readable::wait_until_readable([end.as_fd()], Some(TICK))?;
            if ended {
                return Ok(());
            }
        }
        self.terminal.enter()?;
        self.screen.clear()?;
        self.changed = true;
        Ok(())
    }
}

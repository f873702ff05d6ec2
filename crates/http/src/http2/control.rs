//! Frames that control streams and the connection (RFC 9113, 6.4 to 6.9).

use super::frame::{Frame, code, flag, kind, number_31};
use super::{Connection, Http2Violation};
use crate::observer::{Loss, Observer};

impl Connection {
    /// Processes a frame whose length has been checked.
    pub(super) fn control(
        &mut self,
        frame: Frame,
        payload: &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        match frame.kind {
            kind::SETTINGS => self.settings(frame, payload),
            kind::PING => self.ping(frame, payload),
            kind::WINDOW_UPDATE => self.window_update(frame.id, payload, observer),
            kind::RST_STREAM => {
                self.peer_reset(frame.id, payload, observer);
                Ok(())
            }
            _ => {
                self.peer_goaway(payload, observer);
                Ok(())
            }
        }
    }

    fn settings(&mut self, frame: Frame, payload: &[u8]) -> Result<(), Http2Violation> {
        self.count_empty()?;
        if frame.has(flag::ACK) {
            return Ok(());
        }
        self.count_answer()?;
        let before = self.peer;
        self.peer.read(payload)?;
        if !before.known {
            self.unlimited_below = self.next_id;
        }
        self.resize_due |= self.peer.table < before.table;
        self.output.frame(kind::SETTINGS, flag::ACK, 0, &[]);
        self.widen_all(i64::from(self.peer.window) - i64::from(before.window))
    }

    fn ping(&mut self, frame: Frame, payload: &[u8]) -> Result<(), Http2Violation> {
        self.count_empty()?;
        if !frame.has(flag::ACK) {
            self.count_answer()?;
            self.output.frame(kind::PING, flag::ACK, 0, payload);
        }
        Ok(())
    }

    fn window_update(
        &mut self,
        id: u32,
        payload: &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        self.count_empty()?;
        match (id, number_31(payload).unwrap_or(0)) {
            (0, 0) => return Err(Http2Violation::EmptyIncrement),
            (0, by) => return self.widen(by),
            // RFC 9113, 6.9 and 6.9.1: an error in a stream's window update is a stream error.
            (_, 0) => {
                let why = Http2Violation::EmptyIncrement.text();
                self.malformed(id, code::PROTOCOL, why, observer);
            }
            (_, by) if !self.widen_stream(id, by) => {
                let why = Http2Violation::WindowOverflow.text();
                self.malformed(id, code::FLOW_CONTROL, why, observer);
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the exchange of a stream that the peer reset. A refused stream was not processed (RFC
    /// 9113, 8.7). That is an outcome, unless this side caused it: a client need not wait for the
    /// peer's limit of streams and may have exceeded it. Such a request is reported as unprocessed.
    fn peer_reset(&mut self, id: u32, payload: &[u8], observer: &mut impl Observer) {
        if let Some(stream) = self.streams.remove(id) {
            self.sending.unqueue(&stream);
            let why = payload.first_chunk().map_or(0, |&bytes| u32::from_be_bytes(bytes));
            let unaware = why == code::REFUSED_STREAM && id < self.unlimited_below;
            let loss = if unaware { Loss::Unprocessed } else { Loss::Reset(u64::from(why)) };
            observer.lost(stream.token, loss);
        }
    }

    /// Ends the exchanges above the last stream of a GOAWAY, which were not processed (RFC 9113,
    /// 6.8); the others continue.
    fn peer_goaway(&mut self, payload: &[u8], observer: &mut impl Observer) {
        let last = number_31(payload).unwrap_or(0);
        let code = payload.get(4..).and_then(|rest| rest.first_chunk());
        self.goaway = code.map(|&bytes| u32::from_be_bytes(bytes)).or(self.goaway);
        let mut ids: Vec<u32> =
            self.streams.iter().map(|stream| stream.id).filter(|&id| id > last).collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(stream) = self.streams.remove(id) {
                self.sending.unqueue(&stream);
                self.late_up_to = self.late_up_to.max(id);
                observer.lost(stream.token, Loss::Unprocessed);
            }
        }
    }
}

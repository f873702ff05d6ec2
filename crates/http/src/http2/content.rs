//! DATA frames (RFC 9113, 6.1): their content is counted and, if observed, reported.

use super::frame::{Frame, code, flag, kind};
use super::progress::{Data, FramePart, skip, take};
use super::{Connection, Http2Violation};
use crate::observer::Observer;
use crate::semantics::response::Malformed;

impl Connection {
    pub(super) fn data_head(
        &mut self,
        frame: Frame,
        observer: &mut impl Observer,
    ) -> Result<FramePart, Http2Violation> {
        let (ends, padded) = (frame.has(flag::END_STREAM), frame.has(flag::PADDED));
        if frame.id == 0 {
            return Err(Http2Violation::WrongStream);
        }
        if padded && frame.length == 0 {
            return Err(Http2Violation::FrameLength);
        }
        // RFC 9113, 6.9: the whole frame counts, even if it is ignored.
        if let Some(by) = self.credit.spend(frame.length)? {
            self.output.number(kind::WINDOW_UPDATE, 0, by);
        }
        let Some(stream) = self.streams.find(frame.id) else {
            self.closed(frame.id)?;
            self.count_empty()?;
            return Ok(skip(frame.length));
        };
        if let Some(by) = stream.credit.spend(frame.length)?
            && !ends
        {
            self.output.number(kind::WINDOW_UPDATE, frame.id, by);
        }
        let data = Data { id: frame.id, padded, content: frame.length, padding: 0, ends };
        if !padded {
            self.announce(data, observer)?;
        }
        Ok(FramePart::Data(data))
    }

    pub(super) fn data(
        &mut self,
        mut data: Data,
        rest: &mut &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        if data.padded
            && let Some((&padding, after)) = rest.split_first()
        {
            *rest = after;
            data.padded = false;
            data.padding = u32::from(padding);
            data.content =
                (data.content - 1).checked_sub(data.padding).ok_or(Http2Violation::Padding)?;
            self.announce(data, observer)?;
        }
        if !data.padded {
            self.content(&mut data, rest, observer);
            data.padding -= take(rest, data.padding).len() as u32;
        }
        if data.padded || data.content + data.padding > 0 {
            self.receiving.place = FramePart::Data(data);
            return Ok(());
        }
        self.receiving.place = FramePart::Head;
        if data.ends {
            self.finish(data.id, observer);
        }
        Ok(())
    }

    /// Checks the frame once the length of its content is known, so that the result does not depend
    /// on how the bytes are split.
    fn announce(&mut self, data: Data, observer: &mut impl Observer) -> Result<(), Http2Violation> {
        if data.content > 0 || data.ends {
            self.count_use();
        } else {
            self.count_empty()?;
        }
        if let Some(stream) = self.streams.find(data.id)
            && let Err(Malformed(why)) = stream.response.content(u64::from(data.content))
        {
            self.malformed(data.id, code::PROTOCOL, why, observer);
        }
        Ok(())
    }

    fn content(&mut self, data: &mut Data, rest: &mut &[u8], observer: &mut impl Observer) {
        let piece = take(rest, data.content);
        data.content -= piece.len() as u32;
        // The stream may have ended since the frame began.
        if !piece.is_empty()
            && let Some(stream) = self.streams.find(data.id)
            && stream.observed
        {
            observer.content(stream.token, piece);
        }
    }
}

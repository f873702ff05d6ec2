//! Field blocks: HEADERS and CONTINUATION (RFC 9113, 4.3, 6.2 and 6.10).

use super::frame::{Frame, code, flag};
use super::progress::Block;
use super::{Connection, Http2Violation};
use crate::observer::{Observer, Token};
use crate::semantics::MAX_HEAD;
use crate::semantics::response::{FieldSection, Malformed, ResponseHead, Section};

/// The largest number of frames of one field block.
const MAX_PIECES: u32 = 64;

impl Connection {
    pub(super) fn fields_head(
        &mut self,
        frame: Frame,
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        let least = u32::from(frame.has(flag::PADDED)) + 5 * u32::from(frame.has(flag::PRIORITY));
        if frame.id == 0 {
            return Err(Http2Violation::WrongStream);
        }
        if frame.length < least {
            return Err(Http2Violation::FrameLength);
        }
        let Some(stream) = self.streams.find(frame.id) else { return self.closed(frame.id) };
        if !std::mem::replace(&mut stream.begun, true) {
            observer.begun(stream.token);
        }
        Ok(())
    }

    pub(super) fn fields_begin(
        &mut self,
        frame: Frame,
        payload: &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        let (id, ends) = (frame.id, frame.has(flag::END_STREAM));
        let block = unpadded(frame, payload).ok_or(Http2Violation::Padding)?;
        if frame.has(flag::END_HEADERS) {
            return self.section(id, ends, block, observer);
        }
        self.receiving.block = Some(Block { id, ends, pieces: 1, bytes: block.to_vec() });
        Ok(())
    }

    pub(super) fn fields_go_on(
        &mut self,
        frame: Frame,
        payload: &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        let mut block = self.receiving.block.take().ok_or(Http2Violation::Continuation)?;
        block.pieces += 1;
        block.bytes.extend_from_slice(payload);
        if block.pieces > MAX_PIECES {
            return Err(Http2Violation::Flood);
        }
        if block.bytes.len() > MAX_HEAD {
            return Err(Http2Violation::FieldsTooLong);
        }
        if frame.has(flag::END_HEADERS) {
            return self.section(block.id, block.ends, &block.bytes, observer);
        }
        self.receiving.block = Some(block);
        Ok(())
    }

    /// Decodes a whole field block and applies it to its stream.
    fn section(
        &mut self,
        id: u32,
        ends: bool,
        block: &[u8],
        observer: &mut impl Observer,
    ) -> Result<(), Http2Violation> {
        let Some(stream) = self.streams.find(id) else {
            // The fields are not needed, but the field table must be updated.
            self.count_empty()?;
            return Ok(self.decoder.decode(block, |_, _| {})?);
        };
        let is_told = stream.observed || observer.samples_fields();
        let (section, told) = (stream.response.section(), is_told.then_some(stream.token));
        let verdict = self.read_section(section, told, block, observer)?;
        self.count_use();
        let Some(stream) = self.streams.find(id) else { return Ok(()) };
        match verdict.and_then(|head| stream.response.fields(head, ends)) {
            Err(Malformed(why)) => self.malformed(id, code::PROTOCOL, why, observer),
            Ok(()) if ends => self.finish(id, observer),
            Ok(()) if stream.response.section() == Section::Head => {
                stream.begun = false;
                observer.interim(stream.token);
            }
            Ok(()) => {}
        }
        Ok(())
    }

    fn read_section(
        &mut self,
        section: Section,
        told: Option<Token>,
        block: &[u8],
        observer: &mut impl Observer,
    ) -> Result<Result<Option<ResponseHead>, Malformed>, Http2Violation> {
        let before = self.decoder.changes();
        let known = section == Section::Head && told.is_none();
        if known && let Some(head) = self.receiving.known.find(block, before) {
            return Ok(Ok(Some(head)));
        }
        let mut fields = FieldSection::of(section);
        self.decoder.decode(block, |name, value| {
            if fields.add(name, value)
                && let Some(token) = told
            {
                observer.field(token, name, value);
            }
        })?;
        let verdict = fields.verdict();
        // A block that changes the table has another meaning the next time.
        if let Ok(head) = verdict
            && known
            && self.decoder.changes() == before
        {
            self.receiving.known.learn(block, before, head);
        }
        Ok(verdict)
    }
}

/// Returns the fields in the payload of a HEADERS frame, without the padding and the priority.
fn unpadded(frame: Frame, payload: &[u8]) -> Option<&[u8]> {
    let mut block = payload;
    let mut padding = 0;
    if frame.has(flag::PADDED) {
        let (&length, rest) = block.split_first()?;
        (padding, block) = (usize::from(length), rest);
    }
    if frame.has(flag::PRIORITY) {
        block = block.get(5..)?;
    }
    block.get(..block.len().checked_sub(padding)?)
}

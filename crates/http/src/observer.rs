//! Events of a connection that carries several exchanges at once.

/// The caller's number for an exchange. It is given with the request and returned with every event
/// of the exchange.
pub type Token = u32;

/// Receives what was read from a connection, in the order of reading.
pub trait Observer {
    /// The first byte of a response's head was read. Called once for each exchange, and once more
    /// after each [`interim`](Observer::interim) response.
    fn begun(&mut self, token: Token);

    /// The head that [`begun`](Observer::begun) reported was that of an interim response (RFC 9110,
    /// 15.2): the final response has not begun.
    fn interim(&mut self, _token: Token) {}

    /// Returns true if [`field`](Observer::field) is to be called for the heads that are read now,
    /// whatever their requests asked for.
    fn samples_fields(&self) -> bool {
        false
    }

    /// A field of the final response's head, with its name in lower case. Called only for exchanges
    /// whose request asked for it, and while fields are sampled.
    fn field(&mut self, token: Token, name: &[u8], value: &[u8]);

    /// More of the response's content. Called only for exchanges whose request asked for it.
    fn content(&mut self, token: Token, bytes: &[u8]);

    /// The response is complete. No further event of the exchange follows.
    fn complete(&mut self, token: Token, answer: Answer);

    /// The exchange ended without a complete response. No further event of the exchange follows.
    fn lost(&mut self, token: Token, loss: Loss);
}

/// A response read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The final status code, 100..=999.
    pub status: u16,
    /// The length of the content, in bytes.
    pub body: u64,
}

/// The reason why an exchange has no complete response. The connection may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The peer reset the stream with this code (RFC 9113, 6.4; RFC 9114, 8.1).
    Reset(u64),
    /// The peer did not process the request and never will, so it may be sent again (RFC 9113, 6.8
    /// and 8.7; RFC 9114, 5.2).
    Unprocessed,
    /// The response was malformed (RFC 9113, 8.1.1; RFC 9114, 4.1.2). This side reset the stream
    /// with this code.
    Malformed {
        /// The error code.
        code: u64,
        /// What was malformed, in a few words.
        why: &'static str,
    },
}

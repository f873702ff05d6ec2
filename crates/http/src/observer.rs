//! What a connection that carries several exchanges at once tells of them as it reads.

/// The caller's number for an exchange, given with its request and handed back with all that is told
/// of it.
pub type Token = u32;

/// Learns what was read, in the order in which it was.
pub trait Observer {
    /// The first byte of the response's head came; once for each exchange, interim responses
    /// included.
    fn begun(&mut self, token: Token);

    /// A field of the final response's head, names in lower case. Only of exchanges whose request
    /// said that it is to be looked at.
    fn field(&mut self, token: Token, name: &[u8], value: &[u8]);

    /// More of the response's content; of the same exchanges.
    fn content(&mut self, token: Token, bytes: &[u8]);

    /// The response is here as a whole. Nothing more is told of the exchange.
    fn complete(&mut self, token: Token, answer: Answer);

    /// The exchange ended without a complete response. Nothing more is told of it.
    fn lost(&mut self, token: Token, loss: Loss);
}

/// A response read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The final status code, 100..=999.
    pub status: u16,
    /// Bytes of content.
    pub body: u64,
}

/// Why there is no complete response, though the connection may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The peer reset the stream with this code (RFC 9113, 6.4; RFC 9114, 8.1).
    Reset(u64),
    /// The peer said that it did nothing with the request and will not: it may be sent again (RFC
    /// 9113, 6.8 and 8.7; RFC 9114, 5.2).
    Unprocessed,
    /// What came of the response was illegal (RFC 9113, 8.1.1; RFC 9114, 4.1.2). The stream was reset
    /// by this side with this code.
    Malformed {
        /// The code.
        code: u64,
        /// What was illegal, in a few words.
        why: &'static str,
    },
}

//! How much of a result is printed.

use sixmark_record::text::Detail;

/// How much to print.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct DetailArgs {
    /// Print every figure of a run: all phases, connections, TLS, TCP, QUIC, CPU time
    #[arg(long, help_heading = "Output", display_order = 3)]
    full: bool,
}

impl DetailArgs {
    /// Returns the level of detail that the options select.
    pub(super) fn detail(self) -> Detail {
        if self.full { Detail::Full } else { Detail::Answer }
    }
}

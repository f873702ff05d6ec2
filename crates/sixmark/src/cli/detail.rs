//! How much of a result is printed.

use sixmark_report::text::Detail;

use super::out;

/// How much to print.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct DetailArgs {
    /// Print every figure of a run: all phases, connections, TLS, TCP, QUIC, CPU time,
    /// and the codes of warnings
    #[arg(long, help_heading = "Output", display_order = 3)]
    full: bool,
}

impl DetailArgs {
    /// Prints warnings with their codes from now on, if everything is to be printed.
    pub(super) fn show_codes(self) {
        if self.full {
            out::show_codes();
        }
    }

    /// Returns the level of detail that the options select.
    pub(super) fn detail(self) -> Detail {
        if self.full { Detail::Full } else { Detail::Answer }
    }
}

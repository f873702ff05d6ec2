//! A start of the program that is tested.

use sixmark_sys::command_error::CommandError;

use super::app_network::AppNetwork;
use super::{CapturedStart, Only6Options};

/// Starts the program that is tested in a network, and watches it. `None` if it was stopped.
///
/// # Errors
/// Returns an error if a program can't be started or watched.
pub fn watch_start(
    network: &AppNetwork,
    options: &Only6Options<'_>,
) -> Result<Option<CapturedStart>, CommandError> {
    match options.client {
        Some(client) => network.watch_client(client, options),
        None => network.watch_server(options),
    }
}

//! How a start of a client ended.

use serde::{Deserialize, Serialize};

/// How a start of a client ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientEnd {
    /// Its exit status; null if a signal ended it, or if it was ended because it had been watched for long
    /// enough.
    pub status: Option<i32>,
    /// The signal that ended it; null if none did, or as above.
    pub signal: Option<i32>,
    /// How many of its processes were left when it had ended. They were ended too.
    pub processes_left: u32,
    /// The last line that it wrote to standard error, cut after 200 characters; null if it wrote none.
    pub last_line: Option<String>,
}

impl ClientEnd {
    /// Returns how it ended, in words that follow its name.
    pub fn words(&self) -> String {
        match (self.status, self.signal) {
            (Some(status), _) => format!("ended with status {status}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "still ran when its time was over".to_owned(),
        }
    }
}

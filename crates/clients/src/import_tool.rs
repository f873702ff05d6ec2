//! The tools whose output can be imported.

/// A tool whose output can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportTool {
    /// GNU Wget: its log (`-o FILE`), in English.
    Wget,
    /// curl: what `-w '%{json}'` writes.
    Curl,
    /// ApacheBench.
    Ab,
    /// nghttp2's h2load.
    H2load,
    /// iperf3: its JSON (`-J`) of a test over TCP.
    Iperf3,
}

impl ImportTool {
    /// All tools.
    pub const ALL: [ImportTool; 5] = [
        ImportTool::Wget,
        ImportTool::Curl,
        ImportTool::Ab,
        ImportTool::H2load,
        ImportTool::Iperf3,
    ];

    /// The names of all tools, in the same order.
    pub const NAMES: [&str; 5] = ["wget", "curl", "ab", "h2load", "iperf3"];

    /// Returns the tool of this name.
    pub fn named(name: &str) -> Option<ImportTool> {
        ImportTool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns its name, which is that of the program.
    pub fn name(self) -> &'static str {
        ImportTool::NAMES[self as usize]
    }
}

/// Returns the names of all clients of cells: those of studies, and the tools that only imports have.
pub fn client_names() -> Vec<&'static str> {
    let known = crate::client::Client::NAMES;
    let others = ImportTool::NAMES.into_iter().filter(|name| !known.contains(name));
    known.into_iter().chain(others).collect()
}

//! The versions of libraries, from Cargo.lock. For the build script, and for its tests.

/// The libraries whose version `sixmark --version --verbose` prints: what speaks to the network or decides a figure. AWS-LC and
/// SQLite name their versions themselves.
const SHOWN: [&str; 12] = [
    "async-nats",
    "aws-lc-rs",
    "aws-lc-sys",
    "h3",
    "hdrhistogram",
    "hyper",
    "io-uring",
    "libsqlite3-sys",
    "quinn-proto",
    "rustls",
    "smoltcp",
    "tokio",
];

/// Returns each of these libraries with its version, such as `rustls 0.23.43`.
pub(crate) fn libraries(lock: &str) -> Vec<String> {
    let packages = lock
        .split("[[package]]")
        .skip(1)
        .filter_map(|package| Some((value(package, "name")?, value(package, "version")?)));
    let shown = packages.filter(|(name, _)| SHOWN.contains(name));
    shown.map(|(name, version)| format!("{name} {version}")).collect()
}

fn value<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
    Some(line.trim_matches('"'))
}

//! Parses the NFS counters of clients and servers (`/proc/net/rpc/nfs` and `nfsd`).

use crate::counter::Counter;
use crate::host::Nfs;

/// Returns the calls of a client, or `None` if the text has none.
pub fn nfs_client(text: &str) -> Option<Nfs> {
    let [calls, repeated, _] = numbers(text, "rpc")?;
    Some(Nfs { calls, repeated_or_bad: repeated, ..Nfs::default() })
}

/// Returns the calls and bytes of a server, or `None` if the text has no calls.
pub fn nfs_server(text: &str) -> Option<Nfs> {
    let [calls, bad, _] = numbers(text, "rpc")?;
    let [read_bytes, written_bytes, _] = numbers(text, "io").unwrap_or_default();
    Some(Nfs { calls, repeated_or_bad: bad, read_bytes, written_bytes })
}

/// Returns the first three numbers of the line with this name; missing numbers are 0.
fn numbers(text: &str, name: &str) -> Option<[Counter; 3]> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    let mut words = line.split_whitespace().map(|word| word.parse().unwrap_or(0));
    Some([(); 3].map(|()| Counter(words.next().unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_counters_of_nfs_clients_and_servers() {
        let client = nfs_client("net 0 0 0 0\nrpc 1234 5 1240\nproc3 22 0 1\n").unwrap();
        assert_eq!((client.calls, client.repeated_or_bad), (Counter(1_234), Counter(5)));
        let server = "rc 0 10 20\nfh 0 0 0 0 0\nio 4096 8192\nth 8 0\nrpc 77 2 2 0 0\n";
        let server = nfs_server(server).unwrap();
        assert_eq!((server.calls, server.repeated_or_bad), (Counter(77), Counter(2)));
        assert_eq!((server.read_bytes, server.written_bytes), (Counter(4_096), Counter(8_192)));
        assert_eq!(nfs_client(""), None);
    }
}

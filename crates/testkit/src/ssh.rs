//! OpenSSH servers of a test's own on loopback, with generated keys, and a client's configuration
//! for them.

use std::fs;
use std::net::{IpAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::process::{Process, program};
use crate::skipped;

/// How often another port is tried when the one that was free is in use by now.
const TRIES: usize = 5;

/// Servers of which each stands for a host, called `h0`, `h1` and so on. A client's configuration
/// ([`SshSite::ssh`]) also has `stranger`, which is `h0` with a key that is not known, and `closed`,
/// where no server listens.
pub struct SshSite {
    dir: TempDir,
    hosts: Vec<Process>,
}

/// Returns true if these tests are left out. They need root.
pub fn without_openssh() -> bool {
    skipped("openssh")
}

impl SshSite {
    /// Starts a server at each of these addresses.
    pub fn start(addresses: &[IpAddr]) -> SshSite {
        let dir = TempDir::new().unwrap();
        make_key(&dir.path().join("key"));
        let (mut hosts, mut config, mut known) = (Vec::new(), String::new(), String::new());
        for (index, address) in addresses.iter().enumerate() {
            let folder = dir.path().join(format!("h{index}"));
            for name in ["bin", "home", "tmp"] {
                fs::create_dir_all(folder.join(name)).unwrap();
            }
            make_key(&folder.join("host-key"));
            let (process, port) = start_server(dir.path(), &folder, *address);
            hosts.push(process);
            let key = fs::read_to_string(folder.join("host-key.pub")).unwrap();
            known += &format!("[{address}]:{port} {key}");
            config += &entry(&format!("h{index}"), *address, port, "known");
            if index == 0 {
                config += &entry("stranger", *address, port, "known-to-nobody");
            }
        }
        // Bound, so that no other process gets it, but not listening: connections are refused.
        let closed = socket2::Socket::new(socket2::Domain::IPV6, socket2::Type::STREAM, None);
        let closed = closed.unwrap();
        let any: std::net::SocketAddr = "[::1]:0".parse().unwrap();
        closed.bind(&any.into()).unwrap();
        let port = closed.local_addr().unwrap().as_socket().unwrap().port();
        std::mem::forget(closed);
        config += &entry("closed", any.ip(), port, "known");
        let path = dir.path().display().to_string();
        fs::write(dir.path().join("known"), known).unwrap();
        fs::write(dir.path().join("config"), config.replace("{dir}", &path)).unwrap();
        SshSite { dir, hosts }
    }

    /// Returns the client's command as a shell takes it.
    pub fn ssh(&self) -> String {
        format!("ssh -F {}", self.dir.path().join("config").display())
    }

    /// Makes a host's `PATH` find a program with this script.
    pub fn install(&self, host: usize, name: &str, script: &str) {
        write_script(&self.folder(host).join("bin").join(name), script);
    }

    /// Returns the folder of a host's temporary files.
    pub fn temporary(&self, host: usize) -> PathBuf {
        self.folder(host).join("tmp")
    }

    /// Returns what a host's server has logged.
    pub fn log(&self, host: usize) -> String {
        self.hosts[host].said()
    }

    fn folder(&self, host: usize) -> PathBuf {
        self.dir.path().join(format!("h{host}"))
    }
}

/// Writes an executable script.
pub fn write_script(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn make_key(path: &Path) {
    let mut command = program("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
    let made = command.status().unwrap_or_else(|error| {
        panic!(
            "can't start ssh-keygen ({error}): install the Debian packages openssh-client and \
             openssh-server, or leave these tests out with SIXMARK_SKIP=openssh"
        )
    });
    assert!(made.success());
}

fn start_server(dir: &Path, folder: &Path, address: IpAddr) -> (Process, u16) {
    for _ in 0..TRIES {
        let port = TcpListener::bind((address, 0)).unwrap().local_addr().unwrap().port();
        let config = folder.join("sshd_config");
        fs::write(&config, server_config(dir, folder, address, port)).unwrap();
        // It wants a folder in /run, which is made in a mount namespace of its own.
        let script = "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec \"$@\"";
        let sshd = sixmark_sys::program::find_program("sshd").unwrap_or("sshd".into());
        let mut command: Command = program("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]);
        command.arg(sshd).args(["-D", "-e", "-f"]).arg(config);
        let mut process = Process::start(&mut command, folder, "openssh-server", "openssh");
        if process.wait_until_it_says("Server listening on") {
            return (process, port);
        }
        let said = process.said();
        assert!(said.contains("Address already in use"), "sshd ended: {said}");
    }
    panic!("no port for sshd after {TRIES} tries");
}

fn server_config(dir: &Path, folder: &Path, address: IpAddr, port: u16) -> String {
    let (dir, folder) = (dir.display(), folder.display());
    let address = match address {
        IpAddr::V6(address) => format!("[{address}]"),
        IpAddr::V4(address) => address.to_string(),
    };
    format!(
        "ListenAddress {address}:{port}
         HostKey {folder}/host-key
         AuthorizedKeysFile {dir}/key.pub
         AuthenticationMethods publickey
         PermitRootLogin yes
         StrictModes no
         UsePAM no
         PrintMotd no
         PidFile none
         MaxStartups 100
         SetEnv PATH={folder}/bin:/usr/bin:/bin HOME={folder}/home TMPDIR={folder}/tmp
         "
    )
}

fn entry(name: &str, address: IpAddr, port: u16, known: &str) -> String {
    format!(
        "Host {name}
           HostName {address}
           Port {port}
           User root
           IdentityFile {{dir}}/key
           IdentitiesOnly yes
           IdentityAgent none
           UserKnownHostsFile {{dir}}/{known}
           GlobalKnownHostsFile /dev/null
         "
    )
}

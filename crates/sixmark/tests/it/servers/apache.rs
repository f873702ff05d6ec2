//! Apache: one process with threads, its files in the test's folder.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use super::process::program;
use super::server::{Kind, Settings};

pub(super) const APACHE: Kind = Kind {
    package: "apache2-bin",
    skip: "apache",
    prepare,
    first: 0,
    // Looking whether a next request is there already, Apache counts its first byte twice.
    counts_requests: false,
};

fn prepare(dir: &Path, addresses: [SocketAddr; 2], settings: &Settings) -> Command {
    std::fs::write(dir.join("conf"), configuration(dir, addresses, settings)).unwrap();
    let mut command = program("apache2");
    // One process in the foreground, so that ending it leaves nothing behind.
    command.arg("-X").arg("-d").arg(dir).arg("-f").arg(dir.join("conf"));
    command
}

fn configuration(dir: &Path, [one, other]: [SocketAddr; 2], settings: &Settings) -> String {
    // Apache's limit is on those after the first.
    let (dir, a_connection) = (dir.display(), settings.a_connection - 1);
    let modules: String = ["mpm_event", "authz_core", "include"]
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .concat();
    format!(
        "{modules}
         ServerName localhost
         # Heeded where root starts it; Debian has this account on every system.
         User www-data
         Group www-data
         DefaultRuntimeDir {dir}
         PidFile {dir}/pid
         ErrorLog {dir}/errors
         LogFormat \"%a %k %>s %I %O %U\" line
         CustomLog {dir}/log line
         Listen {one}
         Listen {other}
         ListenBacklog 4096
         StartServers 1
         ServerLimit 1
         ThreadsPerChild 64
         MaxRequestWorkers 64
         KeepAliveTimeout 60
         MaxKeepAliveRequests {a_connection}
         DocumentRoot {dir}/www
         <Directory {dir}/www>
             Require all granted
             Options +Includes
         </Directory>
         <Location /ssi/>
             SetOutputFilter INCLUDES
         </Location>
         "
    )
}

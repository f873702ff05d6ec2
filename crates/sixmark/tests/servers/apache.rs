//! Apache: one process with threads, its files in the test's folder.

use std::process::Command;

use sixmark_testkit::client::Protocol;
use sixmark_testkit::process::program;
use sixmark_testkit::web_server::{ServerKind, ServerSettings, ServerSite};

pub(super) const APACHE: ServerKind = ServerKind {
    package: "apache2-bin",
    skip: "apache",
    plain: &[Protocol::Http1, Protocol::Http2],
    secure: &[Protocol::Http1, Protocol::Http2],
    prepare,
    first: 0,
    // Looking whether a next request is there already, Apache counts its first byte twice.
    counts_requests: false,
};

fn prepare(site: &ServerSite<'_>, settings: &ServerSettings) -> Vec<Command> {
    let conf = site.dir.join("conf");
    std::fs::write(&conf, configuration(site, settings)).unwrap();
    let mut command = program("apache2");
    // One process in the foreground, so that ending it leaves nothing behind.
    command.arg("-X").arg("-d").arg(site.dir).arg("-f").arg(conf);
    vec![command]
}

fn configuration(site: &ServerSite<'_>, settings: &ServerSettings) -> String {
    // Apache's limit is on those after the first.
    let (dir, a_connection) = (site.dir.display(), settings.a_connection - 1);
    let listen: String =
        [site.plain, site.secure].concat().iter().map(|at| format!("Listen {at}\n")).collect();
    let secure = secure(site);
    let modules: String = ["mpm_event", "authz_core", "include", "ssl", "http2"]
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
         LogFormat \"%a %k %>s %I %O %H %{{SSL_PROTOCOL}}x %U\" line
         CustomLog {dir}/log line
         {listen}
         ListenBacklog 4096
         StartServers 1
         ServerLimit 1
         ThreadsPerChild 64
         MaxRequestWorkers 64
         KeepAliveTimeout 60
         MaxKeepAliveRequests {a_connection}
         Protocols h2c http/1.1
         DocumentRoot {dir}/www
         <Directory {dir}/www>
             Require all granted
             Options +Includes
         </Directory>
         <Location /ssi/>
             SetOutputFilter INCLUDES
         </Location>
         {secure}
         "
    )
}

/// What it is over TLS.
fn secure(site: &ServerSite<'_>) -> String {
    let [six, four] = site.secure;
    let [certificate, key] =
        [site.certificate(), site.key()].map(|path| path.display().to_string());
    format!(
        "<VirtualHost {six} {four}>
             Protocols h2 http/1.1
             SSLEngine on
             SSLCertificateFile {certificate}
             SSLCertificateKeyFile {key}
         </VirtualHost>"
    )
}

//! The files of a standing server: its configuration, its certificate, and who may use it.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};

use super::configuration::{FleetUsers, Settings, UsersPart, configure};
use super::credentials::Credentials;
use super::roster::{self, failed, is_there, write_agents, write_first_users, write_new};
use crate::names::AgentName;

/// The server's configuration: `nats-server --config server.conf`.
const CONFIGURATION: &str = "server.conf";
/// The server's certificate.
const CERTIFICATE: &str = "server.pem";
/// The key of the certificate.
const KEY: &str = "server.key";
/// The credentials of the controller.
const CONTROLLER: &str = "controller.creds";

/// Writes the files of a standing server into `folder`, which is created if it is not there:
/// `server.conf`, `users.conf`, `fleet.json`, `authority.pem`, `server.pem`, `server.key`,
/// `controller.creds`, and `agents/NAME.creds` of each agent. The server listens on `port` of all
/// addresses of both families. `names` are the DNS names and the addresses by which agents and the
/// controller reach it. Credentials contain the certificate by which they know it.
///
/// # Errors
/// One line: a name can't be in a certificate, or a file is there already or can't be written.
pub fn write_fleet(
    folder: &Path,
    names: &[String],
    port: u16,
    agents: &[AgentName],
) -> Result<(), String> {
    let Certified { authority, certificate, key } = certify(names)?;
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    // nats-server reads relative paths from its working folder, which differs when a service
    // manager starts it.
    let folder = fs::canonicalize(folder).map_err(|error| failed(folder, &error))?;
    let (controller, public) = Credentials::generate(Some(&authority));
    let paths = [CERTIFICATE, KEY].map(|name| folder.join(name));
    let configuration = configure(&Settings {
        listen: SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)),
        store: &folder.join("store"),
        users: UsersPart::File(roster::CONFIGURATION),
        tls: Some(paths.each_ref().map(|path| path.as_path())),
        ports: None,
    });
    let files = [
        (CONFIGURATION, configuration, 0o644),
        (roster::AUTHORITY, authority.clone(), 0o644),
        (CERTIFICATE, certificate, 0o644),
        (KEY, key, 0o600),
        (CONTROLLER, controller.to_text(), 0o600),
    ]
    .map(|(name, text, mode)| (folder.join(name), text, mode));
    if let Some((path, ..)) = files.iter().find(|(path, ..)| path.exists()) {
        return Err(is_there(path));
    }
    files.iter().try_for_each(|(path, text, mode)| write_new(path, text, *mode))?;
    let mut users = FleetUsers { controller: public, agents: BTreeMap::new() };
    write_agents(&folder, &mut users, agents, &authority)?;
    write_first_users(&folder, &users)
}

/// PEM texts.
struct Certified {
    authority: String,
    certificate: String,
    key: String,
}

/// Makes an authority and the server's certificate. The authority's key is not kept: it can sign
/// nothing else.
fn certify(names: &[String]) -> Result<Certified, String> {
    let failed = |error: rcgen::Error| format!("no certificate for {}: {error}", names.join(", "));
    if names.is_empty() {
        return Err("no name of the server: give those by which agents reach it".to_owned());
    }
    let named = |what: &str| {
        let mut name = DistinguishedName::new();
        name.push(DnType::CommonName, what);
        name
    };
    let mut authority = CertificateParams::default();
    authority.distinguished_name = named("sixmark fleet");
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority_key = KeyPair::generate().map_err(failed)?;
    let authority_pem = authority.self_signed(&authority_key).map_err(failed)?.pem();
    let issuer = Issuer::new(authority, authority_key);

    let names: Vec<String> =
        names.iter().map(|name| name.trim_matches(['[', ']']).to_owned()).collect();
    let mut server = CertificateParams::new(names.clone()).map_err(failed)?;
    server.distinguished_name = named("sixmark fleet's server");
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = server.signed_by(&key, &issuer).map_err(failed)?.pem();
    Ok(Certified { authority: authority_pem, certificate, key: key.serialize_pem() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn writes_private_secret_files_and_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("fleet");
        let names = ["fleet.example".to_owned(), "[2001:db8::1]".to_owned()];
        let agents = ["a".parse().unwrap()];
        write_fleet(&folder, &names, 4222, &agents).unwrap();
        const AGENT: &str = "agents/a.creds";
        for (name, mode) in [(KEY, 0o600), (CONTROLLER, 0o600), (AGENT, 0o600)] {
            let found = fs::metadata(folder.join(name)).unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode, "{name}");
        }
        for name in [CONTROLLER, AGENT] {
            assert!(Credentials::read(&folder.join(name)).unwrap().authority().is_some());
        }
        let before = fs::read(folder.join(AGENT)).unwrap();
        let line = write_fleet(&folder, &names, 4222, &agents).unwrap_err();
        assert!(line.contains("server.conf already exists"), "{line}");
        fs::remove_file(folder.join(CONFIGURATION)).unwrap();
        assert!(write_fleet(&folder, &names, 4222, &agents).is_err());
        assert_eq!(fs::read(folder.join(AGENT)).unwrap(), before);
        assert!(!folder.join(CONFIGURATION).exists());
    }

    #[test]
    fn rejects_missing_and_non_ascii_server_names() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_fleet(folder.path(), &[], 4222, &[]).is_err());
        assert!(write_fleet(folder.path(), &["ü.example".to_owned()], 4222, &[]).is_err());
    }
}

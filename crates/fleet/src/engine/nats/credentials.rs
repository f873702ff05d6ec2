//! Who a client of a NATS server is: a file with the seed of an nkey, and the name of the agent whose
//! it is.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nkeys::KeyPair;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use sixmark_sys::text_file;

use crate::names::AgentName;

const SEED: [&str; 2] = ["-----BEGIN USER NKEY SEED-----", "------END USER NKEY SEED------"];
const JWT: [&str; 2] = ["-----BEGIN NATS USER JWT-----", "------END NATS USER JWT------"];
const AGENT: [&str; 2] = ["-----BEGIN SIXMARK AGENT-----", "------END SIXMARK AGENT------"];
const CERTIFICATE: [&str; 2] = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"];

/// The credentials of a client: the seed of an nkey, perhaps with the JWT that a NATS operator gave
/// it, perhaps with the name of the agent to which they were given, and perhaps with the certificate
/// of the authority that signed the server's.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    seed: String,
    jwt: Option<String>,
    agent: Option<AgentName>,
    /// Certificates in PEM.
    authority: Option<String>,
}

impl Credentials {
    /// Creates credentials with a new nkey, and returns them with its public key, by which a
    /// server knows it.
    pub fn generate(authority: Option<&str>) -> (Credentials, String) {
        let key = KeyPair::new_user();
        let public = key.public_key();
        // A key that was made with its seed has it.
        let seed = key.seed().unwrap_or_default();
        let authority = authority.map(str::to_owned);
        (Credentials { seed, jwt: None, agent: None, authority }, public)
    }

    /// Returns these credentials as those of an agent.
    #[must_use]
    pub fn for_agent(self, name: &AgentName) -> Credentials {
        Credentials { agent: Some(name.clone()), ..self }
    }

    /// Reads a file of credentials, or a `.creds` file of NATS.
    ///
    /// # Errors
    /// One line: the file can't be read, everyone may read it, or it has no credentials.
    pub fn read(path: &Path) -> Result<Credentials, String> {
        let named = |what: String| format!("{}: {what}", path.display());
        let text = text_file::read_file(path).map_err(|error| named(error.to_string()))?;
        let mode = fs::metadata(path).map_err(|error| named(error.to_string()))?.mode();
        if mode & 0o004 != 0 {
            return Err(named(
                "everyone on this machine may read these credentials: chmod 600 it, and replace \
                 them if others use this machine"
                    .to_owned(),
            ));
        }
        Credentials::parse(&text).map_err(named)
    }

    /// Reads credentials from the text of a file.
    ///
    /// # Errors
    /// One line: what is wrong with the text.
    pub fn parse(text: &str) -> Result<Credentials, String> {
        let seed = find_block(text, SEED[0]).ok_or_else(|| {
            format!("no credentials: there is no line {} with a seed below it", SEED[0])
        })?;
        // The first letter says that it is a seed, the second that it is a user's.
        if !seed.starts_with("SU") || KeyPair::from_seed(&seed).is_err() {
            return Err("the seed in these credentials is not that of a user's nkey".to_owned());
        }
        let authority = find_certificates(text);
        if let Some(pem) = &authority {
            check_certificates(pem)?;
        }
        let agent = find_block(text, AGENT[0]).map(|name| name.parse()).transpose();
        let agent =
            agent.map_err(|why: String| format!("the agent in these credentials: {why}"))?;
        Ok(Credentials { seed, jwt: find_block(text, JWT[0]), agent, authority })
    }

    /// Returns these credentials as the text of a file.
    pub fn to_text(&self) -> String {
        let block = |[begin, end]: [&str; 2], body: &str| format!("{begin}\n{body}\n{end}\n");
        let jwt = self.jwt.as_ref().map(|jwt| block(JWT, jwt));
        let seed = block(SEED, &self.seed);
        let agent = self.agent.as_ref().map(|name| block(AGENT, name.as_str()));
        let authority = self.authority.clone();
        [jwt.unwrap_or_default(), seed, agent.unwrap_or_default(), authority.unwrap_or_default()]
            .concat()
    }

    /// Returns the agent to which they were given; `None` if they don't name one.
    pub fn agent(&self) -> Option<&AgentName> {
        self.agent.as_ref()
    }

    /// Returns the certificates of authorities that may have signed the server's, in PEM.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// Returns the seed of the nkey.
    pub(super) fn seed(&self) -> &str {
        &self.seed
    }

    /// Returns whether an operator of NATS signed who this is.
    pub(super) fn has_jwt(&self) -> bool {
        self.jwt.is_some()
    }
}

/// The text below a line, without the line that ends it.
fn find_block(text: &str, begin: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != begin).skip(1);
    let body = lines.find(|line| !line.is_empty())?;
    (!body.starts_with('-')).then(|| body.to_owned())
}

/// All certificates of a text, as they stand there.
fn find_certificates(text: &str) -> Option<String> {
    let mut found = String::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        inside |= line == CERTIFICATE[0];
        if inside {
            found += line;
            found.push('\n');
        }
        inside &= line != CERTIFICATE[1];
    }
    (!found.is_empty()).then_some(found)
}

fn check_certificates(pem: &str) -> Result<(), String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(()),
        _ => Err("the certificate in these credentials can't be read: it is not PEM".to_owned()),
    }
}

// The seed must not get into a log.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn parses_the_credentials_that_it_wrote() {
        let (plain, public) = Credentials::generate(None);
        assert_eq!(Credentials::parse(&plain.to_text()), Ok(plain.clone()));
        assert_eq!(KeyPair::from_seed(plain.seed()).unwrap().public_key(), public);
        let made = rcgen::generate_simple_self_signed(["a.example".to_owned()]).unwrap();
        let (with, _) = Credentials::generate(Some(&made.cert.pem().replace("\r\n", "\n")));
        assert_eq!(Credentials::parse(&with.to_text()), Ok(with.clone()));
        assert!(with.authority().unwrap().starts_with(CERTIFICATE[0]));
        let jwt = Credentials { jwt: Some("ey.J0".to_owned()), ..plain };
        assert_eq!(Credentials::parse(&jwt.to_text()), Ok(jwt.clone()));
        let named = jwt.clone().for_agent(&"a-1".parse().unwrap());
        assert_eq!(Credentials::parse(&named.to_text()), Ok(named.clone()));
        assert_eq!(named.agent().unwrap().as_str(), "a-1");
        assert!(jwt.has_jwt() && !format!("{jwt:?}").contains(jwt.seed()));
    }

    #[test]
    fn rejects_invalid_credentials_with_one_line() {
        let account = KeyPair::new_account().seed().unwrap();
        for (text, said) in [
            (String::new(), "no line -----BEGIN USER NKEY SEED-----"),
            (SEED[0].to_owned(), "with a seed below it"),
            (SEED.join("\n"), "with a seed below it"),
            (format!("{}\nSUAB\n", SEED[0]), "not that of a user's nkey"),
            (format!("{}\n{account}\n", SEED[0]), "not that of a user's nkey"),
            (
                format!("{}{}\na.b\n", Credentials::generate(None).0.to_text(), AGENT[0]),
                "'a.b' is not a name",
            ),
            (
                Credentials::generate(Some("-----BEGIN CERTIFICATE-----\n*\n")).0.to_text(),
                "not PEM",
            ),
        ] {
            let line = Credentials::parse(&text).unwrap_err();
            assert!(line.contains(said) && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn rejects_a_world_readable_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.creds");
        let (credentials, _) = Credentials::generate(None);
        assert!(Credentials::read(&path).unwrap_err().starts_with(path.to_str().unwrap()));
        fs::write(&path, credentials.to_text()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Credentials::read(&path).unwrap_err().contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(Credentials::read(&path), Ok(credentials));
    }
}

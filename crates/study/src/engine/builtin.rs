//! The built-in studies.

/// A built-in study and the files beside it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Builtin {
    pub(super) name: &'static str,
    pub(super) study: &'static str,
    files: &'static [(&'static str, &'static str)],
}

impl Builtin {
    /// Returns the text of a file beside it.
    pub(super) fn file(&self, name: &str) -> Option<&'static str> {
        self.files.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }
}

/// Embeds a study of the folder `experiments`, with these files. The crate reaches it through a link, so that
/// its package contains them.
macro_rules! study {
    ($name:literal, $($file:literal),*) => {
        Builtin {
            name: $name,
            study: include_str!(concat!("../../experiments/", $name, "/study.toml")),
            files: &[$((
                $file,
                include_str!(concat!("../../experiments/", $name, "/", $file)),
            )),*],
        }
    };
}

/// All built-in studies.
pub(super) const BUILTIN: [Builtin; 8] = [
    study!("anma", "published.toml", "lab.toml"),
    study!("apache", "published.toml", "lab.toml"),
    study!("blackhole", "lab.toml"),
    study!("dell", "published.toml", "lab.toml"),
    study!("ipv6-only", "lab.toml"),
    study!("nat64", "lab.toml"),
    study!("regensburg", "published.toml", "lab.toml"),
    study!("towson", "published.toml", "lab.toml"),
];

//! The forms in which a study can be carried out.

/// The requested form of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Whether the short form is requested.
    pub quick: bool,
    /// Whether the long form is requested.
    pub full: bool,
    /// Whether the form for a lab is requested.
    pub in_lab: bool,
}

impl Form {
    /// Returns the options of `sixmark study run` that request it; empty for the default form.
    pub fn options(self) -> String {
        let options = [(self.quick, "--quick"), (self.full, "--full"), (self.in_lab, "--in-lab")];
        let wanted: Vec<&str> =
            options.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name).collect();
        wanted.join(" ")
    }

    /// Returns its name in sentences; `None` for the default form.
    pub(crate) fn name(self) -> Option<String> {
        let length = match (self.quick, self.full) {
            (true, _) => "quick ",
            (_, true) => "full ",
            _ => "",
        };
        match self.in_lab {
            true => Some(format!("{length}form for a lab")),
            false if length.is_empty() => None,
            false => Some(format!("{length}form")),
        }
    }
}

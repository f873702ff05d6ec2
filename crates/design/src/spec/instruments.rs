//! The instruments that measure beside the client.

use sixmark_document::fields::FileField;

/// The setting of cells that switches the study's instruments off, with [`NO_INSTRUMENTS`].
pub(super) const INSTRUMENTS: &str = "instruments";

/// Its value for cells without instruments.
pub(super) const NO_INSTRUMENTS: &str = "none";

/// An instrument that measures beside the client of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instrument {
    /// A passive monitor of the packets at the server's end.
    Packets,
    /// A monitor of the kernel's counters at both ends.
    Kernel,
}

impl Instrument {
    /// The instruments by their names in a study's file.
    const NAMES: [(&str, Instrument); 2] = [
        (Instrument::Packets.name(), Instrument::Packets),
        (Instrument::Kernel.name(), Instrument::Kernel),
    ];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Instrument::Packets => "packets",
            Instrument::Kernel => "kernel",
        }
    }
}

/// Parses the list of instruments. Each may be named once.
pub(super) fn instruments(field: Option<FileField<'_>>) -> Vec<Instrument> {
    let mut found = Vec::new();
    for item in field.iter().flat_map(FileField::items) {
        match item.one_of(&Instrument::NAMES) {
            Some(one) if found.contains(&one) => {
                item.wrong("is named twice: each instrument measures once beside a cell");
            }
            Some(one) => found.push(one),
            None => {}
        }
    }
    found
}

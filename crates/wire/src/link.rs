//! The link-layer headers of captured packets, as declared by the capture file or interface.

/// The type of header that a captured packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// An Ethernet header, with or without VLAN tags.
    Ethernet,
    /// An IP header, version 4 or 6.
    Ip,
    /// An address family number in either byte order: the loopback header of BSD and macOS
    /// (LINKTYPE_NULL, LINKTYPE_LOOP).
    Null,
    /// The first version of Linux's header for captures on all interfaces (LINKTYPE_LINUX_SLL).
    Sll,
    /// The second version of that header (LINKTYPE_LINUX_SLL2).
    Sll2,
}

impl Link {
    /// Returns the link type for a number in a capture file (LINKTYPE_*), or `None` if it is not
    /// supported. Some systems wrote 12 and 14 for raw IP.
    pub fn of_number(number: u32) -> Option<Link> {
        Some(match number {
            0 | 108 => Link::Null,
            1 => Link::Ethernet,
            12 | 14 | 101 | 228 | 229 => Link::Ip,
            113 => Link::Sll,
            276 => Link::Sll2,
            _ => return None,
        })
    }

    /// Returns the number of this link type in capture files (LINKTYPE_*).
    pub fn number(self) -> u32 {
        match self {
            Link::Null => 0,
            Link::Ethernet => 1,
            Link::Ip => 101,
            Link::Sll => 113,
            Link::Sll2 => 276,
        }
    }

    /// Returns the name of this link type in documents.
    pub fn word(self) -> &'static str {
        match self {
            Link::Null => "null",
            Link::Ethernet => "ethernet",
            Link::Ip => "ip",
            Link::Sll => "sll",
            Link::Sll2 => "sll2",
        }
    }
}

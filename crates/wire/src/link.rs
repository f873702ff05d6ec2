//! What packets begin with, which the file or the interface says that they came from.

/// What a packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// An Ethernet header, with VLAN tags or without.
    Ethernet,
    /// An IP header, of either version.
    Ip,
    /// The number of an address family, in either byte order: the loopback of BSD and macOS
    /// (LINKTYPE_NULL, LINKTYPE_LOOP).
    Null,
    /// Linux's first header of captures on all interfaces (LINKTYPE_LINUX_SLL).
    Sll,
    /// Its second (LINKTYPE_LINUX_SLL2).
    Sll2,
}

impl Link {
    /// That which files of captures have this number for (LINKTYPE_*), if it can be read. 12 and 14
    /// are what some systems wrote for raw IP.
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

    /// The number that files have for it (LINKTYPE_*).
    pub fn number(self) -> u32 {
        match self {
            Link::Null => 0,
            Link::Ethernet => 1,
            Link::Ip => 101,
            Link::Sll => 113,
            Link::Sll2 => 276,
        }
    }

    /// Its name, for documents.
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

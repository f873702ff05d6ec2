//! The address family, and values kept per family.

use std::fmt;
use std::net::IpAddr;
use std::ops::{AddAssign, Index, IndexMut};

use serde::{Deserialize, Serialize};

/// IPv6 or IPv4, as read from a connected socket's peer address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Internet Protocol, version 6 (RFC 8200).
    Ipv6,
    /// Internet Protocol, version 4 (RFC 791).
    Ipv4,
}

impl Family {
    /// Both families, in the order in which sixmark shows them.
    pub const BOTH: [Family; 2] = [Family::Ipv6, Family::Ipv4];

    /// Returns the family of the packets that reach `address`. An IPv4-mapped IPv6 address (RFC
    /// 4291, 2.5.5.2) is IPv4, because the host sends IPv4 packets to it.
    pub fn of(address: IpAddr) -> Family {
        match address.to_canonical() {
            IpAddr::V4(_) => Family::Ipv4,
            IpAddr::V6(_) => Family::Ipv6,
        }
    }

    /// Returns the name used in files and in paths within documents: `ipv6` or `ipv4`.
    pub fn word(self) -> &'static str {
        match self {
            Family::Ipv6 => "ipv6",
            Family::Ipv4 => "ipv4",
        }
    }

    /// Returns the other family.
    pub fn other(self) -> Family {
        match self {
            Family::Ipv6 => Family::Ipv4,
            Family::Ipv4 => Family::Ipv6,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Family::Ipv6 => "IPv6",
            Family::Ipv4 => "IPv4",
        })
    }
}

/// One `T` for each family, so that the family travels with the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct PerFamily<T> {
    /// The value for IPv6.
    pub ipv6: T,
    /// The value for IPv4.
    pub ipv4: T,
}

impl<T> PerFamily<T> {
    /// Builds the pair by calling `make` for each family.
    pub fn from_fn(mut make: impl FnMut(Family) -> T) -> Self {
        PerFamily { ipv6: make(Family::Ipv6), ipv4: make(Family::Ipv4) }
    }

    /// Iterates over both values with their families, IPv6 first.
    pub fn iter(&self) -> impl Iterator<Item = (Family, &T)> {
        [(Family::Ipv6, &self.ipv6), (Family::Ipv4, &self.ipv4)].into_iter()
    }

    /// Applies `change` to both values.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerFamily<U> {
        PerFamily { ipv6: change(self.ipv6), ipv4: change(self.ipv4) }
    }
}

impl<T> Index<Family> for PerFamily<T> {
    type Output = T;

    fn index(&self, family: Family) -> &T {
        match family {
            Family::Ipv6 => &self.ipv6,
            Family::Ipv4 => &self.ipv4,
        }
    }
}

impl<T> IndexMut<Family> for PerFamily<T> {
    fn index_mut(&mut self, family: Family) -> &mut T {
        match family {
            Family::Ipv6 => &mut self.ipv6,
            Family::Ipv4 => &mut self.ipv4,
        }
    }
}

impl<T: for<'a> AddAssign<&'a T>> AddAssign<&PerFamily<T>> for PerFamily<T> {
    fn add_assign(&mut self, other: &PerFamily<T>) {
        self.ipv6 += &other.ipv6;
        self.ipv4 += &other.ipv4;
    }
}

/// Returns the name of a side as written for people: families are `IPv6` and `IPv4`, other names
/// are unchanged.
pub fn spoken(name: &str) -> String {
    match name {
        "ipv6" => "IPv6".into(),
        "ipv4" => "IPv4".into(),
        other => other.into(),
    }
}

/// One value for each family that was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct Families<T> {
    /// IPv6, if it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<T>,
    /// IPv4, if it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<T>,
}

impl<T> Default for Families<T> {
    fn default() -> Self {
        Families { ipv6: None, ipv4: None }
    }
}

impl<T> Families<T> {
    /// Returns the value of one family.
    pub fn of(&self, family: Family) -> Option<&T> {
        match family {
            Family::Ipv6 => self.ipv6.as_ref(),
            Family::Ipv4 => self.ipv4.as_ref(),
        }
    }

    /// Returns the families that were used, IPv6 first.
    pub fn iter(&self) -> impl Iterator<Item = (Family, &T)> {
        Family::BOTH.into_iter().filter_map(|family| Some((family, self.of(family)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treats_an_ipv4_mapped_address_as_ipv4() {
        for (address, family) in [
            ("::1", Family::Ipv6),
            ("127.0.0.1", Family::Ipv4),
            ("::ffff:127.0.0.1", Family::Ipv4),
            ("64:ff9b::7f00:1", Family::Ipv6),
        ] {
            assert_eq!(Family::of(address.parse().unwrap()), family, "{address}");
        }
    }
}

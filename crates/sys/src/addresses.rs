//! The addresses of a host name as the system's resolver knows them, of one family at a time
//! (getaddrinfo(3)).

use std::ffi::{CStr, CString};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

use sixmark_units::family::Family;

/// What the system's resolver answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemAnswer {
    /// There are addresses, each once, in its order.
    Addresses {
        /// The addresses.
        addresses: Vec<IpAddr>,
        /// The name in full, or the name that it is an alias of; `None` if it doesn't say.
        canonical: Option<String>,
    },
    /// It knows the name and no address of the family.
    NoAddress,
    /// It knows no such name. glibc also says so of some errors of name servers (FORMERR), older
    /// versions of musl of an answer that is cut short.
    NoSuchName,
    /// It has no answer. The text is its own.
    Failed(String),
}

/// Asks the system's resolver for the addresses of `name` of one family. It waits as long as
/// resolv.conf(5) says, and can't be interrupted.
pub fn look_up_addresses(name: &str, family: Family) -> SystemAnswer {
    let Ok(name) = CString::new(name) else { return SystemAnswer::NoSuchName };
    // SAFETY: all fields of the structure may be 0: numbers, and pointers that may be null.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_family = match family {
        Family::Ipv6 => libc::AF_INET6,
        Family::Ipv4 => libc::AF_INET,
    };
    // Of each address one entry, instead of one for each type of socket.
    hints.ai_socktype = libc::SOCK_STREAM;
    hints.ai_flags = libc::AI_CANONNAME;
    let mut list = AddressList(ptr::null_mut());
    // SAFETY: `name` and `hints` outlive the call. The list that it allocates is freed with `list`.
    let code =
        unsafe { libc::getaddrinfo(name.as_ptr(), ptr::null(), &raw const hints, &raw mut list.0) };
    match code {
        0 => list.answer(),
        libc::EAI_NODATA => SystemAnswer::NoAddress,
        libc::EAI_NONAME => SystemAnswer::NoSuchName,
        libc::EAI_SYSTEM => SystemAnswer::Failed(io::Error::last_os_error().to_string()),
        _ => SystemAnswer::Failed(describe_code(code)),
    }
}

/// Returns the text of an error of getaddrinfo(3).
fn describe_code(code: libc::c_int) -> String {
    // SAFETY: the call takes any number.
    let text = unsafe { libc::gai_strerror(code) };
    if text.is_null() {
        return format!("error {code} of the resolver");
    }
    // SAFETY: the text is a constant C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The list that getaddrinfo(3) allocates; null if there is none.
struct AddressList(*mut libc::addrinfo);

impl AddressList {
    fn answer(&self) -> SystemAnswer {
        let (mut addresses, mut canonical) = (Vec::new(), None);
        let mut at = self.0.cast_const();
        // SAFETY: `at` is null or points to an entry of the list, which lives as long as `self`.
        while let Some(entry) = unsafe { at.as_ref() } {
            at = entry.ai_next;
            let address = address_of(entry);
            addresses.extend(address.filter(|address| !addresses.contains(address)));
            if canonical.is_none() && !entry.ai_canonname.is_null() {
                // SAFETY: the name is a C string that lives as long as the list.
                let name = unsafe { CStr::from_ptr(entry.ai_canonname) };
                canonical = Some(name.to_string_lossy().into_owned());
            }
        }
        if addresses.is_empty() {
            SystemAnswer::NoAddress
        } else {
            SystemAnswer::Addresses { addresses, canonical }
        }
    }
}

impl Drop for AddressList {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: getaddrinfo allocated the list, and it is freed only here.
            unsafe { libc::freeaddrinfo(self.0) };
        }
    }
}

fn address_of(entry: &libc::addrinfo) -> Option<IpAddr> {
    let length = entry.ai_addrlen as usize;
    match entry.ai_family {
        libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: the address is of this type, as its family says, and has its length.
            let address = unsafe { entry.ai_addr.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
            // SAFETY: as above.
            let address = unsafe { entry.ai_addr.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_literal_resolves_only_in_its_own_family() {
        for (name, family, other) in
            [("::1", Family::Ipv6, Family::Ipv4), ("127.0.0.1", Family::Ipv4, Family::Ipv6)]
        {
            let SystemAnswer::Addresses { addresses, .. } = look_up_addresses(name, family) else {
                panic!("{name}");
            };
            assert_eq!(addresses, [name.parse::<IpAddr>().unwrap()]);
            let other = look_up_addresses(name, other);
            assert!(!matches!(other, SystemAnswer::Addresses { .. }), "{other:?}");
        }
        assert_eq!(look_up_addresses("a\0b", Family::Ipv6), SystemAnswer::NoSuchName);
    }
}

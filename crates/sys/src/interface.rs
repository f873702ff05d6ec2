//! Network interfaces: their indexes and addresses.

use std::ffi::{CStr, CString};
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::fd::AsRawFd as _;

use crate::{check_return, socket};

/// Returns the index of the interface called `name`, or `None` if there is none.
pub fn index(name: &str) -> Option<u32> {
    let name = CString::new(name).ok()?;
    // SAFETY: `name` is a C string that outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    (index > 0).then_some(index)
}

/// Returns the socket address of an address in a zone (RFC 4007), which the name or the index of an
/// interface of this host identifies. Addresses of IPv4 have no zone.
///
/// # Errors
/// This host has no such interface.
pub fn in_zone(address: IpAddr, zone: Option<&str>, port: u16) -> Result<SocketAddr, String> {
    let (IpAddr::V6(v6), Some(zone)) = (address, zone) else {
        return Ok(SocketAddr::new(address, port));
    };
    let is_number = zone.bytes().all(|byte| byte.is_ascii_digit());
    let number = || zone.parse().ok().filter(|&of| is_number && name_of_interface(of).is_ok());
    let what = if is_number { "interface with the number" } else { "interface" };
    let missing = || format!("[{v6}%{zone}]: this host has no {what} '{zone}'; see `ip link`");
    let scope = index(zone).or_else(number).ok_or_else(missing)?;
    Ok(SocketAddrV6::new(v6, port, 0, scope).into())
}

/// Returns the name of the interface with this index.
///
/// # Errors
/// Returns an error if there is none.
pub fn name_of_interface(index: u32) -> io::Result<String> {
    let mut name = [0_u8; libc::IF_NAMESIZE];
    // SAFETY: `name` has the IF_NAMESIZE bytes that the call may write.
    let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr().cast()) };
    if found.is_null() {
        return Err(io::Error::last_os_error());
    }
    let text = CStr::from_bytes_until_nul(&name).map_err(io::Error::other)?;
    Ok(text.to_string_lossy().into_owned())
}

/// Returns the addresses of the interface called `name`, with port 0. Link-local addresses include
/// their scope id.
pub fn addresses_of_interface(name: &str) -> io::Result<Vec<SocketAddr>> {
    let list = List::new()?;
    Ok(list
        .iter()
        .filter(|entry| entry.name() == name)
        .filter_map(InterfaceEntry::address)
        .collect())
}

/// Returns the names of the interfaces that are up, each once.
///
/// # Errors
/// Returns an error if the kernel does not report them.
pub fn up() -> io::Result<Vec<String>> {
    let (list, mut names) = (List::new()?, Vec::new());
    for entry in list.iter().filter(|entry| entry.is_up()) {
        let name = entry.name().to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Returns the hardware address of the interface called `name`, in the calling thread's network namespace.
///
/// # Errors
/// Returns ENODEV if there is none, and `Unsupported` if it is not an Ethernet interface.
pub fn hardware_address(name: &str) -> io::Result<[u8; 6]> {
    let any = SocketAddr::from((std::net::Ipv4Addr::UNSPECIFIED, 0));
    let fd = socket::open_socket(&any, libc::SOCK_DGRAM)?;
    let mut request = request(name)?;
    let argument = &raw mut request;
    // SAFETY: the request is a valid ifreq, which the call reads and fills in.
    check_return(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFHWADDR as _, argument) })?;
    // SAFETY: the call has set this field of the union, and any bytes are a valid value of it.
    let address = unsafe { request.ifr_ifru.ifru_hwaddr };
    if address.sa_family != libc::ARPHRD_ETHER {
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    Ok(std::array::from_fn(|at| address.sa_data[at] as u8))
}

/// Returns the argument of ioctls on the interface called `name`.
///
/// # Errors
/// Returns an error if `name` is not a valid interface name.
pub(crate) fn request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: ifreq is a struct of integers and a union of those, for which all zeros is a valid
    // value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    if name.is_empty() || name.len() > room {
        let line = format!("'{name}' is not an interface name, which has 1 to {room} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, line));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// The list of getifaddrs(3), freed when dropped.
struct List(*mut libc::ifaddrs);

impl List {
    fn new() -> io::Result<List> {
        let mut first = std::ptr::null_mut();
        // SAFETY: `first` is a valid destination for the list's address.
        check_return(unsafe { libc::getifaddrs(&mut first) })?;
        Ok(List(first))
    }

    fn iter(&self) -> impl Iterator<Item = InterfaceEntry<'_>> {
        let mut next = self.0;
        std::iter::from_fn(move || {
            // SAFETY: entries are null or valid until freeifaddrs, and the list outlives them.
            let entry = unsafe { next.as_ref() }?;
            next = entry.ifa_next;
            Some(InterfaceEntry(entry))
        })
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the pointer was returned by getifaddrs and is freed once.
        unsafe { libc::freeifaddrs(self.0) };
    }
}

/// One address of one interface.
struct InterfaceEntry<'a>(&'a libc::ifaddrs);

impl InterfaceEntry<'_> {
    fn name(&self) -> &str {
        // SAFETY: every entry's name is a C string that lives as long as the list.
        unsafe { CStr::from_ptr(self.0.ifa_name) }.to_str().unwrap_or_default()
    }

    fn is_up(&self) -> bool {
        self.0.ifa_flags & libc::IFF_UP as libc::c_uint != 0
    }

    fn address(self) -> Option<SocketAddr> {
        // SAFETY: an entry's address is null or points to a socket address that begins with its
        // family.
        let family = i32::from(unsafe { self.0.ifa_addr.as_ref() }?.sa_family);
        let length = match family {
            libc::AF_INET => size_of::<libc::sockaddr_in>(),
            libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
            _ => return None,
        };
        // SAFETY: sockaddr_storage is a struct of integers, for which all zeros is a valid value.
        let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let to = (&raw mut storage).cast::<u8>();
        // SAFETY: the family determines the length of the entry's address, and `storage` is longer.
        unsafe { self.0.ifa_addr.cast::<u8>().copy_to_nonoverlapping(to, length) };
        socket::socket_address(&storage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_an_index_and_an_address_of_each_family() {
        assert!(index("lo").is_some());
        assert_eq!(name_of_interface(index("lo").unwrap()).unwrap(), "lo");
        assert_eq!(index("no-such-interface"), None);
        let found = addresses_of_interface("lo").unwrap();
        for address in ["127.0.0.1:0", "[::1]:0"] {
            assert!(found.contains(&address.parse().unwrap()), "{found:?}");
        }
        assert_eq!(addresses_of_interface("no-such-interface").unwrap(), []);
        assert!(up().unwrap().contains(&"lo".to_owned()));
    }

    #[test]
    fn only_ethernet_interfaces_have_a_hardware_address() {
        let kind = |name| hardware_address(name).map_err(|error| error.kind());
        assert_eq!(kind("lo"), Err(io::ErrorKind::Unsupported));
        let absent = hardware_address("none0").unwrap_err();
        assert_eq!(absent.raw_os_error(), Some(libc::ENODEV));
    }

    #[test]
    fn a_zone_is_the_name_or_the_index_of_an_interface() {
        let (address, lo) = ("fe80::1".parse().unwrap(), index("lo").unwrap());
        let expected = SocketAddr::from(SocketAddrV6::new("fe80::1".parse().unwrap(), 81, 0, lo));
        for zone in ["lo", &lo.to_string()] {
            assert_eq!(in_zone(address, Some(zone), 81), Ok(expected));
        }
        assert_eq!(in_zone(address, None, 81), Ok("[fe80::1]:81".parse().unwrap()));
        for zone in ["none0", "0", "4294967295", "99999999999", "+1", "-1", ""] {
            let error = in_zone(address, Some(zone), 81).unwrap_err();
            assert!(error.contains(&format!("'{zone}'; see `ip link`")), "{error}");
        }
        let error = in_zone(address, Some("4294967295"), 81).unwrap_err();
        assert!(error.contains("no interface with the number '4294967295'"), "{error}");
    }
}

//! Features of an interface, mostly offloads, as `ethtool -k` shows and `-K` sets them.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use crate::{check_return, socket};

/// The string set that contains the names of features.
const FEATURES: u32 = 4;
/// The length of a name in the set, in bytes.
const NAME: usize = 32;

const GET_NAMES: u32 = 0x1b;
const GET_COUNT: u32 = 0x37;
const GET: u32 = 0x3a;
const SET: u32 = 0x3b;

/// Access to the features of the interfaces in one network namespace.
#[derive(Debug)]
pub struct Ethtool(OwnedFd);

/// A feature and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The name that the kernel uses: `tx-tcp-segmentation`.
    pub name: String,
    /// Whether the feature is enabled.
    pub on: bool,
    /// Whether the feature can be changed.
    pub open: bool,
}

impl Ethtool {
    /// Opens access to the network namespace of the calling thread.
    ///
    /// # Errors
    /// Returns an error if too many files are open.
    pub fn open() -> io::Result<Ethtool> {
        let any = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
        socket::open_socket(&any, libc::SOCK_DGRAM).map(Ethtool)
    }

    /// Returns all features of an interface, in the order of the kernel.
    ///
    /// # Errors
    /// Returns an error if there is no such interface.
    pub fn features(&self, interface: &str) -> io::Result<Vec<Feature>> {
        let names = self.names(interface)?;
        let blocks = names.len().div_ceil(32);
        let mut words = vec![0_u32; 2 + 4 * blocks];
        (words[0], words[1]) = (GET, blocks as u32);
        self.call(interface, &mut words)?;
        let bit = |at: usize, word: usize| {
            words.get(2 + 4 * (at / 32) + word).is_some_and(|bits| bits >> (at % 32) & 1 == 1)
        };
        let feature = |(at, name): (usize, String)| {
            let open = bit(at, 0) && !bit(at, 3);
            Feature { name, on: bit(at, 2), open }
        };
        Ok(names.into_iter().enumerate().map(feature).collect())
    }

    /// Enables or disables features. Features that the interface cannot change keep their state.
    ///
    /// # Errors
    /// Returns an error if there is no such interface, or if CAP_NET_ADMIN is missing.
    pub fn switch(&self, interface: &str, wanted: &[(&str, bool)]) -> io::Result<()> {
        let known = self.features(interface)?;
        let blocks = known.len().div_ceil(32);
        let mut words = vec![0_u32; 2 + 2 * blocks];
        (words[0], words[1]) = (SET, blocks as u32);
        for (at, feature) in known.iter().enumerate().filter(|(_, feature)| feature.open) {
            let Some((_, on)) = wanted.iter().find(|(name, _)| *name == feature.name) else {
                continue;
            };
            words[2 + 2 * (at / 32)] |= 1 << (at % 32);
            words[3 + 2 * (at / 32)] |= u32::from(*on) << (at % 32);
        }
        self.call(interface, &mut words)
    }

    fn names(&self, interface: &str) -> io::Result<Vec<String>> {
        let mut count = [GET_COUNT, 0, 1 << FEATURES, 0, 0];
        self.call(interface, &mut count)?;
        let count = count[4] as usize;
        let mut words = vec![0_u32; 3 + count * NAME / 4];
        (words[0], words[1], words[2]) = (GET_NAMES, FEATURES, count as u32);
        self.call(interface, &mut words)?;
        let bytes: Vec<u8> = words[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let name = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        Ok(bytes.chunks(NAME).map(name).collect())
    }

    /// Passes a structure to the kernel. Its first words contain the command and the size.
    fn call(&self, interface: &str, words: &mut [u32]) -> io::Result<()> {
        let mut request = crate::interface::request(interface)?;
        request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
        // SAFETY: the request points to `words`, which is as long as its count field states, and
        // the call writes no further. SIOCETHTOOL returns a positive value only if it applied a
        // part of the request.
        check_return(unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request)
        })
        .map(drop)
    }
}

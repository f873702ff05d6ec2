//! What was read and tried on a machine, without judgement.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::PathBuf;

use sixmark_lab::trial::TrialOutcome;
use sixmark_sys::limit::OpenFilesLimits;
use sixmark_units::family::PerFamily;

/// A value, or why it could not be read.
pub type Reading<T> = Result<T, String>;

/// Everything that was found out about a machine.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The process and the system it runs on.
    pub host: HostFacts,
    /// The families.
    pub families: PerFamily<FamilyFacts>,
    /// Whether the loopback interface is up.
    pub loopback_up: Reading<bool>,
    /// Namespaces.
    pub namespaces: NamespaceFacts,
    /// io_uring.
    pub uring: UringFacts,
    /// Other facilities of the kernel.
    pub kernel: KernelFacts,
    /// Limits.
    pub limits: LimitFacts,
    /// Processors.
    pub processors: ProcessorFacts,
    /// The interfaces that are up besides loopback.
    pub interfaces: Reading<Vec<InterfaceFacts>>,
    /// Other programs.
    pub programs: ProgramFacts,
    /// Files.
    pub storage: StorageFacts,
}

/// The process and the system it runs on.
#[derive(Clone, Debug)]
pub struct HostFacts {
    /// The path of this program.
    pub program: String,
    /// The effective user id.
    pub user: Reading<u32>,
    /// The capabilities of the process.
    pub capabilities: Reading<CapabilityFacts>,
    /// Whether a seccomp filter restricts system calls.
    pub seccomp: Reading<bool>,
    /// What made the container in which the process runs, such as `podman`; `None` outside of one.
    pub container: Reading<Option<String>>,
    /// Whether programs are installed by apt-get.
    pub has_apt: bool,
    /// The release of the kernel.
    pub kernel: String,
    /// Whether the kernel was booted with `ipv6.disable=1`.
    pub boots_without_ipv6: bool,
    /// Whether settings of the network can be written where this process runs.
    pub writes_sysctls: bool,
}

/// The capabilities of a process (capabilities(7)), as sets of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapabilityFacts {
    /// Those in effect.
    pub effective: u64,
    /// Those that a program can get from its file.
    pub bounding: u64,
    /// Whether programs get none from their files (PR_SET_NO_NEW_PRIVS).
    pub no_new: bool,
}

/// One family.
#[derive(Clone, Debug)]
pub struct FamilyFacts {
    /// Whether a connection over loopback worked, or its error.
    pub exchange: Result<(), String>,
    /// Whether the kernel has the family.
    pub is_supported: bool,
    /// Whether the loopback interface has an address.
    pub has_loopback_address: Reading<bool>,
    /// The addresses of other interfaces.
    pub addresses: Reading<Vec<InterfaceAddress>>,
    /// The route to an address of the internet, or the kernel's error.
    pub route: Result<RouteFacts, String>,
    /// The settings of interfaces; only those of IPv6 are read.
    pub settings: Vec<Ipv6Settings>,
}

/// An address of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The interface.
    pub interface: String,
    /// The address.
    pub address: IpAddr,
}

/// A route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteFacts {
    /// The source address that the kernel chooses.
    pub source: IpAddr,
    /// The interface by which packets leave; `None` if the kernel does not report it.
    pub interface: Option<String>,
    /// The path's MTU in bytes.
    pub mtu: Option<u32>,
}

/// Settings of an interface below net.ipv6.conf; `all` is one too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ipv6Settings {
    /// The interface.
    pub interface: String,
    /// `disable_ipv6`.
    pub is_disabled: bool,
    /// `accept_ra`.
    pub accept_ra: u8,
    /// `forwarding`.
    pub forwards: bool,
}

/// Namespaces.
#[derive(Clone, Debug)]
pub struct NamespaceFacts {
    /// A lab that was built and removed.
    pub trial: Reading<TrialOutcome>,
    /// kernel.unprivileged_userns_clone; `None` if the kernel has no such setting.
    pub userns_clone: Option<u64>,
    /// kernel.apparmor_restrict_unprivileged_userns, likewise.
    pub apparmor_restricts: Option<u64>,
    /// user.max_user_namespaces, likewise.
    pub max_user: Option<u64>,
    /// user.max_net_namespaces, likewise.
    pub max_net: Option<u64>,
}

/// io_uring.
#[derive(Clone, Debug)]
pub struct UringFacts {
    /// What the driver can use, or why it can't be made.
    pub driver: Result<UringAbilities, KernelRefusal>,
    /// A connection over each family by the driver; the first error if one failed.
    pub exchange: Result<(), String>,
    /// kernel.io_uring_disabled; `None` if the kernel has no such setting.
    pub disabled: Option<u64>,
}

/// What the io_uring driver can use beyond what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UringAbilities {
    /// Connections are entries of the ring's table.
    pub has_table: bool,
    /// Completions can be held back.
    pub can_linger: bool,
}

/// An error of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRefusal {
    /// The error in words.
    pub text: String,
    /// Its kind. Its number is not always known: a driver adds words to the kernel's error.
    pub kind: ErrorKind,
}

/// Facilities of the kernel that were tried.
#[derive(Clone, Debug)]
pub struct KernelFacts {
    /// The number of times that lacked a timestamp in connections over both families.
    pub timestamps: Result<u64, String>,
    /// A packet ring on the loopback interface.
    pub capture: Result<(), KernelRefusal>,
    /// A thread of the policy SCHED_FIFO.
    pub realtime: Result<(), KernelRefusal>,
    /// The clock source in use.
    pub clock_source: Reading<String>,
    /// Those that could be used.
    pub clock_sources: Reading<Vec<String>>,
    /// The duration of a reading of the clock, nanoseconds.
    pub clock_ns: f64,
    /// TCP's congestion control.
    pub congestion: Reading<String>,
    /// Those that could be used.
    pub congestions: Reading<Vec<String>>,
}

/// Limits.
#[derive(Clone, Debug)]
pub struct LimitFacts {
    /// The limits on open files.
    pub open_files: Reading<OpenFilesLimits>,
    /// fs.nr_open, which no limit may exceed.
    pub most_open_files: Reading<u64>,
    /// The number of local ports that the kernel chooses from, and the range.
    pub ports: Reading<PortRange>,
    /// net.core.somaxconn.
    pub backlog: Reading<u64>,
    /// The memory of the machine.
    pub memory: Reading<MemoryFacts>,
    /// The limit of the control group, bytes; `None` if it has none.
    pub memory_limit: Reading<Option<u64>>,
}

/// The local ports that the kernel chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// The first.
    pub low: u64,
    /// The last.
    pub high: u64,
    /// Those between that are reserved.
    pub reserved: u64,
}

impl PortRange {
    /// Returns the number of ports.
    pub fn count(self) -> u64 {
        self.high.saturating_add(1).saturating_sub(self.low).saturating_sub(self.reserved)
    }
}

/// Memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFacts {
    /// The memory of the machine.
    pub total: u64,
    /// What can be had without paging.
    pub available: u64,
}

/// Processors.
#[derive(Clone, Debug)]
pub struct ProcessorFacts {
    /// The number of online processors of the machine.
    pub online: Reading<u64>,
    /// The number that the process may run on.
    pub allowed: Reading<u64>,
    /// The limit of the control group, in processors; `None` if it has none.
    pub quota: Reading<Option<f64>>,
    /// The governors of the processors' frequencies.
    pub governors: Reading<BTreeSet<String>>,
    /// Whether processors may exceed their nominal frequency; `None` if the kernel does not report
    /// it.
    pub boosts: Option<bool>,
    /// Whether two threads share a core.
    pub smt: Reading<bool>,
    /// Whether a hypervisor runs the machine.
    pub is_virtual: Reading<bool>,
    /// The share of time that the hypervisor took since the boot, 0 to 1.
    pub steal: Reading<f64>,
}

/// An interface that is up.
#[derive(Clone, Debug)]
pub struct InterfaceFacts {
    /// Its name.
    pub name: String,
    /// Its features by the kernel's names.
    pub features: Reading<Vec<FeatureFacts>>,
}

/// A feature of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureFacts {
    /// Its name.
    pub name: String,
    /// Whether it is on.
    pub on: bool,
    /// Whether it can be changed.
    pub open: bool,
}

/// Other programs.
#[derive(Clone, Debug, Default)]
pub struct ProgramFacts {
    /// Clients that a study can measure with.
    pub clients: Vec<ProgramFact>,
    /// Browsers, likewise.
    pub browsers: Vec<ProgramFact>,
    /// Programs of the built-in studies and their labs: servers, daemons, generators of traffic.
    pub studies: Vec<ProgramFact>,
    /// The program that reaches hosts.
    pub ssh: Option<ProgramFact>,
    /// nats-server: its path, or why there is none.
    pub nats_server: Option<Reading<PathBuf>>,
    /// The command that installs nats-server.
    pub install_nats_server: String,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFact {
    /// Its name.
    pub name: String,
    /// The Debian package that contains it, if known.
    pub package: Option<String>,
    /// Its path; `None` if it is missing.
    pub path: Option<PathBuf>,
    /// The studies that need it.
    pub studies: BTreeSet<String>,
}

/// Files.
#[derive(Clone, Debug)]
pub struct StorageFacts {
    /// The store.
    pub store: StoreFacts,
    /// The number of certificates of authorities that the system trusts.
    pub certificates: Result<usize, String>,
}

/// The store of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreFacts {
    /// No results are stored, as the user wishes.
    Nowhere,
    /// It has no place; why.
    NoPlace(String),
    /// A file.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether it exists.
        exists: bool,
        /// What must be writable: the file, or the nearest folder that exists.
        place: PathBuf,
        /// Whether that is writable, or the kernel's error.
        writable: Result<(), String>,
        /// The free bytes there.
        free: Reading<u64>,
    },
}

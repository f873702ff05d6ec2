//! Judges facts: what each means for sixmark, and what mends it.

mod families;
mod io_uring;
mod kernel;
mod limits;
mod namespaces;
mod offloads;
mod processors;
mod programs;
mod rights;
mod storage;
#[cfg(test)]
mod tests;

use crate::facts::{CapabilityFacts, Facts, HostFacts};
use crate::finding::{Finding, Mend, MendPlace};

/// The number of connections that [`Purpose::Many`](crate::purpose::Purpose::Many) stands for.
pub const MANY: u64 = 10_000;

/// The names of all checks, in the order of the findings.
pub const CHECK_NAMES: [&str; 31] = [
    "ipv6",
    "ipv6-addresses",
    "ipv6-route",
    "ipv4",
    "ipv4-addresses",
    "ipv4-route",
    "ports",
    "offloads",
    "congestion-control",
    "backlog",
    "io-uring",
    "timestamps",
    "clock",
    "capture",
    "namespaces",
    "lab-links",
    "realtime",
    "capabilities",
    "open-files",
    "memory",
    "cores",
    "governor",
    "smt",
    "steal",
    "clients",
    "browsers",
    "study-programs",
    "ssh",
    "nats-server",
    "store",
    "certificates",
];

/// Returns the findings of all checks, by subject.
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut all = families::judge_families(facts);
    all.push(limits::judge_ports(facts));
    all.push(offloads::judge_offloads(facts));
    all.push(kernel::judge_congestion(facts));
    all.push(limits::judge_backlog(facts));
    all.push(io_uring::judge_uring(facts));
    all.push(kernel::judge_timestamps(facts));
    all.push(kernel::judge_clock(facts));
    all.push(kernel::judge_capture(facts));
    all.extend(namespaces::judge_namespaces(facts));
    all.push(kernel::judge_realtime(facts));
    all.push(rights::judge_capabilities(facts));
    all.push(limits::judge_open_files(facts));
    all.push(limits::judge_memory(facts));
    all.extend(processors::judge_processors(facts));
    all.extend(programs::judge_programs(facts));
    all.extend(storage::judge_storage(facts));
    all
}

impl HostFacts {
    /// Returns true if the process is root's.
    pub(crate) fn is_root(&self) -> bool {
        self.user == Ok(0)
    }

    /// Returns the engine that starts the container: its command; `None` outside of a container.
    fn engine(&self) -> Option<&'static str> {
        let kind = self.container.as_ref().ok()?.as_ref()?;
        Some(if kind.contains("docker") { "docker" } else { "podman" })
    }

    /// Returns true if a capability is in effect.
    fn has(&self, capability: Capability) -> bool {
        self.capabilities.as_ref().is_ok_and(|of| of.effective >> capability.bit & 1 == 1)
    }

    /// Returns where the whole machine's settings are changed.
    fn machine_place(&self) -> MendPlace {
        if self.engine().is_some() { MendPlace::Host } else { MendPlace::Root }
    }

    /// Returns the command that starts a container with these options.
    fn start(&self, engine: &str, options: &str) -> Mend {
        Mend::command(MendPlace::Start, format!("{engine} run {options} IMAGE"))
    }

    /// Returns the command that changes a setting of the network of this process.
    fn network_sysctl(&self, name: &str, value: &str) -> Mend {
        match self.engine().filter(|_| !self.writes_sysctls) {
            Some(engine) => self.start(engine, &format!("--sysctl {name}={}", quoted(value))),
            None => sysctl(MendPlace::Root, name, value),
        }
    }

    /// Returns the command that changes a setting of the whole machine.
    fn machine_sysctl(&self, name: &str, value: &str) -> Mend {
        sysctl(self.machine_place(), name, value)
    }

    /// Returns the command that gives capabilities to the program.
    fn grant(&self, capabilities: &[Capability]) -> Mend {
        let facts = self.capabilities.clone().unwrap_or_default();
        if let Some(engine) = self.engine() {
            let option = |of: &Capability| format!("--cap-add {}", of.name.to_uppercase());
            // Only root's processes have what is added.
            let root = (!self.is_root()).then(|| "--user 0".to_owned());
            let options: Vec<String> =
                root.into_iter().chain(capabilities.iter().map(option)).collect();
            return self.start(engine, &options.join(" "));
        }
        if !can_get(facts, capabilities) {
            let advice = "start it without what restricts its capabilities (a unit's \
                          CapabilityBoundingSet= or NoNewPrivileges=, setpriv), or as root";
            return Mend::advice(MendPlace::Here, advice);
        }
        let names: Vec<String> = capabilities.iter().map(|of| format!("cap_{}", of.name)).collect();
        let program = quoted(&self.program);
        Mend::command(MendPlace::Root, format!("setcap {}=ep {program}", names.join(",")))
    }

    /// Returns the command that installs Debian packages.
    fn install(&self, packages: &[&str]) -> Mend {
        let names = packages.join(" ");
        if self.has_apt {
            Mend::command(MendPlace::Root, format!("apt-get install {names}"))
        } else {
            Mend::advice(
                MendPlace::Root,
                format!("install what Debian has in the package(s) {names}"),
            )
        }
    }
}

/// Returns true if a program can get these capabilities from its file.
fn can_get(facts: CapabilityFacts, wanted: &[Capability]) -> bool {
    !facts.no_new && wanted.iter().all(|of| facts.bounding >> of.bit & 1 == 1)
}

/// A capability: its bit, and its name without the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Capability {
    bit: u8,
    name: &'static str,
}

const NET_BIND_SERVICE: Capability = Capability { bit: 10, name: "net_bind_service" };
const NET_ADMIN: Capability = Capability { bit: 12, name: "net_admin" };
const NET_RAW: Capability = Capability { bit: 13, name: "net_raw" };
const SYS_ADMIN: Capability = Capability { bit: 21, name: "sys_admin" };
const SYS_NICE: Capability = Capability { bit: 23, name: "sys_nice" };
const SYS_RESOURCE: Capability = Capability { bit: 24, name: "sys_resource" };

fn sysctl(place: MendPlace, name: &str, value: &str) -> Mend {
    Mend::command(place, format!("sysctl -w {name}={}", quoted(value)))
}

/// Quotes a word for a shell.
fn quoted(text: &str) -> String {
    shlex::try_quote(text).unwrap_or_else(|_| text.into()).into_owned()
}

/// Joins words as in a sentence: `a, b and c`.
pub(crate) fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

//! Open files, ports, queues of listeners, memory.

use sixmark_units::quantity::{bytes, write_count};

use crate::facts::Facts;
use crate::finding::{CheckState, Finding, Mend, MendPlace};
use crate::purpose::Purpose;

use super::{MANY, SYS_RESOURCE};

/// Descriptors that a run needs besides its connections.
const OTHER_FILES: u64 = 64;
/// The limit that the command sets.
const WANTED_FILES: u64 = 65_536;
/// The time for which a closed connection keeps its port, seconds (TCP_TIMEWAIT_LEN).
const TIME_WAIT_S: u64 = 60;
/// The queue of a listener below which bursts of connections are refused.
const BACKLOG: u64 = 1_024;
/// The memory of a run with many connections, bytes.
const MEMORY: u64 = 1 << 30;

/// Judges the limits on open files.
pub(super) fn judge_open_files(facts: &Facts) -> Finding {
    const NAME: &str = "open-files";
    let needed = MANY + OTHER_FILES;
    let limits = match &facts.limits.open_files {
        Ok(limits) => limits,
        Err(why) => {
            let means = "How many connections can be open is not known.";
            return Finding::unknown(NAME, why, means).used_by(&[Purpose::Many]);
        }
    };
    let raises = facts.host.has(SYS_RESOURCE);
    let most = match (raises, &facts.limits.most_open_files) {
        (true, Ok(most)) => (*most).max(limits.hard),
        _ => limits.hard,
    };
    let found = format!(
        "soft limit {}, hard limit {}{}",
        amount(limits.soft),
        amount(limits.hard),
        if raises { ", which this process may raise" } else { "" },
    );
    let many = write_count(MANY);
    if most >= needed {
        let means = format!("{many} connections fit; `run` raises the soft limit itself.");
        return Finding::new(NAME, CheckState::Ok, found, means).used_by(&[Purpose::Many]);
    }
    let means = format!(
        "{many} connections need {} open files. At most {} fit; those that last need none with \
         io_uring on Linux 6.13 or newer, where each thread may have as many again.",
        write_count(needed),
        write_count(most.saturating_sub(OTHER_FILES)),
    );
    let mend = match facts.host.engine() {
        Some(engine) => {
            facts.host.start(engine, &format!("--ulimit nofile={WANTED_FILES}:{WANTED_FILES}"))
        }
        None => Mend::command(MendPlace::Root, format!("prlimit --pid $$ --nofile={WANTED_FILES}"))
            .saying("`$$` is the shell that starts sixmark; `ulimit -n` shows its limit"),
    };
    Finding::new(NAME, CheckState::Limited, found, means)
        .mended([mend])
        .used_by(&[Purpose::Many])
        .preventing(&[Purpose::Many])
}

fn amount(limit: u64) -> String {
    if limit == u64::MAX { "none".to_owned() } else { write_count(limit) }
}

/// Judges the range of local ports.
pub(super) fn judge_ports(facts: &Facts) -> Finding {
    const NAME: &str = "ports";
    let range = match &facts.limits.ports {
        Ok(range) => range,
        Err(why) => {
            let means = "How many connections one target can have is not known.";
            return Finding::unknown(NAME, why, means).used_by(&[Purpose::Many]);
        }
    };
    let count = range.count();
    let reserved = match range.reserved {
        0 => String::new(),
        reserved => format!(", {} of them reserved", write_count(reserved)),
    };
    let found = format!("{} to {}{reserved}: {} ports", range.low, range.high, write_count(count));
    let means = format!(
        "From one source to one address and port, {} connections fit, of each family. Without \
         keep-alive that is {} new connections per second for long, since a closed one keeps its \
         port for {TIME_WAIT_S} s (but with --close rst).",
        write_count(count),
        write_count(count / TIME_WAIT_S),
    );
    let is_enough = count >= MANY;
    let state = if is_enough { CheckState::Ok } else { CheckState::Limited };
    let finding = Finding::new(NAME, state, found, means).used_by(&[Purpose::Many]);
    if is_enough {
        return finding;
    }
    finding
        .mended([facts.host.network_sysctl("net.ipv4.ip_local_port_range", "1024 65535")])
        .preventing(&[Purpose::Many])
}

/// Judges the largest queue of a listener.
pub(super) fn judge_backlog(facts: &Facts) -> Finding {
    const NAME: &str = "backlog";
    let means = "The most connections that wait until `sixmark origin`, or another server on this \
                 machine, accepts them.";
    match &facts.limits.backlog {
        Ok(length) => {
            let found = format!("net.core.somaxconn is {}", write_count(*length));
            let is_enough = *length >= BACKLOG;
            let state = if is_enough { CheckState::Ok } else { CheckState::Limited };
            let mend =
                (!is_enough).then(|| facts.host.network_sysctl("net.core.somaxconn", "4096"));
            Finding::new(NAME, state, found, means).mended(mend)
        }
        Err(why) => Finding::unknown(NAME, why, means),
    }
}

/// Judges memory.
pub(super) fn judge_memory(facts: &Facts) -> Finding {
    const NAME: &str = "memory";
    let memory = match &facts.limits.memory {
        Ok(memory) => memory,
        Err(why) => return Finding::unknown(NAME, why, "Whether memory suffices is not known."),
    };
    let total = bytes(memory.total as f64);
    let mut found = format!("{} of {total} available", bytes(memory.available as f64));
    let limit = facts.limits.memory_limit.clone().ok().flatten();
    if let Some(limit) = limit {
        found += &format!("; the control group allows {}", bytes(limit as f64));
    }
    let most = limit.unwrap_or(u64::MAX).min(memory.available);
    if most >= MEMORY {
        let means = "Enough for runs with many connections and for labs.";
        return Finding::new(NAME, CheckState::Ok, found, means);
    }
    let means = "Runs with many connections, captures and browsers may be killed.";
    let mend = match (limit, facts.host.engine()) {
        (Some(_), Some(engine)) => facts.host.start(engine, "--memory 2g"),
        _ => Mend::advice(facts.host.machine_place(), "end other programs, or add memory"),
    };
    Finding::new(NAME, CheckState::Limited, found, means).mended([mend])
}

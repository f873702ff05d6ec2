//! Timestamps, clocks, packet capture, real-time scheduling and congestion control.

use std::io::ErrorKind;

use crate::facts::{Facts, KernelRefusal};
use crate::finding::{CheckState, Finding, Mend, MendPlace};
use crate::purpose::Purpose;

use super::NET_RAW;

/// A reading of the clock that takes longer than this is a system call, nanoseconds.
const SLOW_CLOCK_NS: f64 = 250.0;
/// Clock sources that are read without a system call, and that do not depend on a slow device.
const FAST_SOURCES: [&str; 5] =
    ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "xen"];
/// The priority of the threads of a lab's links.
const RTPRIO: u8 = 50;

/// Judges the kernel's timestamps.
pub(super) fn judge_timestamps(facts: &Facts) -> Finding {
    const NAME: &str = "timestamps";
    let finding = match &facts.kernel.timestamps {
        Ok(0) => Finding::new(
            NAME,
            CheckState::Ok,
            "sent and received bytes of connections over loopback have the kernel's times",
            "`--timestamps kernel` works.",
        ),
        Ok(missing) => Finding::new(
            NAME,
            CheckState::Limited,
            format!("{missing} times of connections over loopback had no timestamp"),
            "With `--timestamps kernel`, some times are those of sixmark's own clock.",
        ),
        Err(why) => Finding::new(
            NAME,
            CheckState::Missing,
            why.clone(),
            "`--timestamps kernel` does not work; times are those of sixmark's own clock.",
        )
        .mended([Mend::advice(
            facts.host.machine_place(),
            format!("boot Linux 6.2 or newer; this is {}", facts.host.kernel),
        )]),
    };
    finding.used_by(&[Purpose::Timestamps])
}

/// Judges the clock.
pub(super) fn judge_clock(facts: &Facts) -> Finding {
    const NAME: &str = "clock";
    let cost = facts.kernel.clock_ns;
    let source = match &facts.kernel.clock_source {
        Ok(source) => source,
        Err(why) => {
            let found = format!("{why}; a reading takes {cost:.0} ns");
            return Finding::unknown(NAME, &found, "The clock source is not known.");
        }
    };
    let all = facts.kernel.clock_sources.clone().unwrap_or_default();
    let found = format!("{source}; a reading takes {cost:.0} ns");
    let is_fast = FAST_SOURCES.contains(&source.as_str()) && cost < SLOW_CLOCK_NS;
    if is_fast {
        return Finding::new(NAME, CheckState::Ok, found, "Taking times costs next to nothing.");
    }
    let finding = Finding::new(
        NAME,
        CheckState::Limited,
        found,
        "Each exchange takes several times: a slow clock makes requests dearer, and short times \
         less exact.",
    );
    let better = FAST_SOURCES.into_iter().find(|fast| all.iter().any(|of| of == fast));
    match better.filter(|better| better != source) {
        Some(better) => finding.mended([Mend::command(
            facts.host.machine_place(),
            format!(
                "echo {better} >/sys/devices/system/clocksource/clocksource0/current_clocksource"
            ),
        )]),
        None => finding.mended([Mend::advice(
            facts.host.machine_place(),
            format!("the kernel offers no faster one ({})", all.join(" ")),
        )]),
    }
}

/// Judges packet capture.
pub(super) fn judge_capture(facts: &Facts) -> Finding {
    const NAME: &str = "capture";
    let finding = match &facts.kernel.capture {
        Ok(()) => Finding::new(
            NAME,
            CheckState::Ok,
            "a packet ring on lo could be opened",
            "`watch` on interfaces and `run --truth` work.",
        ),
        Err(refusal) => Finding::new(
            NAME,
            CheckState::Missing,
            format!("a packet ring on lo can't be opened: {}", refusal.text),
            "`watch` on interfaces and `run --truth` don't work; `watch -r FILE` reads captures of \
             others.",
        )
        .mended(is_forbidden(refusal).then(|| facts.host.grant(&[NET_RAW]))),
    };
    finding.used_by(&[Purpose::Watch, Purpose::Truth])
}

/// Judges real-time scheduling.
pub(super) fn judge_realtime(facts: &Facts) -> Finding {
    const NAME: &str = "realtime";
    match &facts.kernel.realtime {
        Ok(()) => Finding::new(
            NAME,
            CheckState::Ok,
            "threads may have the policy SCHED_FIFO",
            "The emulator of a lab's links delivers frames on time beside other work.",
        ),
        Err(refusal) => Finding::new(
            NAME,
            CheckState::Limited,
            format!("threads may not have the policy SCHED_FIFO: {}", refusal.text),
            "The emulator of a lab's links is later while processors are busy (docs/emulator.md).",
        )
        .mended(is_forbidden(refusal).then(|| mend_realtime(facts))),
    }
}

/// The limit helps in a lab's user namespace too, where the capability does not count.
fn mend_realtime(facts: &Facts) -> Mend {
    match facts.host.engine() {
        Some(engine) => facts.host.start(engine, &format!("--ulimit rtprio={RTPRIO}")),
        None => Mend::command(MendPlace::Root, format!("prlimit --pid $$ --rtprio={RTPRIO}"))
            .saying("`$$` is the shell that starts sixmark"),
    }
}

fn is_forbidden(refusal: &KernelRefusal) -> bool {
    refusal.kind == ErrorKind::PermissionDenied
}

/// Judges TCP's congestion control, which needs no mending.
pub(super) fn judge_congestion(facts: &Facts) -> Finding {
    const NAME: &str = "congestion-control";
    let means =
        "It decides how fast a response arrives over a long or lossy path; results name it.";
    match &facts.kernel.congestion {
        Ok(name) => {
            let all = facts
                .kernel
                .congestions
                .as_ref()
                .map_or(String::new(), |all| format!(" (available: {})", all.join(" ")));
            Finding::new(NAME, CheckState::Ok, format!("{name}{all}"), means)
        }
        Err(why) => Finding::unknown(NAME, why, means),
    }
}

//! Processors: how many, how fast, and who else has them.

use sixmark_units::quantity::{counted, write_percent};

use crate::facts::Facts;
use crate::finding::{CheckState, Finding, Mend};

/// The share of time taken by the hypervisor from which figures are doubtful.
const MUCH_STEAL: f64 = 0.01;

/// Judges the processors.
pub(super) fn judge_processors(facts: &Facts) -> Vec<Finding> {
    vec![judge_cores(facts), judge_governor(facts), judge_smt(facts), judge_steal(facts)]
}

fn judge_cores(facts: &Facts) -> Finding {
    const NAME: &str = "cores";
    let of = &facts.processors;
    let allowed = match &of.allowed {
        Ok(allowed) => *allowed,
        Err(why) => return Finding::unknown(NAME, why, "How many threads fit is not known."),
    };
    let online = of.online.as_ref().map_or(String::new(), |online| format!(" of {online}"));
    let mut found = format!("{allowed}{online} may be used");
    let quota = of.quota.clone().ok().flatten();
    if let Some(quota) = quota {
        found += &format!("; the control group allows the time of {quota:.1}");
    }
    let engine = facts.host.engine();
    if quota.is_some_and(|quota| quota < allowed as f64) {
        let means = "The kernel stops this process whenever the time is used up, which makes \
                     pauses in response times.";
        let advice = match engine {
            Some(_) => "start the container without --cpus, with --cpuset-cpus instead",
            None => "start it outside of the control group, or raise its cpu.max",
        };
        return Finding::new(NAME, CheckState::Limited, found, means)
            .mended([Mend::advice(facts.host.machine_place(), advice)]);
    }
    if allowed < 2 {
        let means = "A server on this machine shares the core with the load, and waits for it.";
        return Finding::new(NAME, CheckState::Limited, found, means).mended([Mend::advice(
            facts.host.machine_place(),
            "allow a second processor (taskset, --cpuset-cpus), or load a server elsewhere",
        )]);
    }
    let means = format!("{} can generate load.", counted(allowed, "thread", "threads"));
    Finding::new(NAME, CheckState::Ok, found, means)
}

fn judge_governor(facts: &Facts) -> Finding {
    const NAME: &str = "governor";
    let of = &facts.processors;
    let governors = match &of.governors {
        Ok(governors) => governors,
        Err(why) => {
            let means = "Whether the frequency of processors changes during a run is not known.";
            return Finding::unknown(NAME, why, means);
        }
    };
    let names: Vec<&str> = governors.iter().map(String::as_str).collect();
    let boost = match of.boosts {
        Some(true) => "; turbo is on",
        Some(false) => "; turbo is off",
        None => "",
    };
    let found = format!("{}{boost}", names.join(", "));
    if names == ["performance"] {
        let means = "Processors keep their frequency, but for turbo.";
        return Finding::new(NAME, CheckState::Ok, found, means);
    }
    Finding::new(
        NAME,
        CheckState::Limited,
        found,
        "Processors change their frequency with the load: at low rates, response times and CPU \
         time per request are higher and vary more.",
    )
    .mended([Mend::command(
        facts.host.machine_place(),
        "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    )])
}

fn judge_smt(facts: &Facts) -> Finding {
    const NAME: &str = "smt";
    const UNKNOWN: &str = "Whether threads share a core is not known.";
    match &facts.processors.smt {
        Ok(false) if facts.processors.is_virtual != Ok(false) => Finding::unknown(
            NAME,
            "a virtual machine can't see whether two of its processors are one core",
            UNKNOWN,
        ),
        Ok(true) => Finding::new(
            NAME,
            CheckState::Ok,
            "two threads share each core",
            "A server on this machine may share a core with the load; pin them apart (taskset) to \
             compare CPU time.",
        ),
        Ok(false) => Finding::new(
            NAME,
            CheckState::Ok,
            "each processor is a core",
            "Threads do not share a core.",
        ),
        Err(why) => Finding::unknown(NAME, why, UNKNOWN),
    }
}

fn judge_steal(facts: &Facts) -> Finding {
    const NAME: &str = "steal";
    let of = &facts.processors;
    let share = match &of.steal {
        Ok(share) => *share,
        Err(why) => {
            let means = "Whether other machines take this one's time is not known.";
            return Finding::unknown(NAME, why, means);
        }
    };
    let took = write_percent(share);
    let found = match of.is_virtual {
        Ok(true) => {
            format!("a virtual machine: its hypervisor took {took} of the time since the boot")
        }
        Ok(false) => "no virtual machine".to_owned(),
        Err(_) => format!("{took} of the time since the boot"),
    };
    if share >= MUCH_STEAL {
        let means = "Other machines on the same processors delay this one: compare in many blocks, \
                     and distrust single times.";
        return Finding::new(NAME, CheckState::Limited, found, means).mended([Mend::advice(
            facts.host.machine_place(),
            "use a machine with processors of its own",
        )]);
    }
    Finding::new(NAME, CheckState::Ok, found, "No other machine takes the processors' time.")
}

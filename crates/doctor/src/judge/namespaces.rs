//! Namespaces, labs and their links.

use sixmark_lab::needs::TC;
use sixmark_lab::plan::tc::KernelShapers;
use sixmark_lab::trial::TrialOutcome;
use sixmark_sys::enclosure::Rights;
use sixmark_units::quantity::duration_us;

use crate::facts::{Facts, NamespaceFacts};
use crate::finding::{CheckState, Finding, Mend, MendPlace};
use crate::purpose::Purpose;

/// The number of namespaces that is enough for every lab.
const ENOUGH: &str = "10000";

/// Judges whether a lab can be built, and how its links work.
pub(super) fn judge_namespaces(facts: &Facts) -> Vec<Finding> {
    let lab = judge_lab(facts).used_by(&[Purpose::Lab]);
    std::iter::once(lab).chain(judge_links(facts)).collect()
}

fn judge_lab(facts: &Facts) -> Finding {
    const NAME: &str = "namespaces";
    let no_labs = "`sixmark lab` and `sixmark study run --in-lab` can't work.";
    match &facts.namespaces.trial {
        Ok(TrialOutcome::Built { rights, took, .. }) => {
            let how = match rights {
                Rights::Root => "with the rights of root",
                Rights::User => "in a user namespace",
            };
            let took = duration_us(took.as_secs_f64() * 1e6);
            Finding::new(
                NAME,
                CheckState::Ok,
                format!("a lab of three hosts was built and removed in {took}, {how}"),
                "`sixmark lab` and `sixmark study run --in-lab` work.",
            )
        }
        Ok(TrialOutcome::Failed(why)) => Finding::new(
            NAME,
            CheckState::Missing,
            format!("the namespaces of a lab can be made, but not the lab: {why}"),
            no_labs,
        )
        .mended(mend_namespaces(facts)),
        Ok(TrialOutcome::Refused { what, errno }) => {
            let error = errno.map_or("unknown error".to_owned(), |errno| {
                std::io::Error::from_raw_os_error(errno).to_string()
            });
            let settings = describe_settings(&facts.namespaces);
            Finding::new(
                NAME,
                CheckState::Missing,
                format!("this process can't {what} ({error}){settings}"),
                no_labs,
            )
            .mended(mend_namespaces(facts))
        }
        Err(why) => Finding::unknown(NAME, why, "Whether labs work is not known."),
    }
}

/// Returns the settings that the kernel has, for a sentence.
fn describe_settings(of: &NamespaceFacts) -> String {
    let all = [
        ("kernel.unprivileged_userns_clone", of.userns_clone),
        ("kernel.apparmor_restrict_unprivileged_userns", of.apparmor_restricts),
        ("user.max_user_namespaces", of.max_user),
        ("user.max_net_namespaces", of.max_net),
    ];
    let said = all.iter().filter_map(|(name, value)| Some(format!("; {name} is {}", (*value)?)));
    said.collect()
}

/// Returns what permits namespaces.
fn mend_namespaces(facts: &Facts) -> Vec<Mend> {
    let (host, of) = (&facts.host, &facts.namespaces);
    let zero = |value: Option<u64>| value == Some(0);
    let mut mend = Vec::new();
    let mut set = |wrong: bool, name: &str, value: &str| {
        mend.extend(wrong.then(|| host.machine_sysctl(name, value)));
    };
    set(zero(of.userns_clone) && !host.is_root(), "kernel.unprivileged_userns_clone", "1");
    let apparmor = of.apparmor_restricts.is_some_and(|value| value > 0) && !host.is_root();
    set(apparmor, "kernel.apparmor_restrict_unprivileged_userns", "0");
    set(zero(of.max_user) && !host.is_root(), "user.max_user_namespaces", ENOUGH);
    set(zero(of.max_net), "user.max_net_namespaces", ENOUGH);
    if let Some(engine) = host.engine() {
        mend.push(host.start(engine, "--privileged"));
    } else if mend.is_empty() && !host.is_root() {
        mend.push(Mend::advice(MendPlace::Root, "run sixmark as root"));
    }
    mend
}

/// The option of a kernel that has netem.
const NETEM: &str = "CONFIG_NET_SCH_NETEM";
/// The options of a kernel that can limit rates in the middle of links.
const LIMITS: &str =
    "CONFIG_NET_SCH_TBF, CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_U32, CONFIG_NET_ACT_MIRRED";

/// Judges the links of labs, if a lab can be built.
fn judge_links(facts: &Facts) -> Option<Finding> {
    const NAME: &str = "lab-links";
    let Ok(TrialOutcome::Built { shapers, .. }) = &facts.namespaces.trial else { return None };
    let limited = |found: &str, options: &str| {
        const MEANS: &str = "The emulator takes CPU time, and is later while processors are busy.";
        let advice = format!("boot a kernel with {options}, if the emulator is not enough");
        Finding::new(NAME, CheckState::Limited, found, MEANS)
            .mended([Mend::advice(facts.host.machine_place(), advice)])
    };
    Some(match shapers {
        Ok(KernelShapers { netem: true, limits: true }) => Finding::new(
            NAME,
            CheckState::Ok,
            "the kernel's netem delays frames",
            "The kernel itself delays, drops and limits frames in labs.",
        ),
        Ok(KernelShapers { netem: false, limits: true }) => {
            limited("sixmark's emulator delays frames: the kernel has no netem", NETEM)
        }
        Ok(KernelShapers { netem: true, limits: false }) => limited(
            "sixmark's emulator limits rates: the kernel lacks TBF, ingress, u32 or mirred",
            LIMITS,
        ),
        Ok(KernelShapers { netem: false, limits: false }) => limited(
            "sixmark's emulator delays frames and limits rates: the kernel has no netem and lacks TBF, \
             ingress, u32 or mirred",
            &format!("{NETEM}, {LIMITS}"),
        ),
        Err(why) => {
            let means = "Labs fail if a link has a delay, a loss or a rate.";
            Finding::new(NAME, CheckState::Missing, why.clone(), means)
                .mended(why.contains(TC.1).then(|| facts.host.install(&[TC.1])))
        }
    })
}

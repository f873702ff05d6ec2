//! The claims of the paper about each client, and those of documentations, with their answers.
//!
//! A claim is decided by itself, with an interval of 95 %; there is no correction for their number.

mod decide;

use serde::{Deserialize, Serialize};
use sixmark_design::study_result::ClaimAnswer;
use sixmark_eyes::figures::TimeSpread;

use super::clients::{CLIENTS, InspectedClient};
use super::published::{self, PublishedClient, published_clients, read_delay};
use super::seen_client::{ClientInspection, LeftOutClient};
use super::traits::{ClientTraits, TraitCount};
use decide::{BY_COUNT, BY_DELAY, Decision, decide_all, decide_count, decide_delay, tolerance_ms};

/// The least wait after the answer for A that is a resolution delay rather than the client's own time, in
/// milliseconds.
const LEAST_WAIT_MS: f64 = 10.0;
/// The number of addresses of each family where many are tried.
const ALL_ADDRESSES: u32 = 4;

/// A claim and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InspectionClaim {
    /// Its name, unique in the study.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// The client that it is about, for people; null if it is about several.
    pub client: Option<String>,
    /// Where it stands.
    pub source: String,
    /// True for a claim of the paper, false for one of a client's documentation.
    pub of_paper: bool,
    /// Whether it is a main finding of the paper, as its abstract names them.
    pub main: bool,
    /// The figure that is printed for it; null for a claim in words.
    pub printed: Option<String>,
    /// How it is decided.
    pub method: String,
    /// The measured figures in words; empty without any.
    pub figures: String,
    /// The starts that the answer rests on.
    pub starts: u32,
    /// The answer.
    pub answer: ClaimAnswer,
    /// Why it is undecided or was not tested, in a clause without a full stop; null otherwise.
    pub why: Option<String>,
}

/// What a claim is about, before it is decided.
struct AskedClaim {
    id: String,
    text: String,
    client: Option<String>,
    printed: Option<String>,
    method: &'static str,
}

impl AskedClaim {
    fn answered(self, source: &str, place: ClaimPlace, of: Decision) -> InspectionClaim {
        InspectionClaim {
            id: self.id,
            text: self.text,
            client: self.client,
            source: source.to_owned(),
            of_paper: place != ClaimPlace::Documentation,
            main: place == ClaimPlace::Abstract,
            printed: self.printed,
            method: self.method.to_owned(),
            figures: of.figures,
            starts: of.starts,
            answer: of.answer,
            why: of.why,
        }
    }
}

/// Where a claim stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClaimPlace {
    Abstract,
    Table,
    Documentation,
}

/// Returns all claims with their answers: the main findings, the rows of the table, the documentations.
pub fn inspection_claims(
    clients: &[ClientInspection],
    left_out: &[LeftOutClient],
) -> Vec<InspectionClaim> {
    let mut claims = abstract_claims(clients);
    for row in published_clients() {
        let is_row = |name: &Option<String>| name.as_deref() == Some(row.client.as_str());
        let seen = clients.iter().find(|of| is_row(&of.published_as));
        let absent = left_out.iter().find(|of| is_row(&of.published_as));
        let why = match (seen, absent) {
            (Some(of), _) => cannot_ask(&of.traits).map(str::to_owned),
            (None, Some(absent)) => Some(absent.reason.clone()),
            (None, None) => Some(absence_of(&row.client)),
        };
        let traits = seen.map(|of| of.traits.clone()).unwrap_or_default();
        for (asked, decision) in row_claims(&row, &traits) {
            let decision = why.clone().map_or(decision, Decision::not_tested);
            claims.push(asked.answered(published::TABLE, ClaimPlace::Table, decision));
        }
    }
    claims.extend(clients.iter().filter_map(stated_claim));
    claims
}

/// Returns why a row of the table has no client among those of a study.
fn absence_of(row: &str) -> String {
    match CLIENTS.iter().any(|client| client.published == Some(row)) {
        true => format!("{row} was not started"),
        false => format!("the study has no {row}"),
    }
}

/// Returns why nothing can be said of a client; `None` if it got the page in a network without a fault.
fn cannot_ask(traits: &ClientTraits) -> Option<&'static str> {
    (traits.asked.of > 0 && traits.asked.shown == 0)
        .then_some("it sent no request in a network without a fault")
}

/// Returns the claims of a row of the table, each with its answer.
fn row_claims(row: &PublishedClient, traits: &ClientTraits) -> Vec<(AskedClaim, Decision)> {
    let slug = row.client.to_lowercase().replace(' ', "-");
    let asked = |id: &str, says: String, printed: &str, method| AskedClaim {
        id: format!("{slug}-{id}"),
        text: format!("{} {says}", row.client),
        client: Some(row.client.clone()),
        printed: Some(printed.to_owned()),
        method,
    };
    let mut all = Vec::new();
    let mut yes_or_no = |id: &str, printed: &Option<String>, says: [&str; 2], count: TraitCount| {
        let Some(printed) = printed else { return };
        let claimed = printed == "Yes";
        let said = says[usize::from(!claimed)].to_owned();
        all.push((asked(id, said, printed, BY_COUNT), decide_count(count, claimed)));
    };
    yes_or_no(
        "ipv6-preferred",
        &row.ipv6_preferred,
        ["prefers IPv6", "does not prefer IPv6"],
        traits.over_ipv6,
    );
    yes_or_no(
        "aaaa-first",
        &row.aaaa_first,
        ["asks for AAAA before A", "does not ask for AAAA before A"],
        traits.aaaa_first,
    );
    yes_or_no(
        "resolution-delay",
        &row.resolution_delay,
        ["has a resolution delay", "has no resolution delay"],
        resolution_delay_shown(traits),
    );
    yes_or_no(
        "interleaves",
        &row.interleaves,
        [
            "tries addresses of both families in turn",
            "does not try addresses of both families in turn",
        ],
        traits.interleaved,
    );
    for (family, printed, used) in
        [("ipv6", &row.ipv6_used, &traits.ipv6_used), ("ipv4", &row.ipv4_used, &traits.ipv4_used)]
    {
        let Some(printed) = printed else { continue };
        let says = format!("tries {} of {}", addresses(printed), family.replace("ip", "IP"));
        let number = if printed == "all" { Some(ALL_ADDRESSES) } else { printed.parse().ok() };
        let decision = number.map_or_else(
            || Decision::not_tested("the printed number can't be read"),
            |number| decide_number(used, number),
        );
        all.push((asked(&format!("{family}-used"), says, printed, BY_COUNT), decision));
    }
    all.insert(1, delay_of_row(row, traits, &asked));
    all
}

fn addresses(printed: &str) -> String {
    match printed {
        "0" => "no address".to_owned(),
        "1" => "1 address".to_owned(),
        "all" => "all addresses".to_owned(),
        other => format!("{other} addresses"),
    }
}

/// Returns the claim about the attempt delay: a single one, a range of a dynamic one, or none.
fn delay_of_row(
    row: &PublishedClient,
    traits: &ClientTraits,
    asked: &impl Fn(&str, String, &str, &'static str) -> AskedClaim,
) -> (AskedClaim, Decision) {
    const ID: &str = "attempt-delay";
    match row.attempt_delay.as_deref() {
        Some(printed) => match read_delay(printed) {
            Some(ms) => {
                let says = format!("begins with IPv4 {ms} ms after IPv6");
                (asked(ID, says, printed, BY_DELAY), decide_fallback(traits, ms))
            }
            None => {
                let says = "has an attempt delay that depends on the network".to_owned();
                let fixed = decide_count(fixed_delays(traits), false);
                (asked(ID, says, printed, BY_COUNT), fixed)
            }
        },
        None => {
            let says = "does not begin with IPv4 while IPv6 is slow".to_owned();
            (asked(ID, says, "-", BY_COUNT), decide_count(traits.stayed, true))
        }
    }
}

/// Decides whether a client begins with IPv4 after a delay. One that never does has no such delay.
fn decide_fallback(traits: &ClientTraits, claimed_ms: f64) -> Decision {
    let stays = decide_count(traits.stayed, true);
    match (traits.attempt_delays_ms.is_empty(), stays.answer) {
        (_, ClaimAnswer::NotTested) => stays,
        (_, ClaimAnswer::Holds) => Decision {
            answer: ClaimAnswer::DoesNotHold,
            figures: format!("no attempt over IPv4 in {}", stays.figures),
            ..stays
        },
        (true, _) => Decision { answer: ClaimAnswer::Undecided, ..stays },
        (false, _) => decide_delay(&traits.attempt_delays_ms, claimed_ms),
    }
}

/// Decides whether this number of addresses was tried in most starts.
fn decide_number(used: &[u32], number: u32) -> Decision {
    let shown = used.iter().filter(|of| **of == number).count() as u32;
    let decision = decide_count(TraitCount { shown, of: used.len() as u32 }, true);
    let mut seen: Vec<u32> = used.to_vec();
    seen.sort_unstable();
    seen.dedup();
    let seen: Vec<String> = seen.iter().map(u32::to_string).collect();
    let figures = match decision.starts {
        0 => String::new(),
        _ => format!("{} in {} starts", seen.join(" or "), decision.starts),
    };
    Decision { figures, ..decision }
}

/// Returns the starts that began with IPv4 some time after the answer for A, without that for AAAA.
fn resolution_delay_shown(traits: &ClientTraits) -> TraitCount {
    let waits = traits.resolution_delays_ms.iter().filter(|ms| **ms >= LEAST_WAIT_MS);
    TraitCount { shown: waits.count() as u32, of: traits.waited_for_aaaa.of }
}

/// Returns the starts whose attempt delay is near the median in another network. None could if delays were seen
/// in one network alone: that does not show whether they depend on it.
fn fixed_delays(traits: &ClientTraits) -> TraitCount {
    let [slow, silent] = [&traits.attempt_delays_ms, &traits.silent_delays_ms];
    let (Some(in_slow), Some(in_silent)) =
        (TimeSpread::of(slow.iter().copied()), TimeSpread::of(silent.iter().copied()))
    else {
        return TraitCount::default();
    };
    let near = |delays: &[f64], median_ms: f64| {
        delays.iter().filter(|ms| (**ms - median_ms).abs() <= tolerance_ms(median_ms)).count()
    };
    let shown = near(slow, in_silent.median_ms) + near(silent, in_slow.median_ms);
    TraitCount { shown: shown as u32, of: in_slow.count + in_silent.count }
}

/// What the abstract says of all clients but Safari: the name, the words, and how it is decided of one.
type SaidOfAll = (&'static str, &'static str, fn(&ClientTraits) -> Decision);

const OF_ALL: [SaidOfAll; 3] = [
    (
        "only-safari-dynamic-delay",
        "Of the clients, only Safari has an attempt delay that depends on the network",
        |of| decide_count(fixed_delays(of), true),
    ),
    ("only-safari-resolution-delay", "Of the clients, only Safari has a resolution delay", |of| {
        decide_count(resolution_delay_shown(of), false)
    }),
    (
        "only-safari-interleaves",
        "Of the clients, only Safari tries addresses of both families in turn",
        |of| decide_count(of.interleaved, false),
    ),
];

/// The clients of which the abstract says that trouble with A delays them: the row of the paper that is
/// here, and the name of the claim.
const WAITS_FOR_A: [(&str, &str); 2] =
    [("Chromium", "chromium-waits-for-a"), ("Mozilla Firefox", "firefox-waits-for-a")];

fn abstract_claims(clients: &[ClientInspection]) -> Vec<InspectionClaim> {
    let of_paper: Vec<&ClientInspection> =
        clients.iter().filter(|of| of.published_as.is_some()).collect();
    let answered = |asked: AskedClaim, of: Decision| {
        asked.answered(published::ABSTRACT, ClaimPlace::Abstract, of)
    };
    let waits = WAITS_FOR_A.iter().map(|(row, id)| {
        let seen = of_paper.iter().find(|of| of.published_as.as_deref() == Some(row));
        let decision = seen.map_or_else(
            || Decision::not_tested(absence_of(row)),
            |of| decide_count(of.traits.waited_for_a, true),
        );
        let asked = AskedClaim {
            id: (*id).to_owned(),
            text: format!("{row} waits for a late answer for A, though IPv6 works"),
            client: Some((*row).to_owned()),
            printed: None,
            method: BY_COUNT,
        };
        answered(asked, decision)
    });
    let of_all = OF_ALL.iter().map(|(id, text, decide)| {
        let each: Vec<(&str, Decision)> =
            of_paper.iter().map(|of| (of.label.as_str(), decide(&of.traits))).collect();
        let asked = AskedClaim {
            id: (*id).to_owned(),
            text: (*text).to_owned(),
            client: None,
            printed: None,
            method: BY_COUNT,
        };
        answered(asked, decide_all(&each))
    });
    waits.chain(of_all).collect()
}

/// Returns the claim of a client's documentation about its attempt delay, if it has one.
fn stated_claim(of: &ClientInspection) -> Option<InspectionClaim> {
    let stated = InspectedClient::named(&of.client)?.stated?;
    let asked = AskedClaim {
        id: format!("{}-stated-delay", of.client),
        text: format!("{} begins with IPv4 {} ms after IPv6", of.label, stated.ms),
        client: Some(of.label.clone()),
        printed: Some(format!("{} ms", stated.ms)),
        method: BY_DELAY,
    };
    let decision = match cannot_ask(&of.traits) {
        Some(why) => Decision::not_tested(why),
        None => decide_fallback(&of.traits, stated.ms),
    };
    Some(asked.answered(stated.source, ClaimPlace::Documentation, decision))
}

#[cfg(test)]
mod tests;

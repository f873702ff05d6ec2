//! Tests of claims on figures whose truth is known.

mod false_answers;
mod instruments;

use crate::outputs::claims;
use crate::outputs::tests::{
    SIX_LEVELS, SIZES, answering, counted, measured, sick_at_two, size, some, study,
};
use sixmark_design::study_result::{At, ClaimAnswer, ClaimResult};
use sixmark_units::family::Family;

use ClaimAnswer::{
    DoesNotHold, Holds, HoldsInDirection, HoldsInPart, NoDifference, NotComparable, NotTested,
    Opposite, Undecided,
};

fn claim(id: usize, kind: &str, more: &str) -> String {
    let measure = if more.contains("measure =") { "" } else { "measure = 'goodput'\n" };
    format!("[[claims]]\nid = 'c{id}'\ntext = 'T'\nkind = '{kind}'\n{measure}{more}\n")
}

#[test]
fn does_not_compare_speeds_of_sides_with_different_statuses() {
    let sides = [
        "a = { family = 'ipv6' }\nb = { family = 'ipv4' }",
        "a = { size = 2 }\nb = { size = 1 }",
        "a = { size = 2 }\nb = { size = 1 }\ncontrast = { factor = 'family', of = 'ipv6', over = 'ipv4' }",
        "a = { size = 2, family = 'ipv6' }\nb = { size = 1, family = 'ipv6' }",
        "a = { size = 3 }\nb = { size = 1 }",
    ];
    let of_speed: String =
        sides.iter().enumerate().map(|(id, side)| claim(id, "higher", side)).collect();
    let of_failures = claim(9, "higher", &format!("measure = 'failed'\n{}", sides[0]));
    let study = study(&format!("{SIX_LEVELS}{of_speed}{of_failures}"));
    let found = claims(&study, &answering(&study, sick_at_two));
    let differ = "IPv6 answers 503 to every request; IPv4 200 (at size 2)";
    let errors = "IPv6 returns only errors: 0 of 150 accepted";
    let said = [Some(differ), Some(differ), Some(differ), Some(errors), None, None];
    for (found, said) in found.iter().zip(said) {
        assert_eq!(found.measured.answer == NotComparable, said.is_some(), "{found:?}");
        if said.is_some() {
            assert_eq!(found.measured.why.as_deref(), said);
            assert_eq!((found.measured.estimate, found.measured.p), (None, None));
        }
    }
    let well = claims(&study, &answering(&study, |_, _| 200));
    assert!(well.iter().all(|found| found.measured.answer != NotComparable), "{well:?}");
}

#[test]
fn does_not_compare_sides_if_one_answers_half_its_requests_with_301() {
    let text = claim(1, "higher", "a = { size = [2, 3] }\nb = { size = 1 }");
    let study = study(&format!("{SIX_LEVELS}{text}"));
    let moved = |_: Family, at: &[At]| if size(at) == 2.0 { 301 } else { 200 };
    let found = &claims(&study, &answering(&study, moved))[0].measured;
    let said = "size 2 or 3 answers 301 to 50.0 % of requests; size 1 to none";
    assert_eq!((found.answer, found.why.as_deref()), (NotComparable, Some(said)));
}

const FAMILIES_OF_TWO: &str =
    "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nwhere = { size = 2 }";

/// Tests a claim of this kind that has a sentence for each answer. Goodput is 10 % higher over IPv6.
fn said(kind: &str, more: &str) -> ClaimResult {
    let sentences = "confirmed = 'yes: {a} against {b}, {percent}'\n\
                     refuted = 'no: {ratio} times, {difference} apart.'\n";
    let study = study(&format!("{SIZES}{}{sentences}", claim(1, kind, more)));
    claims(&study, &measured(&study, some)).swap_remove(0)
}

#[test]
fn fills_the_figures_into_the_sentence_of_the_answer() {
    let of = |kind: &str, more: &str| {
        let found = said(kind, &format!("{FAMILIES_OF_TWO}\n{more}"));
        (found.measured.answer, found.said)
    };
    let yes = Some("yes: 2.24 MB/s against 2.04 MB/s, 10 %".to_owned());
    let no = Some("no: 1.10 times, 204 kB/s apart".to_owned());
    assert_eq!(of("higher", ""), (Holds, yes.clone()));
    assert_eq!(of("lower", ""), (Opposite, no.clone()));
    assert_eq!(of("equal", ""), (DoesNotHold, no.clone()));
    assert_eq!(of("equal", "margin = 20"), (Holds, yes.clone()));
    assert_eq!(of("ratio", "at_least = 1.05\nat_most = 1.15"), (Holds, yes));
    let (answer, said) = of("ratio", "at_least = 1.2");
    assert_eq!((answer, said), (HoldsInDirection, None));
    assert_eq!(of("ratio", "at_most = 0.9"), (Opposite, no.clone()));
    assert_eq!(of("higher", "margin = 20"), (NoDifference, no));
}

#[test]
fn gives_an_undecided_claim_a_reason_instead_of_a_sentence() {
    let text =
        format!("{}confirmed = 'yes'\nrefuted = 'no'\n", claim(1, "higher", FAMILIES_OF_TWO));
    let study = study(&format!("{SIZES}{text}"));
    let turns = |family, at: &[At], repetition: u32| {
        let factor = if repetition.is_multiple_of(2) { 0.5 } else { 1.5 };
        some(family, at, repetition).map(|v| if family == Family::Ipv6 { v * factor } else { v })
    };
    for (cells, answer, why) in [
        (measured(&study, turns), Undecided, "3 repetitions do not decide it"),
        (Vec::new(), NotTested, "a side has no figures"),
    ] {
        let found = &claims(&study, &cells)[0];
        assert_eq!((found.measured.answer, &found.said), (answer, &None));
        let said = found.measured.why.as_deref().unwrap_or_default();
        assert!(said.starts_with(why), "{said}");
    }
}

#[test]
fn a_claim_about_all_or_none_is_decided_by_counts() {
    let all = "measure = 'NORMAL'\na = { size = 1 }\nconfirmed = 'all ({count} of {sent})'\n\
               refuted = '{count} of {sent}'";
    let none = "measure = 'NORMAL'\na = { size = 2, family = 'ipv6' }\n\
                confirmed = 'none ({count} of {sent})'\nrefuted = '{count} of {sent}'";
    let study = study(&format!("{SIZES}{}{}", claim(1, "all", all), claim(2, "none", none)));
    let found = |at_one: u32, at_two: u32| {
        let cells = counted(&study, |at| if size(at) == 1.0 { at_one } else { at_two });
        let found = claims(&study, &cells);
        let said = found.iter().map(|found| found.said.clone().unwrap_or_default());
        let said = said.collect::<Vec<_>>();
        (found.iter().map(|found| found.measured.answer).collect::<Vec<_>>(), said)
    };
    let held = ["all (60 of 60)", "none (0 of 30)"].map(str::to_owned).to_vec();
    assert_eq!(found(10, 0), (vec![Holds, Holds], held));
    let failed = ["54 of 60", "3 of 30"].map(str::to_owned).to_vec();
    assert_eq!(found(9, 1), (vec![DoesNotHold, DoesNotHold], failed));
    let none = claims(&study, &[]);
    assert!(none.iter().all(|found| found.measured.answer == NotTested), "{none:?}");
}

#[test]
fn decides_share_claims_by_bounds_and_exact_claims_by_exact_counts() {
    let share =
        |least: &str| format!("measure = 'TIMEOUT'\nof = 'sent'\na = {{}}\nat_least = {least}");
    let exact = |share: &str| {
        format!(
            "measure = 'sent'\na = {{ family = 'ipv6' }}\nover = 'size'\nshares = {{ 1 = {share} }}"
        )
    };
    let both = "[factors]\nsize = [1, 2]\n";
    let study = study(&format!(
        "{both}{}{}{}{}",
        claim(1, "share", &share("0.2")),
        claim(2, "share", &share("0.9")),
        claim(3, "exact", &exact("0.5")),
        claim(4, "exact", &exact("0.2")),
    ));
    let found = claims(&study, &counted(&study, |_| 4));
    let answers: Vec<_> = found.iter().map(|found| found.measured.answer).collect();
    assert_eq!(answers, [Holds, DoesNotHold, Holds, DoesNotHold]);
    assert_eq!(found[0].measured.figures, "60\u{a0}% of 120");
    assert_eq!(found[3].measured.figures, "10 of 20 sent at size 1");
}

/// Goodput by size, the same over both families, with some spread over repetitions.
fn along(kinds: &[(&str, &str)], figure: impl Fn(f64) -> f64) -> Vec<ClaimResult> {
    let text = kinds.iter().enumerate().map(|(id, (kind, more))| claim(id, kind, more));
    let study = study(&format!("{SIX_LEVELS}{}", text.collect::<String>()));
    let of = |family: Family, at: &[At], repetition: u32| {
        let place = size(at) * 2.0 + f64::from(family == Family::Ipv6);
        let repetition = f64::from(repetition);
        let spread = 1.0 + 0.001 * (repetition * (repetition + place * 3.0) % 7.0);
        Some(figure(size(at)) * spread * 1e6)
    };
    claims(&study, &measured(&study, of))
}

#[test]
fn decides_trends_extremes_and_independence_from_the_figures() {
    let over = "a = {}\nover = 'size'";
    let turn = format!("{over}\nturn = 3");
    let at = |level: &str| format!("{over}\nat = {level}");
    let (two, six, ends) = (at("2"), at("6"), at("[1, 6]"));
    let kinds = [
        ("rises", over),
        ("falls", over),
        ("u-shaped", &turn),
        ("highest", &six),
        ("highest", &two),
        ("lowest", &two),
        ("highest", &ends),
        ("independent", over),
    ];
    let answers = |figure: fn(f64) -> f64| -> Vec<ClaimAnswer> {
        along(&kinds, figure).iter().map(|found| found.measured.answer).collect()
    };
    let no = DoesNotHold;
    let rising = [Holds, Opposite, no, Holds, Opposite, Opposite, Opposite, no];
    assert_eq!(answers(|size| size), rising);
    let falling = [Opposite, Holds, no, Opposite, Opposite, Opposite, Opposite, no];
    assert_eq!(answers(|size| 1.0 / size), falling);
    let valley = answers(|size| 1.0 + (size - 3.0).powi(2));
    assert_eq!(valley[2..5], [Holds, Holds, Opposite]);
    assert_eq!(valley[7], no);
    // One step against a trend.
    let dip = along(&kinds, |size| if size == 4.0 { 2.0 } else { size });
    assert_eq!(dip[0].measured.answer, HoldsInPart);
    assert_eq!(dip[0].measured.why.as_deref(), Some("on the whole, and not from 3 to 4"));
    let flat = along(&kinds, |_| 1.0);
    assert_eq!(flat[0].measured.why.as_deref(), Some("no difference beyond 5 %"));
    let tie = "none is highest: 1, 2, 3, 4, 5 and 6 are within 5 %";
    assert_eq!(flat[3].measured.why.as_deref(), Some(tie));
    let level = answers(|_| 1.0);
    assert_eq!((level[0], level[1], level[7]), (NoDifference, NoDifference, Holds));
    assert_eq!(level[3..7], [NoDifference; 4]);
}

#[test]
fn finds_the_levels_with_the_largest_and_smallest_difference() {
    let sides = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nover = 'size'";
    let kinds =
        [("largest-difference", "6"), ("largest-difference", "2"), ("smallest-difference", "1")];
    let text = kinds
        .iter()
        .enumerate()
        .map(|(id, (kind, at))| claim(id, kind, &format!("{sides}\nat = {at}")));
    let study = study(&format!("{SIX_LEVELS}{}", text.collect::<String>()));
    let found = claims(&study, &measured(&study, some));
    let answers: Vec<_> = found.iter().map(|found| found.measured.answer).collect();
    assert_eq!(answers, [Holds, Opposite, Holds], "{found:#?}");
    assert!(
        found[1].measured.figures.starts_with("largest at 6, "),
        "{}",
        found[1].measured.figures
    );
}

#[test]
fn tests_claims_on_published_figures_if_there_are_enough() {
    let of = "source = 'S'\npublished = { table = 'p', at = { system = 'A' } }\n\
              not_here = 'this machine has no A'";
    let sides = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }";
    let text = [
        claim(1, "lower", &format!("{sides}\n{of}")),
        claim(2, "higher", &format!("{sides}\n{of}\nwhere = {{ size = 1 }}")),
        claim(3, "rises", &format!("a = {{ family = 'ipv6' }}\nover = 'size'\n{of}")),
    ];
    let study = study(&format!("{SIZES}{}", text.concat()));
    let found = claims(&study, &measured(&study, some));
    for found in &found {
        assert_eq!(found.measured.answer, NotTested);
        assert_eq!(found.measured.why.as_deref(), Some("this machine has no A"));
    }
    let published: Vec<_> = found.iter().filter_map(|found| found.published.as_ref()).collect();
    assert_eq!((published[0].blocks, published[0].agrees), (2, Some(true)));
    assert_eq!((published[1].answer, published[1].agrees), (Undecided, Some(false)));
    assert_eq!(published[1].why.as_deref(), Some("one printed figure of each allows no test"));
    assert!(published[2].why.as_deref().unwrap().contains("too few"), "{:?}", published[2]);
}

#[test]
fn names_the_levels_that_the_quick_form_omits_for_a_claim() {
    let more = "a = { size = 1 }\nb = { size = 2 }";
    let text = format!(
        "{SIZES}{}{}[quick]\nfactors = {{ size = [1] }}\n",
        claim(1, "lower", more),
        claim(2, "lowest", "a = {}\nover = 'size'\nat = 1\nlevels = [1, 2]")
    );
    let study = crate::outputs::tests::short_study(&text);
    let found = claims(&study, &measured(&study, some));
    for found in found {
        assert_eq!(found.measured.why.as_deref(), Some("--quick omits size 2"), "{}", found.id);
    }
}

/// Answers claims about both families, at each size of which IPv6 has a factor.
fn at_each_size(kind: &str, more: &str, factor: fn(f64) -> f64) -> ClaimResult {
    let sides = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\neach = 'size'";
    let study = study(&format!("{SIX_LEVELS}{}", claim(1, kind, &format!("{sides}\n{more}"))));
    let of = |family: Family, at: &[At], repetition: u32| {
        let spread = 1.0 + 0.001 * f64::from(repetition * (repetition + 2) % 5);
        let of_ipv6 = if family == Family::Ipv6 { factor(size(at)) * spread } else { 1.0 };
        Some(of_ipv6 * 1e6)
    };
    claims(&study, &measured(&study, of)).swap_remove(0)
}

#[test]
fn tests_a_claim_about_each_level_at_every_level_not_on_the_mean() {
    let all = at_each_size("higher", "", |_| 1.3).measured;
    assert_eq!((all.answer, all.why), (Holds, None));
    let one_against = |size: f64| if size == 6.0 { 0.7 } else { 3.0 };
    let part = at_each_size("higher", "", one_against).measured;
    assert_eq!(part.answer, HoldsInPart, "{part:?}");
    assert_eq!(part.why.as_deref(), Some("it holds at 1, 2, 3, 4, 5, not at 6"));
    assert!(part.figures.starts_with("at worst at 6, "), "{}", part.figures);
    assert_eq!(at_each_size("higher", "", |_| 0.8).measured.answer, Opposite);
    assert_eq!(at_each_size("higher", "", |_| 1.01).measured.answer, NoDifference);
    let within = "at_least = 1.25\nat_most = 1.78";
    assert_eq!(at_each_size("ratio", within, |_| 1.4).measured.answer, Holds);
    assert_eq!(at_each_size("ratio", within, |_| 3.0).measured.answer, HoldsInDirection);
    let some = at_each_size("ratio", within, |size| if size < 3.0 { 1.4 } else { 3.0 }).measured;
    assert_eq!(some.why.as_deref(), Some("it holds at 1, 2, not at 3, 4, 5, 6"));
}

#[test]
fn one_repetition_decides_nothing_about_a_share() {
    let share = "measure = 'TIMEOUT'\nof = 'sent'\na = {}\nat_least = 0.2";
    let mut study = study(&format!("{SIZES}{}", claim(1, "share", share)));
    study.repetitions = std::num::NonZeroU32::MIN;
    let mut cells = counted(&study, |_| 4);
    cells.retain(|cell| cell.repetition == cells_first(&study));
    let found = &claims(&study, &cells)[0].measured;
    assert_eq!(found.answer, Undecided, "{found:?}");
    assert_eq!(found.why.as_deref(), Some("1 repetition is too few"));
}

fn cells_first(study: &sixmark_design::spec::Study) -> u32 {
    counted(study, |_| 4).iter().map(|cell| cell.repetition).min().unwrap_or(0)
}

#[test]
fn own_claims_do_not_change_the_p_values_of_the_papers_claims() {
    let sides = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }";
    let own: String = (2..20).map(|id| claim(id, "lower", sides)).collect();
    let of_paper = claim(1, "higher", &format!("{sides}\nsource = 'S'"));
    let alone = study(&format!("{SIZES}{of_paper}"));
    let among = study(&format!("{SIZES}{of_paper}{own}"));
    let first =
        |study: &sixmark_design::spec::Study| claims(study, &measured(study, some)).swap_remove(0);
    let [alone, among] = [first(&alone), first(&among)].map(|found| found.measured);
    assert_eq!((alone.p, alone.p_adjusted), (among.p, among.p_adjusted));
    assert_eq!(alone.p, alone.p_adjusted);
}

/// Tests the same claim of the paper as a main finding and, `others` times, as one of the rest.
fn main_and_rest(
    others: usize,
    figure: impl Fn(Family, &[At], u32) -> Option<f64>,
) -> Vec<ClaimResult> {
    let sides = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nsource = 'S'";
    let main = claim(0, "higher", &format!("{sides}\nmain = true"));
    let rest: String = (1..=others).map(|id| claim(id, "higher", sides)).collect();
    let study = study(&format!("{SIZES}{main}{rest}"));
    claims(&study, &measured(&study, figure))
}

#[test]
fn gives_main_findings_a_larger_share_of_the_significance_level() {
    let found = main_and_rest(3, some);
    assert_eq!(
        found.iter().map(|found| found.main).collect::<Vec<_>>(),
        [true, false, false, false]
    );
    // No order is tested: the main finding has 2/3 of the level, the rest a ninth each.
    let p = found[0].measured.p.unwrap();
    for (found, factor) in found.iter().zip([1.5, 3.0, 3.0, 3.0]) {
        let adjusted = found.measured.p_adjusted.unwrap();
        assert!((adjusted / p - factor).abs() < 1e-9, "{adjusted} of {p}");
    }
}

#[test]
fn main_findings_need_fewer_repetitions_than_other_claims() {
    let wide = |family: Family, _: &[At], repetition: u32| {
        let of_ipv6 = 1.2 * (1.0 + 0.1 * (f64::from(repetition % 3) - 1.0));
        Some(1e6 * if family == Family::Ipv6 { of_ipv6 } else { 1.0 })
    };
    let found = main_and_rest(12, wide);
    let more = |at: usize| found[at].measured.more_blocks.unwrap();
    assert!(more(0) < more(1), "{} and {}", more(0), more(1));
}

#[test]
fn derived_claims_take_another_claims_answer_without_a_test() {
    let sides = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nsource = 'S'";
    let mut all = vec![
        claim(1, "higher", sides),
        claim(2, "lower", &format!("{sides}\nmeasure = 'wait.mean'\nderived_from = 'c1'")),
        claim(3, "lower", sides),
    ];
    let found = |text: &[String]| {
        let study = study(&format!("{SIZES}{}", text.concat()));
        claims(&study, &measured(&study, some))
    };
    let with = found(&all);
    let (tested, derived) = (&with[0].measured, &with[1].measured);
    assert_eq!((tested.answer, derived.answer), (Holds, Holds));
    assert_eq!((derived.p, derived.p_adjusted), (None, None));
    assert_eq!(derived.why.as_deref(), Some("follows from c1"));
    assert_eq!(with[1].derived_from.as_deref(), Some("c1"));
    all.remove(1);
    assert_eq!(found(&all)[1].measured.p_adjusted, with[2].measured.p_adjusted, "it costs nothing");
    all[0] = all[0].replace("'higher'", "'equal'\nmargin = 20");
    all.push(claim(
        4,
        "equal",
        &format!("{sides}\nmargin = 20\nmeasure = 'wait.mean'\nderived_from = 'c1'"),
    ));
    assert_eq!(found(&all)[2].measured.answer, Holds);
    let none = claims(&study(&format!("{SIZES}{}", all.concat())), &[]);
    assert_eq!(none[2].measured.answer, NotTested);
    assert_eq!(none[2].measured.why.as_deref(), Some("follows from c1: a side has no figures"));
}

#[test]
fn derived_claims_follow_their_source_on_published_figures_too() {
    let of = "source = 'S'\nnot_here = 'this machine has no A'";
    let table = "published = { table = 'p', at = { system = 'A' } }";
    let sides = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }";
    let derived = format!("{sides}\n{of}\nmeasure = 'wait.mean'\nderived_from = 'c1'\n{table}");
    let of_published = |table: &str| {
        let tested = claim(1, "lower", &format!("{sides}\n{of}\n{table}"));
        let study = study(&format!("{SIZES}{tested}{}", claim(2, "higher", &derived)));
        let found = claims(&study, &measured(&study, some));
        let answer = |at: usize| found[at].published.clone().map(|of| (of.answer, of.why));
        (answer(0), answer(1).unwrap())
    };
    let (tested, derived) = of_published(table);
    let (answer, why) = tested.unwrap();
    assert_eq!((answer, why), (Holds, None));
    assert_eq!(derived, (Holds, Some("follows from c1".to_owned())));
    let (tested, (answer, why)) = of_published("");
    assert_eq!((tested, answer), (None, NotTested));
    assert_eq!(why.as_deref(), Some("follows from c1, which no published table has figures about"));
}

#[test]
fn a_claim_whose_precondition_did_not_occur_is_not_tested() {
    let sides = "a = { size = 1 }\nb = { size = 2 }\nmeasure = 'sent'";
    let with = |bounds: &str, of: &str| {
        let more = format!(
            "{sides}\nprecondition = {{ text = 'some time out.', measure = '{of}', a = {{ size = 1 }}, {bounds} }}"
        );
        let study =
            study(&format!("{SIZES}{}{}", claim(1, "lower", &more), claim(2, "lower", sides)));
        let mut found = claims(&study, &counted(&study, |at| if size(at) == 1.0 { 6 } else { 10 }));
        assert_eq!(found[1].precondition, None);
        let other = found.swap_remove(1).measured;
        let of = found.swap_remove(0);
        (of.measured, of.precondition.unwrap(), other)
    };
    // 24 of the 60 exchanges of size 1 end with a timeout, and none of size 2.
    for (bounds, occurs) in [
        ("at_least = 24", true),
        ("at_least = 25", false),
        ("at_most = 24", true),
        ("at_most = 23", false),
        ("at_least = 1, at_most = 30", true),
    ] {
        let (found, precondition, other) = with(bounds, "TIMEOUT");
        assert_eq!(precondition.value, Some(24.0), "{bounds}");
        assert_eq!(found.answer == NotTested, !occurs, "{bounds}: {found:?}");
        assert_eq!(found.p.is_some(), occurs && other.p.is_some(), "{bounds}");
        if !occurs {
            let why = Some("precondition did not occur: some time out (24)");
            assert_eq!(found.why.as_deref(), why);
        }
    }
    let (found, precondition, _) = with("at_least = 1", "retransmitted");
    assert_eq!((found.answer, precondition.value), (NotTested, None));
    assert_eq!(found.why.as_deref(), Some("precondition was not measured: some time out"));
}

#[test]
fn an_undecided_claim_says_how_many_more_repetitions_would_decide_it() {
    let sides = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }";
    let study = study(&format!("{SIZES}{}", claim(1, "higher", sides)));
    let spread = |at: f64| {
        move |family: Family, _: &[At], repetition: u32| {
            let of_ipv6 = at * (1.0 + 0.1 * (f64::from(repetition % 3) - 1.0));
            Some(1e6 * if family == Family::Ipv6 { of_ipv6 } else { 1.0 })
        }
    };
    let found = &claims(&study, &measured(&study, spread(1.2)))[0].measured;
    assert_eq!(found.answer, Undecided, "{found:?}");
    assert!(matches!(found.more_blocks, Some(1..=6)), "{found:?}");
    let why = found.why.as_deref().unwrap_or_default();
    assert!(why.contains(" more would decide it)"), "{why}");
}

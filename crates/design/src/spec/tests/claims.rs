//! Claims that are refused, and what they follow from.

use super::{good, read, with};

/// A claim of this kind about the delays of two sizes.
fn claim(id: &str, kind: &str, more: &str) -> String {
    let measure = if more.starts_with("measure =") { "" } else { "measure = 'wait.mean'\n" };
    let sides = match kind {
        "higher" | "lower" | "equal" => "a = { size = 1 }\nb = { size = 2 }\n",
        "highest" | "lowest" => "a = {}\nover = 'size'\nat = 1\n",
        _ => "a = {}\nover = 'size'\n",
    };
    format!("[[claims]]\nid = '{id}'\ntext = 'T'\nkind = '{kind}'\n{measure}{sides}{more}\n")
}

const HEAD: &str = "[factors]\nsize = [1, 2, 3]\n";

fn refused(claims: &str, part: &str) {
    let wrongs = read(&with(&format!("{HEAD}{claims}")), false).expect_err(claims);
    assert_eq!(wrongs.len(), 1, "{claims}: {wrongs:?}");
    assert!(wrongs[0].to_string().contains(part), "{claims}: {}", wrongs[0]);
}

const DERIVED: &str = "measure = 'goodput'\nderived_from = 'c'";

#[test]
fn derives_a_claim_from_one_of_the_same_or_opposite_kind() {
    for (kind, of) in [
        ("lower", "higher"),
        ("higher", "lower"),
        ("highest", "lowest"),
        ("falls", "rises"),
        ("equal", "equal"),
        ("higher", "higher"),
        ("independent", "independent"),
    ] {
        // The claim that is tested may stand after it.
        let text = format!("{HEAD}{}{}", claim("d", kind, DERIVED), claim("c", of, ""));
        let study = good(&with(&text));
        let from = study.outputs.claims[0].derived_from.as_ref().unwrap();
        assert_eq!(from.id, "c", "{kind}");
    }
}

#[test]
fn rejects_an_invalid_precondition_in_one_line() {
    let with = |fields: &str| claim("c", "higher", &format!("precondition = {{ {fields} }}"));
    let of = "text = 'T', measure = 'failed', a = { size = 1 }";
    good(&super::with(&format!("{HEAD}{}", with(&format!("{of}, at_least = 1")))));
    good(&super::with(&format!("{HEAD}{}", with(&format!("{of}, at_most = 0")))));
    for (fields, part) in [
        (of.to_owned(), "give at_least, at_most, or both"),
        (format!("{of}, at_least = 2, at_most = 1"), "at_least must not be above at_most"),
        (format!("{of}, at_least = 'x'"), "a number"),
        (format!("{of}, at_least = 1, sum = 1"), "sum"),
        (of.replace("'T'", "'.'") + ", at_least = 1", "the text of a precondition is not empty"),
        (of.replace("size = 1", "size = 4") + ", at_least = 1", "'4' is not a level of size"),
        (of.replace("failed", "sunk") + ", at_least = 1", "sunk"),
        ("measure = 'failed', a = {}, at_least = 1".to_owned(), "text"),
    ] {
        refused(&with(&fields), part);
    }
    let derived =
        claim("d", "lower", &format!("{DERIVED}\nprecondition = {{ {of}, at_least = 1 }}"));
    refused(&(derived + &claim("c", "higher", "")), "the precondition belongs to 'c'");
}

#[test]
fn expands_a_pattern_to_its_levels_and_rejects_one_without_a_match() {
    let at = |a: &str| claim("c", "higher", "").replace("a = { size = 1 }", &format!("a = {a}"));
    let a_of =
        |a: &str| match good(&with(&format!("{NAMES}{}", at(a)))).outputs.claims[0].test.clone() {
            crate::spec::ClaimTest::Sides(of) => of.a,
            other => panic!("{other:?}"),
        };
    let of_system = |levels: &[&str]| {
        vec![(
            "system".to_owned(),
            levels.iter().map(|&level| level.to_owned()).collect::<Vec<_>>(),
        )]
    };
    assert_eq!(a_of("{ system = '*BSD' }"), of_system(&["NetBSD", "FreeBSD"]));
    assert_eq!(
        a_of("{ system = ['*bsd', 'NetBSD', 'l*'] }"),
        of_system(&["NetBSD", "FreeBSD", "Linux"])
    );
    let unknown = format!("{NAMES}{}", at("{ system = '*windows*' }"));
    let wrongs = read(&with(&unknown), false).unwrap_err();
    assert_eq!(wrongs.len(), 1, "{wrongs:?}");
    let said = "'*windows*' matches no level of system; levels: NetBSD, FreeBSD, Linux";
    assert!(wrongs[0].to_string().contains(said), "{}", wrongs[0]);
    // Imports may add such a level.
    good(&with(&format!("imports = 'system'\n{unknown}")));
}

const NAMES: &str = "[factors]\nsize = [1, 2, 3]\n\
    system = [{ name = 'NetBSD' }, { name = 'FreeBSD' }, { name = 'Linux' }]\n";

#[test]
fn rejects_an_invalid_derivation_of_a_claim_in_one_line() {
    let derived = |kind: &str, more: &str| claim("d", kind, &format!("{DERIVED}\n{more}"));
    let tested = claim("c", "higher", "");
    for (claims, part) in [
        (derived("lower", ""), "'c' is not a claim of this study"),
        (claim("c", "lower", DERIVED), "a claim can't follow from itself"),
        (
            format!("{}{}", derived("lower", ""), claim("c", "higher", "derived_from = 'e'"))
                + &claim("e", "lower", "measure = 'goodput'"),
            "'c' itself follows from 'e'",
        ),
        (
            derived("highest", "") + &tested,
            "of the kind highest can't follow from one of the kind higher",
        ),
        (derived("equal", "") + &tested, "of the kind equal can't follow"),
        (derived("lower", "margin = 7") + &tested, "other cells, levels or bounds"),
        (
            derived("lower", "where = { family = 'ipv6' }") + &tested,
            "other cells, levels or bounds",
        ),
        (claim("d", "lower", "derived_from = 'c'") + &tested, "'c' is about wait.mean too"),
    ] {
        refused(&claims, part);
    }
    let difference =
        "contrast = { factor = 'family', of = 'ipv6', over = 'ipv4' }\ndifference = true";
    refused(
        &(derived("lower", difference) + &claim("c", "higher", difference)),
        "other cells, levels or bounds",
    );
    let circle = claim("c", "higher", "derived_from = 'd'") + &derived("lower", "");
    let wrongs = read(&with(&format!("{HEAD}{circle}")), false).unwrap_err();
    assert_eq!(wrongs.len(), 2, "each names the other: {wrongs:?}");
}

use super::*;

fn count(shown: u32) -> TraitCount {
    TraitCount { shown, of: 4 }
}

/// A client that does what the paper has of Chromium.
fn as_chromium() -> ClientTraits {
    ClientTraits {
        asked: count(4),
        over_ipv6: count(4),
        aaaa_first: count(4),
        attempt_delays_ms: vec![300.4, 301.2, 300.1, 300.9],
        silent_delays_ms: vec![300.2, 300.4, 301.0, 300.6],
        stayed: count(0),
        waited_for_aaaa: count(4),
        resolution_delays_ms: Vec::new(),
        waited_for_a: count(4),
        ipv6_used: vec![1; 4],
        ipv4_used: vec![1; 4],
        interleaved: count(0),
    }
}

fn seen(client: &str, traits: ClientTraits) -> ClientInspection {
    let known = InspectedClient::named(client).unwrap();
    ClientInspection {
        client: client.into(),
        label: known.label.into(),
        version: "1".into(),
        command: vec![client.into()],
        published_as: known.published.map(str::to_owned),
        traits,
        cases: Vec::new(),
    }
}

fn answers(clients: &[ClientInspection]) -> impl Fn(&str) -> ClaimAnswer + use<> {
    let claims = inspection_claims(clients, &[]);
    move |id: &str| {
        let found: Vec<_> = claims.iter().filter(|claim| claim.id == id).collect();
        assert_eq!(found.len(), 1, "{id}");
        found[0].answer
    }
}

const OF_CHROMIUM: [&str; 7] = [
    "chromium-ipv6-preferred",
    "chromium-attempt-delay",
    "chromium-aaaa-first",
    "chromium-resolution-delay",
    "chromium-interleaves",
    "chromium-ipv6-used",
    "chromium-ipv4-used",
];

#[test]
fn a_client_that_does_what_is_published_has_all_claims_held() {
    let answer = answers(&[seen("chromium", as_chromium())]);
    for id in OF_CHROMIUM {
        assert_eq!(answer(id), ClaimAnswer::Holds, "{id}");
    }
    assert_eq!(answer("chromium-waits-for-a"), ClaimAnswer::Holds);
    assert_eq!(answer("only-safari-resolution-delay"), ClaimAnswer::Holds);
    assert_eq!(answer("only-safari-interleaves"), ClaimAnswer::Holds);
    assert_eq!(answer("only-safari-dynamic-delay"), ClaimAnswer::Holds);
    assert_eq!(answer("firefox-waits-for-a"), ClaimAnswer::NotTested);
    assert_eq!(answer("safari-resolution-delay"), ClaimAnswer::NotTested);
}

#[test]
fn a_client_that_does_the_contrary_has_none_held() {
    let contrary = ClientTraits {
        over_ipv6: count(0),
        aaaa_first: count(0),
        attempt_delays_ms: vec![250.4, 251.2, 250.1, 250.9],
        waited_for_aaaa: count(0),
        resolution_delays_ms: vec![50.1, 50.4, 50.2, 50.9],
        waited_for_a: count(0),
        ipv6_used: vec![4; 4],
        ipv4_used: vec![4; 4],
        interleaved: count(4),
        ..as_chromium()
    };
    let answer = answers(&[seen("chromium", contrary)]);
    for id in OF_CHROMIUM {
        assert_eq!(answer(id), ClaimAnswer::DoesNotHold, "{id}");
    }
    assert_eq!(answer("only-safari-dynamic-delay"), ClaimAnswer::DoesNotHold);
    assert_eq!(answer("chromium-waits-for-a"), ClaimAnswer::DoesNotHold);
    assert_eq!(answer("only-safari-resolution-delay"), ClaimAnswer::DoesNotHold);
    assert_eq!(answer("only-safari-interleaves"), ClaimAnswer::DoesNotHold);
}

#[test]
fn one_network_does_not_show_that_a_delay_depends_on_it() {
    let one = ClientTraits { silent_delays_ms: Vec::new(), ..as_chromium() };
    let answer = answers(&[seen("chromium", one)]);
    assert_eq!(answer("only-safari-dynamic-delay"), ClaimAnswer::NotTested);
}

#[test]
fn two_starts_decide_a_delay_and_no_count() {
    let few = |shown: u32| TraitCount { shown, of: 2 };
    let short = ClientTraits {
        asked: few(2),
        over_ipv6: few(2),
        aaaa_first: few(2),
        attempt_delays_ms: vec![300.4, 301.2],
        stayed: few(0),
        waited_for_aaaa: few(2),
        waited_for_a: few(2),
        ipv6_used: vec![1; 2],
        ipv4_used: vec![1; 2],
        interleaved: few(0),
        ..as_chromium()
    };
    let answer = answers(&[seen("chromium", short)]);
    for id in OF_CHROMIUM {
        let expected = match id {
            "chromium-attempt-delay" => ClaimAnswer::Holds,
            _ => ClaimAnswer::Undecided,
        };
        assert_eq!(answer(id), expected, "{id}");
    }
}

#[test]
fn a_client_that_never_falls_back_has_no_delay_and_wget_is_claimed_to_have_none() {
    let patient = ClientTraits { attempt_delays_ms: Vec::new(), stayed: count(4), ..as_chromium() };
    let all =
        [seen("chromium", patient.clone()), seen("wget", patient.clone()), seen("go", patient)];
    let answer = answers(&all);
    assert_eq!(answer("chromium-attempt-delay"), ClaimAnswer::DoesNotHold);
    assert_eq!(answer("wget-attempt-delay"), ClaimAnswer::Holds);
    assert_eq!(answer("go-stated-delay"), ClaimAnswer::DoesNotHold);
    let answer = answers(&[seen("wget", as_chromium())]);
    assert_eq!(answer("wget-attempt-delay"), ClaimAnswer::DoesNotHold);
}

#[test]
fn a_wait_that_is_the_clients_own_time_is_no_resolution_delay() {
    let hasty = ClientTraits {
        waited_for_aaaa: count(0),
        resolution_delays_ms: vec![0.4, 1.2, 0.3, 2.0],
        ..as_chromium()
    };
    let answer = answers(&[seen("chromium", hasty)]);
    assert_eq!(answer("chromium-resolution-delay"), ClaimAnswer::Holds);
}

#[test]
fn a_client_that_sends_no_request_is_not_tested() {
    let broken = ClientTraits { asked: count(0), ..ClientTraits::default() };
    let claims = inspection_claims(&[seen("curl", broken)], &[]);
    let of_curl: Vec<_> =
        claims.iter().filter(|claim| claim.client.as_deref() == Some("curl")).collect();
    assert_eq!(of_curl.len(), 7);
    assert!(of_curl.iter().all(|claim| claim.answer == ClaimAnswer::NotTested));
    assert!(of_curl[0].why.as_deref().unwrap().contains("no request"));
}

#[test]
fn a_client_that_is_left_out_is_not_tested_for_that_reason() {
    let left_out = LeftOutClient {
        client: "firefox".into(),
        label: "Firefox".into(),
        published_as: Some("Mozilla Firefox".into()),
        reason: "firefox-esr is not installed".into(),
    };
    let claims = inspection_claims(&[], &[left_out]);
    let found = claims.iter().find(|claim| claim.id == "mozilla-firefox-attempt-delay").unwrap();
    assert_eq!(found.answer, ClaimAnswer::NotTested);
    assert_eq!(found.why.as_deref(), Some("firefox-esr is not installed"));
}

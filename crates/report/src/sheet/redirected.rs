//! Sides of which every response is a redirect that was not followed.

use super::side::{Side, Sides};

/// Returns a sentence about the sides that answered every request with a redirect although none was
/// to be followed, or `None` if there is no such side. Their figures are those of the redirects, not
/// of the content that users get.
pub fn describe_redirected(sides: &Sides<'_>) -> Option<String> {
    let redirected: Vec<&Side<'_>> = sides.all.iter().filter(|side| is_redirected(side)).collect();
    let first = redirected.first()?;
    let names: Vec<&str> = redirected.iter().map(|side| side.name.as_str()).collect();
    let most = first.figures.status.iter().max_by_key(|(_, count)| **count);
    let status = most.map_or(String::new(), |(status, _)| format!(" ({status})"));
    Some(format!(
        "All responses over {} are redirects{status}, and no figure covers what they lead to. To follow \
         them, use `--location`.",
        names.join(" and ")
    ))
}

/// Redirects that `--location` does not follow have a warning, which says why.
fn is_redirected(side: &Side<'_>) -> bool {
    let requests = &side.figures.requests;
    let followed = requests.followed + requests.cut_chains > 0;
    let completed = requests.completed;
    let all = completed > 0 && requests.redirects == completed;
    all && !followed && side.figures.unfollowed.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_result::fixture;

    #[test]
    fn suggests_location_for_sides_that_return_only_redirects() {
        let mut run = fixture::run();
        assert_eq!(describe_redirected(&Sides::of_families(&run)), None);
        let figures = run.families.ipv4.as_mut().unwrap();
        figures.requests.redirects = figures.requests.completed;
        figures.status = [(301, figures.requests.completed)].into();
        let said = describe_redirected(&Sides::of_families(&run)).unwrap();
        assert!(said.starts_with("All responses over IPv4 are redirects (301)"), "{said}");
        assert!(said.contains("`--location`"), "{said}");
        run.families.ipv4.as_mut().unwrap().requests.followed = 1;
        assert_eq!(describe_redirected(&Sides::of_families(&run)), None);
    }
}

//! The colours and markers of the lines of a study's charts.

use sixmark_design::study_result::ChartLine as Line;
use sixmark_units::family::Family;

/// Returns the number of each line's colour and marker. If each family has at most one measured line,
/// these have the family's own, and so has a published line that is alone in its family; otherwise
/// lines are numbered one after the other. A published line has the number of the first measured line
/// that has all of its levels.
pub(super) fn sides_of_lines(lines: &[Line]) -> Vec<usize> {
    let is_alone = |line: &Line| {
        let is_other =
            |other: &&Line| (other.family, other.published) == (line.family, line.published);
        line.family.is_some() && lines.iter().filter(is_other).count() == 1
    };
    let own = lines.iter().filter(|line| !line.published).all(is_alone);
    let first = if own { Family::BOTH.len() } else { 0 };
    let mut seen: Vec<&Line> = Vec::new();
    let mut sides = Vec::new();
    for line in lines {
        if let Some(family) = line.family.filter(|_| own && is_alone(line)) {
            sides.push(usize::from(family == Family::Ipv4));
            continue;
        }
        let is_of = |other: &&Line| {
            if line.published {
                !other.published && line.at.iter().all(|at| other.at.contains(at))
            } else {
                other.family == line.family && other.at == line.at
            }
        };
        let found = seen.iter().position(is_of).filter(|_| !line.at.is_empty());
        sides.push(
            first
                + found.unwrap_or_else(|| {
                    seen.push(line);
                    seen.len() - 1
                }),
        );
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_design::study_result::At;

    fn line(levels: &[(&str, &str)], published: bool) -> Line {
        let at = |(factor, level): &(&str, &str)| At {
            factor: (*factor).to_owned(),
            level: (*level).to_owned(),
        };
        let at: Vec<At> = levels.iter().map(at).collect();
        let family = |of: &At| match of.level.as_str() {
            "ipv6" => Some(Family::Ipv6),
            "ipv4" => Some(Family::Ipv4),
            _ => None,
        };
        let family = at.iter().find_map(family);
        let (label, points, missing) = (String::new(), Vec::new(), Vec::new());
        Line { label, family, at, published, points, missing }
    }

    #[test]
    fn styles_a_published_line_like_the_first_measured_line_it_matches() {
        let [v6, v4] = ["ipv6", "ipv4"].map(|level| ("family", level));
        let [one, other] = ["sixmark", "firefox"].map(|level| ("client", level));
        let lines = [
            line(&[one, v6], false),
            line(&[one, v4], false),
            line(&[other, v6], false),
            line(&[other, v4], false),
            line(&[v6], true),
            line(&[v4], true),
            line(&[("system", "NetBSD"), v4], true),
        ];
        assert_eq!(sides_of_lines(&lines), [0, 1, 2, 3, 0, 1, 4]);
        assert_eq!(sides_of_lines(&[line(&[v4], false), line(&[v4], true)]), [1, 1]);
        let systems = ["NetBSD", "SuSE"].map(|system| line(&[("system", system), v4], true));
        let [netbsd, suse] = systems;
        assert_eq!(sides_of_lines(&[line(&[v4], false), netbsd, suse]), [1, 2, 3]);
    }
}

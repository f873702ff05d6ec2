//! Charts with too many lines for one, which are several beside one another.

use sixmark_design::levels::LevelLabels;
use sixmark_design::spec::FAMILY;
use sixmark_design::study_result::{At, Chart as Figure, ChartLine as Line};

/// The number of lines above which a chart is divided: as many as there are colours.
const MOST_LINES: usize = 8;

/// Returns the chart or, if it has too many lines, a chart for each level of the first factor that
/// distinguishes measured lines, other than the family; those that still have too many are divided by
/// the family too. Published lines that do not have the factor are in each.
pub(super) fn facets(of: &Figure, labels: &LevelLabels) -> Vec<Figure> {
    let parts = match dividing_factor(of) {
        Some(factor) => divided(of, &factor, (": ", labels)),
        None => vec![of.clone()],
    };
    let comma = if parts.len() > 1 { ", " } else { ": " };
    parts.iter().flat_map(|part| divided(part, FAMILY, (comma, labels))).collect()
}

/// Returns a chart for each level of a factor, unless the chart has few lines or only one level. The
/// level stands after `comma` in the title.
fn divided(of: &Figure, factor: &str, (comma, labels): (&str, &LevelLabels)) -> Vec<Figure> {
    let levels = levels(of, factor);
    if of.series.len() <= MOST_LINES || levels.len() < 2 {
        return vec![of.clone()];
    }
    let one = |level: &At| {
        let has = |line: &&Line| match line.at.iter().find(|at| at.factor == factor) {
            Some(at) => at == level,
            None => line.published,
        };
        let title = format!("{}{comma}{}", of.title, labels.level(level));
        let series = of.series.iter().filter(has).cloned().collect();
        relabelled(Figure { title, series, ..of.clone() }, labels)
    };
    levels.iter().map(one).collect()
}

/// Returns the first factor besides the family of which measured lines have several levels.
fn dividing_factor(of: &Figure) -> Option<String> {
    let mut factors = measured(of).flat_map(|line| &line.at).map(|at| at.factor.as_str());
    let divides = |name: &&str| *name != FAMILY && levels(of, name).len() > 1;
    factors.find(divides).map(str::to_owned)
}

fn measured(of: &Figure) -> impl Iterator<Item = &Line> {
    of.series.iter().filter(|line| !line.published)
}

/// Returns the levels of a factor that measured lines have, each once.
fn levels(of: &Figure, factor: &str) -> Vec<At> {
    let mut found: Vec<At> = Vec::new();
    for at in measured(of).flat_map(|line| &line.at).filter(|at| at.factor == factor) {
        if !found.contains(at) {
            found.push(at.clone());
        }
    }
    found
}

/// Returns the chart with measured lines that are named after the levels in which they differ, or
/// after their families.
fn relabelled(of: Figure, labels: &LevelLabels) -> Figure {
    let label = |line: &Line| {
        let varied = line.at.iter().filter(|at| levels(&of, &at.factor).len() > 1);
        let varied: Vec<At> = varied.cloned().collect();
        let family = line.at.iter().find(|at| at.factor == FAMILY);
        match (varied.as_slice(), family) {
            _ if line.published => line.label.clone(),
            ([], Some(family)) => labels.level(family),
            ([], None) => line.label.clone(),
            (varied, _) => labels.levels(varied),
        }
    };
    let series = of.series.iter().map(|line| Line { label: label(line), ..line.clone() });
    let series = series.collect();
    Figure { series, ..of }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_design::study_result::Axis;

    fn line(label: &str, levels: &[(&str, &str)], published: bool) -> Line {
        let at = |(factor, level): &(&str, &str)| At {
            factor: (*factor).to_owned(),
            level: (*level).to_owned(),
        };
        let (label, at) = (label.to_owned(), levels.iter().map(at).collect());
        Line { label, family: None, at, published, points: Vec::new(), missing: Vec::new() }
    }

    #[test]
    fn splits_a_chart_with_many_lines_by_level() {
        let axis = |label: &str| Axis { label: label.into(), ..Axis::default() };
        let mut series = vec![line("published: IPv6", &[("family", "ipv6")], true)];
        for (server, client) in [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] {
            for family in ["ipv6", "ipv4"] {
                let at = [("server", server), ("client", client), ("family", family)];
                series.push(line(&format!("{server}, {client}, {family}"), &at, false));
            }
        }
        let (name, title) = ("f".to_owned(), "F".to_owned());
        let figure = Figure { name, title, x: axis("x"), y: axis("y"), statistic: None, series };
        let parts = facets(&figure, &LevelLabels::default());
        let titles: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(titles, ["F: a", "F: b"]);
        let lines: Vec<&str> = parts[1].series.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(lines, ["published: IPv6", "x, IPv6", "x, IPv4", "y, IPv6", "y, IPv4"]);
        let all = |more: &[&str]| -> Vec<Line> {
            let published = |system: &&str| line(system, &[("system", system)], true);
            figure.series.iter().cloned().chain(more.iter().map(published)).collect()
        };
        let systems = Figure { series: all(&["P", "Q", "R", "S"]), ..figure.clone() };
        let parts = facets(&systems, &LevelLabels::default());
        let titles: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(titles, ["F: a, IPv6", "F: a, IPv4", "F: b, IPv6", "F: b, IPv4"]);
        let lines: Vec<&str> = parts[1].series.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(lines, ["x", "y", "P", "Q", "R", "S"]);
        let few = Figure { series: figure.series[..8].to_vec(), ..figure };
        assert_eq!(facets(&few, &LevelLabels::default()), [few]);
    }
}

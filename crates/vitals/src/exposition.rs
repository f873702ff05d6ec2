//! Parses Prometheus's text format (0.0.4), as served by other programs at `/metrics`.

use super::series::Point;

/// One metric of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct ExposedMetric<'a> {
    /// The name of the metric.
    pub name: &'a str,
    /// The labels and their values, in the order of the page.
    pub labels: Vec<(&'a str, &'a str)>,
    /// The value of the metric.
    pub value: f64,
}

impl ExposedMetric<'_> {
    /// Returns the value of a label, or `None` if the metric does not have it.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
    }
}

/// Returns all metrics of a page. Comments and lines that are not metrics are skipped. Escape
/// sequences in label values are not decoded.
pub fn parse_exposition(text: &str) -> impl Iterator<Item = ExposedMetric<'_>> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(metric)
}

fn metric(line: &str) -> Option<ExposedMetric<'_>> {
    let end = line.find(['{', ' ', '\t'])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (Vec::new(), rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    (!name.is_empty()).then_some(ExposedMetric { name, labels, value })
}

/// Parses labels up to the closing brace. Returns them and the text after the brace.
fn labels(mut rest: &str) -> Option<(Vec<(&str, &str)>, &str)> {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((found, rest));
        }
        let (name, after) = rest.split_once("=\"")?;
        let mut escaped = false;
        let end = after.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        found.push((name.trim(), after.get(..end)?));
        rest = after.get(end + 1..)?;
    }
}

/// The program that serves a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exporter {
    /// `sixmark vitals --prometheus`.
    Sixmark,
    /// Prometheus's node_exporter.
    Node,
}

/// Returns the processor time in a page and the program that serves the page, or `None` if the page
/// has no processor time.
pub fn processor_time(text: &str, at_us: u64) -> Option<(Exporter, Point)> {
    let mut sums = [CpuSums::default(), CpuSums::default()];
    let mut processes: Option<f64> = None;
    for metric in parse_exposition(text) {
        match metric.name {
            "sixmark_vitals_cpu_seconds_total" => sums[0].add(&metric),
            "node_cpu_seconds_total" => sums[1].add(&metric),
            "sixmark_vitals_group_user_seconds_total"
            | "sixmark_vitals_group_system_seconds_total" => {
                *processes.get_or_insert(0.0) += metric.value * 1e6;
            }
            _ => {}
        }
    }
    let found = [Exporter::Sixmark, Exporter::Node].into_iter().zip(sums);
    let (who, CpuSums { busy, all }) = found.into_iter().find(|(_, sums)| sums.all > 0.0)?;
    let point = Point { at_us, host_us: busy * 1e6, all_us: all * 1e6, processes_us: processes };
    Some((who, point))
}

/// Sums of processor time, seconds.
#[derive(Clone, Copy, Debug, Default)]
struct CpuSums {
    busy: f64,
    all: f64,
}

impl CpuSums {
    fn add(&mut self, metric: &ExposedMetric<'_>) {
        self.all += metric.value;
        if !matches!(metric.label("mode"), Some("idle" | "iowait" | "steal") | None) {
            self.busy += metric.value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: &str = "# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.\n\
        # TYPE node_cpu_seconds_total counter\n\
        node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 362812.74\n\
        node_cpu_seconds_total{cpu=\"0\",mode=\"iowait\"} 4.5\n\
        node_cpu_seconds_total{cpu=\"0\",mode=\"softirq\"} 10\n\
        node_cpu_seconds_total{cpu=\"0\",mode=\"steal\"} 1e+01\n\
        node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 1.5e+02\n\
        node_cpu_guest_seconds_total{cpu=\"0\",mode=\"user\"} 7\n\
        node_boot_time_seconds 1.7e+09 1395066363000\n";

    #[test]
    fn parses_lines_with_escaped_labels_and_skips_invalid_ones() {
        let text = "a{b=\"x}\\\"y\",c=\"\"} 1.5 99\nplain 2\nbad{b=\"\nodd\n# c 1\nn NaN\n";
        let found: Vec<_> = parse_exposition(text).collect();
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].label("b"), Some("x}\\\"y"));
        assert_eq!((found[0].label("c"), found[0].value), (Some(""), 1.5));
        assert_eq!((found[1].name, found[1].value), ("plain", 2.0));
    }

    #[test]
    fn processor_time_of_a_node_exporter_is_found() {
        let (who, point) = processor_time(NODE, 5).unwrap();
        assert_eq!((who, point.at_us, point.processes_us), (Exporter::Node, 5, None));
        assert!((point.host_us - 160e6).abs() < 1.0);
        assert!((point.all_us - 362_987.24e6).abs() < 10.0);
        assert_eq!(processor_time("up 1\n", 0), None);
    }
}

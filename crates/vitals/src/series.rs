//! A series of readings of processor time, from which the time used in any period can be computed.

use super::sample::VitalsSample;

/// The processor time used up to one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The moment by the wall clock: microseconds since 1970 in UTC.
    pub at_us: u64,
    /// Busy time of all processors, microseconds since some starting point.
    pub host_us: f64,
    /// Time of all processors, idle time included, microseconds since the same starting point.
    pub all_us: f64,
    /// Processor time of the selected processes, microseconds; `None` if none are selected.
    pub processes_us: Option<f64>,
}

/// The processor time used in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// How much of the period the points cover, microseconds.
    pub covered_us: f64,
    /// Busy time of all processors, microseconds.
    pub host_us: f64,
    /// Time of all processors, idle time included, microseconds.
    pub all_us: f64,
    /// Processor time of the selected processes, microseconds; `None` if it is not known.
    pub processes_us: Option<f64>,
}

/// Points in the order of their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSeries {
    points: Vec<Point>,
}

/// The number of points from which on every other point is discarded. At ten points a second it is
/// reached after more than an hour.
const MOST: usize = 40_000;

impl Point {
    /// Returns the point of a sample. Its selected processes are those of all groups together.
    pub fn of(sample: &VitalsSample) -> Point {
        let groups = sample.groups.iter().map(|group| group.cpu_us() as f64);
        Point {
            at_us: sample.at_us,
            host_us: sample.host.cpu.busy_us() as f64,
            all_us: sample.host.cpu.all_us() as f64,
            processes_us: (!sample.groups.is_empty()).then(|| groups.sum()),
        }
    }
}

impl PointSeries {
    /// Appends a point. A point that is not later than the last one is discarded; this happens if
    /// the clock is set back.
    pub fn push(&mut self, point: Point) {
        if self.points.last().is_some_and(|last| last.at_us >= point.at_us) {
            return;
        }
        if self.points.len() >= MOST {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
        self.points.push(point);
    }

    /// Returns the times of the first and the last point, or `None` if there are no points.
    pub fn span_us(&self) -> Option<(u64, u64)> {
        Some((self.points.first()?.at_us, self.points.last()?.at_us))
    }

    /// Returns the processor time used between two moments, as far as the points cover them, or
    /// `None` if they cover no part. Between two points, the time is interpolated linearly.
    pub fn between(&self, from_us: u64, to_us: u64) -> Option<Used> {
        let (first, last) = self.span_us()?;
        let (from, to) = (from_us.max(first), to_us.min(last));
        if from >= to {
            return None;
        }
        let (begin, end) = (self.at(from)?, self.at(to)?);
        let processes = begin.processes_us.zip(end.processes_us);
        Some(Used {
            covered_us: (to - from) as f64,
            // After a reset of a counter the difference may be negative.
            host_us: (end.host_us - begin.host_us).max(0.0),
            all_us: (end.all_us - begin.all_us).max(0.0),
            processes_us: processes.map(|(begin, end)| (end - begin).max(0.0)),
        })
    }

    fn at(&self, at_us: u64) -> Option<Point> {
        let after = self.points.partition_point(|point| point.at_us < at_us);
        let next = self.points.get(after)?;
        if next.at_us == at_us || after == 0 {
            return Some(*next);
        }
        let before = self.points.get(after - 1)?;
        let part = (at_us - before.at_us) as f64 / (next.at_us - before.at_us) as f64;
        let mix = |from: f64, to: f64| from + (to - from) * part;
        Some(Point {
            at_us,
            host_us: mix(before.host_us, next.host_us),
            all_us: mix(before.all_us, next.all_us),
            processes_us: before.processes_us.zip(next.processes_us).map(|(a, b)| mix(a, b)),
        })
    }
}

impl FromIterator<Point> for PointSeries {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> PointSeries {
        let mut series = PointSeries::default();
        points.into_iter().for_each(|point| series.push(point));
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at_us: u64, host_us: f64) -> Point {
        Point { at_us, host_us, all_us: 2.0 * at_us as f64, processes_us: Some(host_us / 2.0) }
    }

    #[test]
    fn interpolates_linearly_between_points() {
        let series: PointSeries =
            [point(100, 0.0), point(200, 50.0), point(400, 60.0)].into_iter().collect();
        let used = series.between(150, 300).unwrap();
        assert_eq!((used.covered_us, used.host_us, used.all_us), (150.0, 30.0, 300.0));
        assert_eq!(used.processes_us, Some(15.0));
    }

    #[test]
    fn does_not_cover_time_outside_the_points() {
        let series: PointSeries = [point(100, 0.0), point(200, 50.0)].into_iter().collect();
        assert_eq!(series.between(0, 150).unwrap().covered_us, 50.0);
        assert_eq!(series.between(200, 300), None);
        assert_eq!(series.between(0, 100), None);
        assert_eq!(PointSeries::default().between(0, 9), None);
    }

    #[test]
    fn ignores_backward_clock_steps_and_bounds_long_series() {
        let mut series: PointSeries =
            [point(100, 0.0), point(50, 10.0), point(200, 5.0)].into_iter().collect();
        assert_eq!(series.points.len(), 2);
        (0..2 * MOST as u64).for_each(|at| series.push(point(300 + at, at as f64)));
        assert!(series.points.len() <= MOST + 1);
        assert_eq!(series.span_us(), Some((100, 300 + 2 * MOST as u64 - 1)));
    }
}

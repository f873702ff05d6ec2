//! The figures of a side that agree with its comparison.

use super::{Compared, Comparison, EffectMethod};
use crate::comparison_result::{ComparedSide, SideName};
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::timed_phase::TimePoint;

/// Returns true if a metric has one figure for each block, so that its sides are those of a typical
/// pair.
fn is_of_pairs(of: &&Compared) -> bool {
    matches!(of.method, EffectMethod::Blocks | EffectMethod::Anytime)
}

impl ComparedSide {
    /// Replaces the figures that are compared block by block (medians and rates) by those of the
    /// comparison, so that all views of a result agree. The replaced figures, over all blocks
    /// together, weight each block by its exchanges.
    #[must_use]
    pub fn with_compared_figures(
        mut self,
        comparison: &Comparison,
        side: SideName,
    ) -> ComparedSide {
        for of in comparison.metrics.iter().filter(is_of_pairs) {
            let value = if side == SideName::A { of.a } else { of.b };
            value.into_iter().for_each(|value| self.set_figure(of.metric, value));
        }
        self
    }

    fn set_figure(&mut self, metric: Metric, value: f64) {
        match metric {
            Metric::Time(phase, point) => {
                let Some(durations) = phase.durations_mut(&mut self.figures) else { return };
                match point {
                    TimePoint::P50 => durations.p50 = Some(value),
                    TimePoint::P90 => durations.p90 = Some(value),
                    TimePoint::P99 => durations.p99 = Some(value),
                    TimePoint::P999 => durations.p999 = Some(value),
                    _ => {}
                }
            }
            Metric::Quantity(Quantity::RequestsPerS) => self.figures.requests_per_s = value,
            Metric::Quantity(Quantity::Goodput) => self.figures.goodput_bytes_per_s = value,
            Metric::Quantity(Quantity::CpuPerRequest) => {
                let server = self.cpu.server.as_mut();
                server.into_iter().for_each(|cost| cost.us_per_request = value);
            }
            _ => {}
        }
    }
}

//! The figures of a side that agree with its comparison.

use super::{Comparison, EffectMethod};
use crate::comparison_result::{ComparedSide, SideName};
use sixmark_record::metric::{Metric, Quantity};
use sixmark_record::timed_phase::TimePoint;

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
        for of in comparison.metrics.iter().filter(|of| of.method == EffectMethod::Blocks) {
            let value = if side == SideName::A { of.a } else { of.b };
            value.into_iter().for_each(|value| self.set_figure(of.metric, value));
        }
        self
    }

    fn set_figure(&mut self, metric: Metric, value: f64) {
        match metric {
            Metric::Time(phase, TimePoint::P50) => {
                let durations = phase.durations_mut(&mut self.figures);
                durations.into_iter().for_each(|durations| durations.p50 = Some(value));
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

//! Reading the histograms of documents.

use hdrhistogram::Histogram;

use crate::hdr;
use crate::timing::Summary;

const NS_PER_US: f64 = 1e3;

/// The distribution of durations, in microseconds.
#[derive(Clone, Debug)]
pub struct Distribution {
    histogram: Histogram<u64>,
    /// The exact minimum. The histogram has only three digits of it, and of the maximum.
    min_us: f64,
    max_us: f64,
}

impl Distribution {
    /// Reads a summary's histogram. Returns `None` if nothing was counted.
    ///
    /// # Errors
    /// A short message: `hdr` does not have the format that sixmark writes.
    pub fn of(summary: &Summary) -> Result<Option<Distribution>, String> {
        let (Some(min_us), Some(max_us)) = (summary.min, summary.max) else { return Ok(None) };
        let histogram = hdr::decode(&summary.hdr)?;
        if histogram.is_empty() || min_us > max_us {
            return Err("a histogram and its figures contradict each other".into());
        }
        Ok(Some(Distribution { histogram, min_us, max_us }))
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the shortest duration, exact.
    pub fn min_us(&self) -> f64 {
        self.min_us
    }

    /// Returns the longest duration, exact.
    pub fn max_us(&self) -> f64 {
        self.max_us
    }

    /// Returns the duration that a share `q` (0 to 1) of all durations does not exceed, as in a
    /// summary.
    pub fn quantile_us(&self, q: f64) -> f64 {
        match q {
            q if q <= 0.0 => self.min_us,
            q if q >= 1.0 => self.max_us,
            q => {
                let us = self.histogram.value_at_quantile(q) as f64 / NS_PER_US;
                us.clamp(self.min_us, self.max_us)
            }
        }
    }

    /// Returns the share (0 to 1) of durations that are at most `us`.
    pub fn share_within(&self, us: f64) -> f64 {
        match us {
            us if us < self.min_us => 0.0,
            us if us >= self.max_us => 1.0,
            us => self.histogram.quantile_below((us * NS_PER_US) as u64),
        }
    }

    /// Adds the durations of `other`.
    pub fn add(&mut self, other: &Distribution) {
        // This fails only if the histogram cannot grow to the other's largest value, which it can.
        if self.histogram.add(&other.histogram).is_ok() {
            self.min_us = self.min_us.min(other.min_us);
            self.max_us = self.max_us.max(other.max_us);
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;
    use crate::hdr::HEAD;
    use crate::timing::Timing;

    fn summary(values: impl IntoIterator<Item = u64>) -> Summary {
        let mut timing = Timing::default();
        values.into_iter().for_each(|value| timing.record(value));
        timing.summary()
    }

    #[test]
    fn a_summary_agrees_with_its_histogram() {
        let summary = summary((1..=10_000).map(|v| v * 1_000));
        let read = Distribution::of(&summary).unwrap().unwrap();
        assert_eq!(read.count(), 10_000);
        let figures = [0.0, 0.5, 0.9, 0.99, 0.999, 1.0].map(|q| Some(read.quantile_us(q)));
        let s = &summary;
        assert_eq!(figures, [s.min, s.p50, s.p90, s.p99, s.p999, s.max]);
        assert!((read.share_within(2_500.0) - 0.25).abs() < 1e-3);
        assert_eq!([0.5, 1e9].map(|us| read.share_within(us)), [0.0, 1.0]);
    }

    #[test]
    fn adds_two_distributions() {
        let read = |values| Distribution::of(&summary(values)).unwrap().unwrap();
        let mut sum = read(1_000..1_100);
        sum.add(&read(900_000_000..900_000_100));
        assert_eq!((sum.count(), sum.min_us(), sum.max_us()), (200, 1.0, 900_000.099));
        assert!(sum.quantile_us(0.75) > 800_000.0);
    }

    #[test]
    fn an_empty_summary_has_no_distribution() {
        assert!(Distribution::of(&Timing::default().summary()).unwrap().is_none());
    }

    #[test]
    fn rejects_invalid_histograms() {
        let good = summary([5, 6]);
        let huge = {
            let mut plain = vec![0; HEAD];
            plain[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
            let mut zip = flate2::write::ZlibEncoder::new(vec![0; 8], flate2::Compression::fast());
            std::io::Write::write_all(&mut zip, &plain).unwrap();
            STANDARD.encode(zip.finish().unwrap())
        };
        for hdr in ["", "AAAA", "not base64", &good.hdr[..20], &huge] {
            let said = Distribution::of(&Summary { hdr: hdr.into(), ..good.clone() }).unwrap_err();
            assert!(said.starts_with("a histogram can’t be read"), "{hdr}: {said}");
        }
        let empty = Timing::default().summary().hdr;
        assert!(Distribution::of(&Summary { hdr: empty, ..good }).is_err());
    }
}

//! The inverse of a rate's integral over time: when have a given number of exchanges arrived?

use std::time::Duration;

use super::{OpenLoop, RateStage, RequestRate};

/// The integral of a rate over time, prepared for inversion. Times are in nanoseconds from the
/// start of the load.
#[derive(Clone, Debug)]
pub struct Curve(Vec<CurvePiece>);

/// One stage.
#[derive(Clone, Copy, Debug)]
struct CurvePiece {
    begins_ns: u64,
    /// The duration in seconds; infinite if the stage has no end.
    lasts_s: f64,
    /// Exchanges per second at the beginning and at the end.
    from: f64,
    to: f64,
    /// The number of exchanges that arrive before the stage, and in it.
    before: f64,
    arrives: f64,
}

impl Curve {
    /// Creates the curve of `open`, preceded by its first rate for the duration `warmup`.
    pub fn new(open: &OpenLoop, warmup: Duration) -> Curve {
        let before = RateStage::level(open.first_rate(), warmup);
        let before = (!warmup.is_zero()).then_some(&before);
        let mut curve = Curve(Vec::new());
        let mut begins = Duration::ZERO;
        for stage in before.into_iter().chain(&open.stages) {
            curve.push(stage, begins);
            begins = begins.saturating_add(stage.duration.unwrap_or(Duration::MAX));
        }
        curve
    }

    fn push(&mut self, stage: &RateStage, begins: Duration) {
        let lasts_s = stage.duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
        let [from, to] = [stage.from, stage.to].map(RequestRate::per_s);
        let before = self.0.last().map_or(0.0, |piece| piece.before + piece.arrives);
        let arrives = (from + to) / 2.0 * lasts_s;
        let begins_ns = begins.as_nanos().try_into().unwrap_or(u64::MAX);
        self.0.push(CurvePiece { begins_ns, lasts_s, from, to, before, arrives });
    }

    /// Returns when `amount` exchanges have arrived, or `None` if that many never do. The search
    /// starts at piece number `at`, which is advanced: amounts must not decrease from call to call.
    pub fn time_of(&self, amount: f64, at: &mut usize) -> Option<u64> {
        while let Some(piece) = self.0.get(*at) {
            if amount < piece.before + piece.arrives {
                let offset_ns = piece.offset_s((amount - piece.before).max(0.0)) * 1e9;
                return Some(piece.begins_ns.saturating_add(offset_ns.round() as u64));
            }
            *at += 1;
        }
        None
    }
}

impl CurvePiece {
    /// Returns the seconds from the beginning of the stage until `amount` has arrived, which is
    /// less than `arrives`: the root of `from t + (to - from) t^2 / (2 lasts) = amount`, in a form
    /// without cancellation.
    fn offset_s(&self, amount: f64) -> f64 {
        let slope = (self.to - self.from) / self.lasts_s;
        match () {
            () if self.from == self.to => amount / self.from,
            () if self.to > self.from => root(self.from, slope, amount),
            // Backwards in time, a decreasing rate is an increasing one.
            () => self.lasts_s - root(self.to, -slope, self.arrives - amount),
        }
    }
}

/// Returns the `t` for which `rate t + slope t^2 / 2 = amount`. `slope` is above 0, and the others
/// are 0 or above.
fn root(rate: f64, slope: f64, amount: f64) -> f64 {
    if amount == 0.0 {
        return 0.0;
    }
    2.0 * amount / (rate + (rate * rate + 2.0 * slope * amount).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn ramp(from: f64, to: f64, seconds: u64) -> RateStage {
        let [from, to] = [from, to].map(|rate| RequestRate::new(rate).unwrap());
        RateStage { from, to, duration: Some(Duration::from_secs(seconds)) }
    }

    fn curve(stages: &[RateStage]) -> Curve {
        Curve::new(&OpenLoop::new(stages.to_vec()).unwrap(), Duration::ZERO)
    }

    fn time(curve: &Curve, amount: f64) -> Option<u64> {
        curve.time_of(amount, &mut 0)
    }

    #[test]
    fn ramp_times_invert_the_integral_of_the_rate() {
        for (from, to, seconds) in [
            (0.0, 100.0, 10),
            (100.0, 0.0, 10),
            (10.0, 1e7, 100),
            (1e7, 0.001, 3_600),
            (1.0, 2.0, 1),
        ] {
            let curve = curve(&[ramp(from, to, seconds)]);
            let (length, total) = (seconds as f64, (from + to) / 2.0 * seconds as f64);
            for part in 0..1_000 {
                let amount = total * f64::from(part) / 1_000.0;
                let t = time(&curve, amount).unwrap() as f64 / 1e9;
                let back = from * t + (to - from) * t * t / (2.0 * length);
                // What arrives in a nanosecond at the highest rate, and the rounding error of the
                // total (53 bits).
                let error = from.max(to) * 1e-9 + total * 1e-15;
                assert!((back - amount).abs() <= error, "{from}:{to} {amount} {back}");
            }
            assert_eq!(time(&curve, total), None);
        }
    }

    #[test]
    fn computes_arrival_times_of_ramps_up_and_down() {
        let up = curve(&[ramp(0.0, 100.0, 10)]);
        assert_eq!(time(&up, 0.0), Some(0));
        assert_eq!(time(&up, 125.0), Some(5 * SECOND));
        let down = curve(&[ramp(100.0, 0.0, 10)]);
        assert_eq!(time(&down, 375.0), Some(5 * SECOND));
        // The last arrival of a ramp down to 0: sqrt(2 * 1 * 10 / 100) s before its end.
        assert_eq!(time(&down, 499.0), Some(10 * SECOND - 447_213_595));
    }

    #[test]
    fn schedules_consecutive_steps_and_nothing_in_a_pause() {
        let steps = curve(&[ramp(2.0, 2.0, 2), ramp(0.0, 0.0, 3), ramp(1.0, 1.0, 2)]);
        let times: Vec<_> = (0..7).map(|k| time(&steps, f64::from(k))).collect();
        let halves = [0, 1, 2, 3, 10, 12].map(|halves| Some(halves * SECOND / 2));
        assert_eq!((&times[..6], times[6]), (&halves[..], None));
    }

    #[test]
    fn a_warm_up_keeps_up_the_first_rate() {
        let open = OpenLoop::new(vec![ramp(10.0, 20.0, 10)]).unwrap();
        let curve = Curve::new(&open, Duration::from_secs(3));
        assert_eq!(time(&curve, 29.0), Some(29 * SECOND / 10));
        assert_eq!(time(&curve, 30.0), Some(3 * SECOND));
        assert_eq!(time(&curve, 180.0), None);
    }
}

//! The dimensions of figures, and the values of units.

use Dimension::{Bare, Bytes, BytesPerS, Count, Number, Rate, Share, Time};

/// The dimension of a value. Values are in seconds, bytes, and units derived from these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Seconds.
    Time,
    /// A number per second.
    Rate,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerS,
    /// A share of a whole, 0 to 1, shown in percent.
    Share,
    /// Dimensionless: one figure divided by another.
    Number,
    /// A number of exchanges.
    Count,
    /// A literal without a unit, which takes the dimension of the other operand: a number, a count
    /// or a share.
    Bare,
}

impl Dimension {
    /// Returns the noun for messages.
    pub fn noun(self) -> &'static str {
        match self {
            Time => "a time",
            Rate => "a rate",
            Bytes => "a size",
            BytesPerS => "bytes per second",
            Share => "a share",
            Number | Bare => "a number",
            Count => "a count",
        }
    }

    /// Returns a unit that gives a number this dimension.
    pub fn usual_unit(self) -> &'static str {
        match self {
            Time => "ms",
            Rate => "/s",
            Bytes => "kB",
            BytesPerS => "MB/s",
            Share | Number | Count | Bare => "",
        }
    }

    /// Returns the common dimension of both if they can be compared or added.
    pub fn joint(self, other: Dimension) -> Option<Dimension> {
        match (self, other) {
            (one, two) if one == two => Some(one),
            (Bare, Count) | (Count, Bare) => Some(Count),
            (Bare, Share) | (Share, Bare) => Some(Share),
            (Bare | Share, Number) | (Number, Bare | Share) => Some(Number),
            _ => None,
        }
    }

    /// Returns the dimension of the product, or `None` if no figure has such a dimension.
    pub fn times(self, other: Dimension) -> Option<Dimension> {
        match (self, other) {
            (Bare, any) | (any, Bare) => Some(any),
            (Share | Number, Share | Number) => Some(Number),
            (Share | Number, any) | (any, Share | Number) => Some(any),
            (Rate, Time) | (Time, Rate) => Some(Count),
            (BytesPerS, Time) | (Time, BytesPerS) => Some(Bytes),
            (Rate, Bytes) | (Bytes, Rate) => Some(BytesPerS),
            (Count, any @ (Time | Bytes)) | (any @ (Time | Bytes), Count) => Some(any),
            _ => None,
        }
    }

    /// Returns the dimension of the quotient, or `None` if no figure has such a dimension.
    pub fn over(self, other: Dimension) -> Option<Dimension> {
        match (self, other) {
            (any, Bare) => Some(any),
            (one, two) if one == two => Some(Number),
            (Bare | Share | Number, Share | Number | Count) => Some(Number),
            (any, Share | Number) => Some(any),
            (Bare | Share | Number | Count, Time) => Some(Rate),
            (Bare | Share | Number | Count, Rate) | (Bytes, BytesPerS) => Some(Time),
            (Bytes, Time) => Some(BytesPerS),
            (BytesPerS, Rate) => Some(Bytes),
            (BytesPerS, Bytes) => Some(Rate),
            (any @ (Time | Bytes), Count) => Some(any),
            _ => None,
        }
    }
}

/// A unit that may follow a number.
#[derive(Debug, PartialEq)]
pub struct GateUnit {
    /// The unit's name as written.
    pub name: &'static str,
    /// The dimension that it gives to the number.
    pub dimension: Dimension,
    times: f64,
    /// A separate divisor, because dividing by 1,000 is exact whereas multiplying by 0.001 is not.
    by: f64,
}

impl GateUnit {
    /// Converts a number of this unit to the base unit.
    pub fn value(&self, number: f64) -> f64 {
        number * self.times / self.by
    }
}

const fn unit(name: &'static str, dimension: Dimension, times: f64, by: f64) -> GateUnit {
    GateUnit { name, dimension, times, by }
}

/// All units.
pub const UNITS: [GateUnit; 21] = [
    unit("ns", Time, 1.0, 1e9),
    unit("us", Time, 1.0, 1e6),
    unit("ms", Time, 1.0, 1e3),
    unit("s", Time, 1.0, 1.0),
    unit("m", Time, 60.0, 1.0),
    unit("%", Share, 1.0, 100.0),
    unit("/s", Rate, 1.0, 1.0),
    unit("B", Bytes, 1.0, 1.0),
    unit("kB", Bytes, 1e3, 1.0),
    unit("MB", Bytes, 1e6, 1.0),
    unit("GB", Bytes, 1e9, 1.0),
    unit("KiB", Bytes, 1024.0, 1.0),
    unit("MiB", Bytes, 1_048_576.0, 1.0),
    unit("GiB", Bytes, 1_073_741_824.0, 1.0),
    unit("B/s", BytesPerS, 1.0, 1.0),
    unit("kB/s", BytesPerS, 1e3, 1.0),
    unit("MB/s", BytesPerS, 1e6, 1.0),
    unit("GB/s", BytesPerS, 1e9, 1.0),
    unit("KiB/s", BytesPerS, 1024.0, 1.0),
    unit("MiB/s", BytesPerS, 1_048_576.0, 1.0),
    unit("GiB/s", BytesPerS, 1_073_741_824.0, 1.0),
];

/// Returns the unit named `name`.
pub fn find_unit(name: &str) -> Option<&'static GateUnit> {
    static ALL: [GateUnit; 21] = UNITS;
    ALL.iter().find(|unit| unit.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Dimension; 8] = [Time, Rate, Bytes, BytesPerS, Share, Number, Count, Bare];

    /// Returns the exponents of the second and of the byte in a dimension; both are 0 for counts
    /// and shares.
    fn powers(of: Dimension) -> [i8; 2] {
        match of {
            Time => [1, 0],
            Rate => [-1, 0],
            Bytes => [0, 1],
            BytesPerS => [-1, 1],
            Share | Number | Count | Bare => [0, 0],
        }
    }

    #[test]
    fn derives_the_units_of_products_and_quotients_by_their_dimensions() {
        for one in ALL {
            for two in ALL {
                let [a, b] = [powers(one), powers(two)];
                if let Some(product) = one.times(two) {
                    assert_eq!(powers(product), [a[0] + b[0], a[1] + b[1]], "{one:?} {two:?}");
                }
                if let Some(quotient) = one.over(two) {
                    assert_eq!(powers(quotient), [a[0] - b[0], a[1] - b[1]], "{one:?} {two:?}");
                }
                assert_eq!(one.times(two), two.times(one), "{one:?} {two:?}");
                assert_eq!(one.joint(two), two.joint(one), "{one:?} {two:?}");
            }
        }
    }

    #[test]
    fn converts_values_to_the_base_unit() {
        let value = |name, number| find_unit(name).unwrap().value(number);
        assert_eq!([value("ms", 10.0), value("ns", 250.0)], [0.01, 2.5e-7]);
        assert_eq!([value("m", 2.0), value("%", 0.1)], [120.0, 0.001]);
        assert_eq!([value("kB", 4.0), value("MiB/s", 1.0)], [4_000.0, 1_048_576.0]);
        assert!(find_unit("Ms").is_none());
    }
}

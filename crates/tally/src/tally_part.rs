//! Merging counts, in any order, and what was counted between two times: the difference of two
//! counts of the same workers.
//!
//! The law of differences: `earlier += &all.since(&earlier)` makes `earlier` equal to `all`. It
//! holds until the exchanges in flight are classified, which takes some counts back.
//!
//! Counts may be those of a peer, whose numbers are not trusted. Sums therefore stop at the largest
//! number instead of overflowing.

use sixmark_document::timing::Timing;
use sixmark_units::counts::Counts;
use sixmark_units::family::PerFamily;

/// Counts that grow, and whose sums and differences are counts of the same type.
pub trait TallyPart {
    /// Adds other counts.
    fn merge(&mut self, other: &Self);

    /// Returns what was counted since these counts were `earlier`.
    #[must_use]
    fn since(&self, earlier: &Self) -> Self;
}

impl TallyPart for u64 {
    fn merge(&mut self, other: &u64) {
        *self = self.saturating_add(*other);
    }

    fn since(&self, earlier: &u64) -> u64 {
        self.saturating_sub(*earlier)
    }
}

/// A count of 0 is not the same as none: it says that the kernel reports the number.
impl TallyPart for Option<u64> {
    fn merge(&mut self, other: &Option<u64>) {
        *self = match (*self, *other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
    }

    fn since(&self, earlier: &Option<u64>) -> Option<u64> {
        self.map(|count| count.since(&earlier.unwrap_or(0)))
    }
}

/// Nothing new is no counts at all.
impl<T: TallyPart + Default + PartialEq> TallyPart for Option<Box<T>> {
    fn merge(&mut self, other: &Option<Box<T>>) {
        if let Some(more) = other {
            self.get_or_insert_default().as_mut().merge(more);
        }
    }

    fn since(&self, earlier: &Option<Box<T>>) -> Option<Box<T>> {
        let nothing = T::default();
        let more = self.as_ref()?.as_ref().since(earlier.as_ref().map_or(&nothing, |known| known));
        (more != nothing).then(|| Box::new(more))
    }
}

/// A list by number, which grows at its end.
impl<T: TallyPart + Default> TallyPart for Vec<T> {
    fn merge(&mut self, other: &Vec<T>) {
        if self.len() < other.len() {
            self.resize_with(other.len(), T::default);
        }
        self.iter_mut().zip(other).for_each(|(all, more)| all.merge(more));
    }

    fn since(&self, earlier: &Vec<T>) -> Vec<T> {
        let nothing = T::default();
        let before = earlier.iter().chain(std::iter::repeat(&nothing));
        self.iter().zip(before).map(|(all, known)| all.since(known)).collect()
    }
}

impl<T: TallyPart> TallyPart for PerFamily<T> {
    fn merge(&mut self, other: &PerFamily<T>) {
        self.ipv6.merge(&other.ipv6);
        self.ipv4.merge(&other.ipv4);
    }

    fn since(&self, earlier: &PerFamily<T>) -> PerFamily<T> {
        PerFamily::from_fn(|family| self[family].since(&earlier[family]))
    }
}

/// Types with a sum and a difference of their own.
macro_rules! own_parts {
    ($([$($of:tt)*] $type:ty),+ $(,)?) => {$(
        impl<$($of)*> $crate::tally_part::TallyPart for $type {
            fn merge(&mut self, other: &$type) {
                *self += other;
            }

            fn since(&self, earlier: &$type) -> $type {
                <$type>::since(self, earlier)
            }
        }
    )+};
}

own_parts!([K: Copy + Ord] Counts<K>, [] Timing);

/// Declares how each field of a struct of counts is merged, and its difference computed: both are
/// those of each field. The fields in the second braces may decrease while a load is going on,
/// because an exchange may be moved to the other family or out of the warm-up: their sums and
/// differences wrap around. Those in the third are maxima, of which the difference has only a new
/// one. A field that is in no braces does not compile.
macro_rules! tally_parts {
    ($type:ident {
        $($field:ident),+ $(,)?
    } $(wrapping { $($may_decrease:ident),+ })? $(maximum { $($maximum:ident),+ })?) => {
        impl $crate::tally_part::TallyPart for $type {
            fn merge(&mut self, other: &$type) {
                use $crate::tally_part::TallyPart;
                $(TallyPart::merge(&mut self.$field, &other.$field);)+
                $($(self.$may_decrease = self.$may_decrease.wrapping_add(other.$may_decrease);)+)?
                $($(self.$maximum = self.$maximum.max(other.$maximum);)+)?
            }

            fn since(&self, earlier: &$type) -> $type {
                use $crate::tally_part::TallyPart;
                $type {
                    $($field: TallyPart::since(&self.$field, &earlier.$field),)+
                    $($($may_decrease: self.$may_decrease.wrapping_sub(earlier.$may_decrease),)+)?
                    $($($maximum: match self.$maximum {
                        new if new > earlier.$maximum => new,
                        _ => 0,
                    },)+)?
                }
            }
        }

        impl std::ops::AddAssign<&$type> for $type {
            fn add_assign(&mut self, other: &$type) {
                $crate::tally_part::TallyPart::merge(self, other);
            }
        }
    };
}

pub(crate) use {own_parts, tally_parts};

//! The account of response times: how long each part of an exchange took, by the response time.
//!
//! Means of parts add up to the mean of the whole, but quantiles of parts do not add up to a quantile
//! of the whole. So the parts are summed by classes of the response time. The account of a quantile is
//! then that of the exchanges around it, which adds up to the quantile.

mod result;

pub use result::{AccountFigures, AccountResult};

use serde::{Deserialize, Serialize};

use crate::response_part::{PerPart, ResponsePart};
use crate::tally_part::{TallyPart, tally_parts};
use sixmark_document::untrusted;

/// Each octave of the response time, in nanoseconds, has this many classes: a class is at most 6.25 %
/// wide.
const PER_OCTAVE: u64 = 16;
/// The number of classes of 64-bit response times.
const MOST_CLASSES: usize = 976;

/// The exchanges around a quantile are those between these quantiles beside it at most, as a share of
/// all; less beside a quantile close to 1, so that as many lie on both sides.
const AROUND: f64 = 0.1;

/// The exchanges of one class of response times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountClass {
    /// The number of exchanges.
    pub count: u64,
    /// Exchanges among them that waited for a connection.
    pub connecting: u64,
    /// Exchanges among them that waited for a TLS or QUIC handshake.
    pub securing: u64,
    /// Flights of the sender that these exchanges waited for within their responses.
    pub flights: u64,
    /// The sums of each part, in nanoseconds.
    pub sums: PerPart<u64>,
}

tally_parts!(AccountClass { count, connecting, securing, flights, sums });

/// The parts of the response times of one family, by classes of the response time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "WireAccount", into = "WireAccount")]
pub struct AccountTally {
    classes: Vec<AccountClass>,
}

tally_parts!(AccountTally { classes });

/// The account of a mean, or of the exchanges around a quantile. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    /// How long each part took on average.
    pub parts: PerPart<f64>,
    /// The share of the exchanges that waited for a connection, and of those that waited for a TLS or
    /// QUIC handshake.
    pub connecting: f64,
    /// See `connecting`.
    pub securing: f64,
    /// The flights of the sender that an exchange waited for within its response, on average.
    pub flights: f64,
    /// The number of exchanges.
    pub count: u64,
}

/// Empty classes at the end mean nothing: a difference has them.
impl PartialEq for AccountTally {
    fn eq(&self, other: &AccountTally) -> bool {
        let used = |of: &AccountTally| {
            let last = of.classes.iter().rposition(|class| *class != AccountClass::default());
            last.map_or(0, |last| last + 1)
        };
        self.classes[..used(self)] == other.classes[..used(other)]
    }
}

impl AccountTally {
    /// Counts an exchange with these parts, in nanoseconds, that waited for this number of flights
    /// within its response.
    #[inline]
    pub fn record(&mut self, parts: &PerPart<u64>, flights: u32) {
        let PerPart { queue, connect, tls, send, wait, flights: trips, recovery, pauses, transfer } =
            *parts;
        let (opening, paused) = (connect + tls, trips + recovery + pauses);
        let class = class_of(parts.sum());
        if class >= self.classes.len() {
            self.grow(class);
        }
        let Some(class) = self.classes.get_mut(class) else { return };
        class.count += 1;
        class.sums.send += send;
        class.sums.wait += wait;
        class.sums.transfer += transfer;
        class.sums.queue += queue;
        if opening > 0 {
            class.connecting += u64::from(connect > 0);
            class.securing += u64::from(tls > 0);
            class.sums.connect += connect;
            class.sums.tls += tls;
        }
        if paused > 0 {
            class.flights += u64::from(flights);
            class.sums.flights += trips;
            class.sums.recovery += recovery;
            class.sums.pauses += pauses;
        }
    }

    /// Counts an exchange on an open connection without pauses within its response, with its parts in
    /// nanoseconds: waiting to start, sending, the wait, and receiving.
    #[inline]
    pub fn record_usual(&mut self, [queue, send, wait, transfer]: [u64; 4]) {
        let class = class_of(queue + send + wait + transfer);
        if class >= self.classes.len() {
            self.grow(class);
        }
        let Some(class) = self.classes.get_mut(class) else { return };
        class.count += 1;
        class.sums.queue += queue;
        class.sums.send += send;
        class.sums.wait += wait;
        class.sums.transfer += transfer;
    }

    #[cold]
    fn grow(&mut self, class: usize) {
        self.classes.resize_with(class + 1, AccountClass::default);
    }

    /// Returns the number of exchanges.
    pub fn count(&self) -> u64 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// Returns the account of the mean response time; `None` if nothing was counted.
    pub fn of_mean(&self) -> Option<Account> {
        Account::of(self.classes.iter().map(|class| (class, class.count as f64)))
    }

    /// Returns the account of the quantile at `share` (0 to 1), which is `figure_ns`: its parts add up
    /// to that. `None` if nothing was counted.
    ///
    /// It is a mixture of two averages, of the exchanges around the quantile that were faster and of
    /// those that were slower, in the proportion in which their response times add up to the
    /// quantile. If all were faster or all slower, their parts are changed in proportion.
    pub fn around(&self, share: f64, figure_ns: f64) -> Option<Account> {
        let half = AROUND.min(1.0 - share).min(share);
        let all = self.count() as f64;
        let (low, high) = ((share - half) * all, (share + half) * all);
        let mut before = 0.0;
        let mut near: Vec<(&AccountClass, f64)> = Vec::new();
        for class in self.classes.iter().filter(|class| class.count > 0) {
            let after = before + class.count as f64;
            let weight = after.min(high) - before.max(low);
            if weight > 0.0 || (low >= before && low < after) {
                near.push((class, weight.max(f64::MIN_POSITIVE)));
            }
            before = after;
        }
        let is_below = |(class, _): &(&AccountClass, f64)| class.means().total() <= figure_ns;
        let (below, above): (Vec<_>, Vec<_>) = near.into_iter().partition(is_below);
        match (Account::of(below.into_iter()), Account::of(above.into_iter())) {
            (Some(below), Some(above)) => {
                let [low_ns, high_ns] = [below.parts.total(), above.parts.total()];
                // Rounding may put the figure just outside.
                let share = (figure_ns - low_ns) / (high_ns - low_ns);
                Some(below.mixed_with(above, share.clamp(0.0, 1.0)))
            }
            (found, other) => Some(found.or(other)?.scaled_to(figure_ns)),
        }
    }
}

impl AccountClass {
    /// Returns the mean of each part, in nanoseconds.
    fn means(&self) -> PerPart<f64> {
        PerPart::from_fn(|part| self.sums[part] as f64 / self.count as f64)
    }
}

impl Account {
    /// Returns the weighted average of classes; the weights are numbers of exchanges.
    fn of<'a>(classes: impl Iterator<Item = (&'a AccountClass, f64)>) -> Option<Account> {
        let mut all = 0.0;
        let mut parts = PerPart::<f64>::default();
        let (mut connecting, mut securing, mut flights) = (0.0, 0.0, 0.0);
        for (class, weight) in classes.filter(|(class, _)| class.count > 0) {
            let each = weight / class.count as f64;
            all += weight;
            ResponsePart::ALL
                .into_iter()
                .for_each(|part| parts[part] += each * class.sums[part] as f64);
            connecting += each * class.connecting as f64;
            securing += each * class.securing as f64;
            flights += each * class.flights as f64;
        }
        (all > 0.0).then(|| Account {
            parts: PerPart::from_fn(|part| parts[part] / all),
            connecting: connecting / all,
            securing: securing / all,
            flights: flights / all,
            count: all.round() as u64,
        })
    }

    /// Returns a mixture of this account and another, with `share` (0 to 1) of the other.
    fn mixed_with(self, other: Account, share: f64) -> Account {
        let mix = |one: f64, other: f64| one + share * (other - one);
        Account {
            parts: PerPart::from_fn(|part| mix(self.parts[part], other.parts[part])),
            connecting: mix(self.connecting, other.connecting),
            securing: mix(self.securing, other.securing),
            flights: mix(self.flights, other.flights),
            count: self.count + other.count,
        }
    }

    /// Returns the account with its parts changed in proportion, so that they add up to `figure_ns`.
    fn scaled_to(self, figure_ns: f64) -> Account {
        let mean_ns = self.parts.total();
        let factor = if mean_ns > 0.0 { figure_ns / mean_ns } else { 0.0 };
        Account { parts: PerPart::from_fn(|part| self.parts[part] * factor), ..self }
    }
}

/// Returns the class of a response time in nanoseconds.
#[inline]
fn class_of(nanos: u64) -> usize {
    if nanos < PER_OCTAVE {
        return nanos as usize;
    }
    // The four bits after the first one.
    let shift = u64::from(59 - nanos.leading_zeros());
    (shift * PER_OCTAVE + (nanos >> shift)) as usize
}

/// The counts of a class, and its sums in the order of the parts.
type WireClass = ([u64; 4], [u64; ResponsePart::ALL.len()]);

/// The account in the form in which it is sent: the number of each class that is not empty, and what
/// it has.
#[derive(Serialize, Deserialize)]
struct WireAccount(
    #[serde(deserialize_with = "untrusted::short::<MOST_CLASSES, _, _>")] Vec<(usize, WireClass)>,
);

impl From<AccountTally> for WireAccount {
    fn from(account: AccountTally) -> WireAccount {
        let numbered = account.classes.into_iter().enumerate();
        let some = numbered.filter(|(_, class)| *class != AccountClass::default());
        let wire = |(number, class): (usize, AccountClass)| {
            let counts = [class.count, class.connecting, class.securing, class.flights];
            (number, (counts, ResponsePart::ALL.map(|part| class.sums[part])))
        };
        WireAccount(some.map(wire).collect())
    }
}

impl TryFrom<WireAccount> for AccountTally {
    type Error = String;

    fn try_from(wire: WireAccount) -> Result<AccountTally, String> {
        let mut account = AccountTally::default();
        for (number, (counts, sums)) in wire.0 {
            if number >= MOST_CLASSES {
                return Err(format!("an account has class {number}, not {MOST_CLASSES} at most"));
            }
            if number >= account.classes.len() {
                account.grow(number);
            }
            let [count, connecting, securing, flights] = counts;
            let mut class =
                AccountClass { count, connecting, securing, flights, ..AccountClass::default() };
            ResponsePart::ALL.into_iter().zip(sums).for_each(|(part, sum)| class.sums[part] = sum);
            account.classes[number].merge(&class);
        }
        Ok(account)
    }
}

#[cfg(test)]
mod tests;

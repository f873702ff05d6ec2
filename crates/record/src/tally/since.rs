//! What was counted between two times: the difference of two tallies of the same workers.
//!
//! The law of differences: `earlier += &all.since(&earlier)` makes `earlier` equal to `all`. It
//! holds until the exchanges in flight are classified, which takes some counts back.

use super::{ByteTally, Connections, EndpointTally, FamilyTally, Phases, WaitingTime, WarmUpTally};
use crate::by_request::RequestTally;
use crate::by_step::StepTally;
use crate::io::IoTally;
use crate::quic::QuicTally;
use crate::tcp::{HandshakeTally, TcpTally};
use crate::tls::TlsTally;
use crate::wait_sample::WaitSampleTally;
use sixmark_units::family::PerFamily;

/// Counts that grow, and whose differences are counts of the same type.
pub trait Since {
    /// Returns what was counted since these counts were `earlier`.
    #[must_use]
    fn since(&self, earlier: &Self) -> Self;
}

impl Since for u64 {
    fn since(&self, earlier: &u64) -> u64 {
        self.saturating_sub(*earlier)
    }
}

/// A count of 0 is not the same as none: it says that the kernel reports the number.
impl Since for Option<u64> {
    fn since(&self, earlier: &Option<u64>) -> Option<u64> {
        self.map(|count| count.since(&earlier.unwrap_or(0)))
    }
}

/// Nothing new is no counts at all.
impl<T: Since + Default + PartialEq> Since for Option<Box<T>> {
    fn since(&self, earlier: &Option<Box<T>>) -> Option<Box<T>> {
        let nothing = T::default();
        let more = self.as_ref()?.since(earlier.as_ref().map_or(&nothing, |known| known));
        (more != nothing).then(|| Box::new(more))
    }
}

/// A list by number, which grows at its end.
impl<T: Since + Default> Since for Vec<T> {
    fn since(&self, earlier: &Vec<T>) -> Vec<T> {
        let nothing = T::default();
        let before = earlier.iter().chain(std::iter::repeat(&nothing));
        self.iter().zip(before).map(|(all, known)| all.since(known)).collect()
    }
}

impl<T: Since> Since for PerFamily<T> {
    fn since(&self, earlier: &PerFamily<T>) -> PerFamily<T> {
        PerFamily::from_fn(|family| self[family].since(&earlier[family]))
    }
}

/// The difference of a struct is that of each field. The fields in the second braces may decrease
/// (see [`AddAssign`](std::ops::AddAssign) of the type), so that their differences wrap around.
/// Those in the third are maxima: the difference has only a new one.
macro_rules! since_by_field {
    ($type:ident {
        $($field:ident),+ $(,)?
    } $(wrapping { $($may_decrease:ident),+ })? $(maximum { $($maximum:ident),+ })?) => {
        impl Since for $type {
            fn since(&self, earlier: &$type) -> $type {
                $type {
                    $($field: self.$field.since(&earlier.$field),)+
                    $($($may_decrease: self.$may_decrease.wrapping_sub(earlier.$may_decrease),)+)?
                    $($($maximum: new_maximum(self.$maximum, earlier.$maximum),)+)?
                }
            }
        }
    };
}

fn new_maximum(all: u64, earlier: u64) -> u64 {
    if all > earlier { all } else { 0 }
}

since_by_field!(FamilyTally {
    dropped, unsent, waited, late, resent, interim_responses, cut_chains, unfollowed, stalled,
    untimed, given_up, status, unaccepted, failures, carried, warm_up, failed_warm_up, in_flight,
    connections, bytes, io, phases, wait_sample, tcp, tls, quic,
    content, breaches, endpoints, requests, steps,
} wrapping { sent, followed } maximum { oldest_unanswered_ns });
since_by_field!(WarmUpTally { completed, accepted, answered_ns } wrapping { sent });
since_by_field!(EndpointTally { status, failures, unaccepted, sizes, waiting });
since_by_field!(RequestTally { status, failures, unaccepted, response });
since_by_field!(StepTally { exchanges, dropped, unsent, responses });
since_by_field!(WaitingTime { answered_ns, silent_ns });
since_by_field!(Connections {
    opened,
    closed,
    reset_sent,
    unsolicited,
    unopened,
    drained,
    displaced,
    held_ns,
    awaited_ns,
});
since_by_field!(ByteTally { received, body, sent });
since_by_field!(IoTally { sends, receives, datagrams_sent, datagrams_received });
since_by_field!(Phases {
    connect,
    interim,
    wait,
    ttfb,
    transfer,
    response,
    service,
    slip,
    lifetime,
});
since_by_field!(WaitSampleTally { kernel, client });
since_by_field!(TcpTally {
    read,
    rtt,
    min_rtt,
    retransmitted,
    spurious,
    retransmitting,
    delivered,
    mss,
    handshake,
});
since_by_field!(HandshakeTally { asked, sent_again, untimed, kernel, client });
since_by_field!(TlsTally {
    full,
    resumed,
    untimed_full,
    untimed_resumed,
    offered,
    retried,
    failed,
    causes,
    versions,
    ciphers,
    groups,
    alpn,
    certificates,
});
since_by_field!(QuicTally {
    connections,
    retried,
    versions,
    mismatched,
    sent,
    lost,
    dropped,
    mtu,
    rtt,
});

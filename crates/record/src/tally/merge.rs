//! Merging tallies, in any order.
//!
//! Tallies may be those of a peer, whose numbers are not trusted. Sums therefore stop at the largest
//! number instead of overflowing.

use std::ops::AddAssign;

use super::{ByteTally, Connections, EndpointTally, FamilyTally, Phases, WaitingTime, WarmUpTally};

impl AddAssign<WaitingTime> for WaitingTime {
    fn add_assign(&mut self, other: WaitingTime) {
        self.answered_ns = self.answered_ns.saturating_add(other.answered_ns);
        self.silent_ns = self.silent_ns.saturating_add(other.silent_ns);
    }
}

impl AddAssign<&EndpointTally> for EndpointTally {
    fn add_assign(&mut self, other: &EndpointTally) {
        self.status += &other.status;
        self.failures += &other.failures;
        self.unaccepted = self.unaccepted.saturating_add(other.unaccepted);
        self.sizes += &other.sizes;
        self.waiting += other.waiting;
    }
}

impl AddAssign for WarmUpTally {
    fn add_assign(&mut self, other: WarmUpTally) {
        // May be the difference of a count that has decreased, see `FamilyTally::sent`.
        self.sent = self.sent.wrapping_add(other.sent);
        self.completed = self.completed.saturating_add(other.completed);
        self.accepted = self.accepted.saturating_add(other.accepted);
        self.answered_ns = self.answered_ns.saturating_add(other.answered_ns);
    }
}

impl AddAssign<&FamilyTally> for FamilyTally {
    fn add_assign(&mut self, other: &FamilyTally) {
        // An exchange may be moved to the other family, so that these two can decrease while a load
        // is going on. Their differences are carried as wrapped numbers.
        self.sent = self.sent.wrapping_add(other.sent);
        self.dropped = self.dropped.saturating_add(other.dropped);
        self.unsent = self.unsent.saturating_add(other.unsent);
        self.waited = self.waited.saturating_add(other.waited);
        self.late = self.late.saturating_add(other.late);
        self.resent = self.resent.saturating_add(other.resent);
        self.interim_responses = self.interim_responses.saturating_add(other.interim_responses);
        self.followed = self.followed.wrapping_add(other.followed);
        self.cut_chains = self.cut_chains.saturating_add(other.cut_chains);
        self.unfollowed += &other.unfollowed;
        self.stalled = self.stalled.saturating_add(other.stalled);
        self.untimed = self.untimed.saturating_add(other.untimed);
        self.given_up = self.given_up.saturating_add(other.given_up);
        self.status += &other.status;
        self.unaccepted = self.unaccepted.saturating_add(other.unaccepted);
        self.failures += &other.failures;
        self.carried = self.carried.saturating_add(other.carried);
        self.warm_up += other.warm_up;
        other.failed_warm_up.iter().for_each(|failed| *self.failing_warm_up() += failed);
        self.in_flight += &other.in_flight;
        self.oldest_unanswered_ns = self.oldest_unanswered_ns.max(other.oldest_unanswered_ns);
        self.connections += &other.connections;
        self.bytes += &other.bytes;
        self.io += &other.io;
        self.phases += &other.phases;
        self.wait_sample += &other.wait_sample;
        self.tcp += &other.tcp;
        self.tls += &other.tls;
        self.quic += &other.quic;
        self.content += &other.content;
        self.breaches += &other.breaches;
        for (number, counted) in other.endpoints.iter().enumerate() {
            *self.endpoint(number) += counted;
        }
        for (number, counted) in other.requests.iter().enumerate() {
            *self.request(number) += counted;
        }
        for (number, counted) in other.steps.iter().enumerate() {
            *self.step(number) += counted;
        }
    }
}

impl AddAssign<&Connections> for Connections {
    fn add_assign(&mut self, other: &Connections) {
        self.opened = self.opened.saturating_add(other.opened);
        self.closed = self.closed.saturating_add(other.closed);
        self.reset_sent = self.reset_sent.saturating_add(other.reset_sent);
        self.unsolicited = self.unsolicited.saturating_add(other.unsolicited);
        self.unopened = self.unopened.saturating_add(other.unopened);
        self.drained = self.drained.saturating_add(other.drained);
        self.displaced = self.displaced.saturating_add(other.displaced);
        self.held_ns = self.held_ns.saturating_add(other.held_ns);
        self.awaited_ns = self.awaited_ns.saturating_add(other.awaited_ns);
    }
}

impl AddAssign<&ByteTally> for ByteTally {
    fn add_assign(&mut self, other: &ByteTally) {
        self.received = self.received.saturating_add(other.received);
        self.body = self.body.saturating_add(other.body);
        self.sent = self.sent.saturating_add(other.sent);
    }
}

impl AddAssign<&Phases> for Phases {
    fn add_assign(&mut self, other: &Phases) {
        self.connect += &other.connect;
        self.interim += &other.interim;
        self.wait += &other.wait;
        self.ttfb += &other.ttfb;
        self.transfer += &other.transfer;
        self.response += &other.response;
        self.service += &other.service;
        self.slip += &other.slip;
        self.lifetime += &other.lifetime;
    }
}

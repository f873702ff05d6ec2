//! The number of connections of a trial if the user did not set it.

use std::num::NonZeroU32;

use sixmark_plan::plan::{Connection, LoadPlan, Plan};
use sixmark_result::condition::Condition;
use sixmark_result::find::Trial;

use crate::preflight;

/// The number of connections relative to those in flight when every exchange takes as long as the
/// conditions allow.
const SPARE: f64 = 2.0;
/// The most connections at any rate: a host has about 28,000 ports towards one address.
const MOST: f64 = 16_384.0;

/// Returns the plan of a trial of `rate` exchanges per second with enough connections that an
/// overloaded server breaks the conditions before the connections run out. By Little's law its
/// exchanges then take `SPARE` times as long as the conditions allow. Open connections are used
/// first, so a server that keeps up sees no additional ones.
pub(super) fn with_room(plan: Plan, conditions: &[Condition], rate: f64) -> Plan {
    // If no condition bounds the response time, the number of connections must stay limited: a
    // server that is too slow then shows by exchanges that never begin.
    let bounds = conditions.iter().filter_map(Condition::response_bound_s);
    let Some(bound_s) = bounds.reduce(f64::max) else { return plan };
    let streams = f64::from(plan.http.streams.get());
    let wanted = (SPARE * rate * bound_s / streams).ceil().min(MOST);
    let wanted = NonZeroU32::new(wanted as u32).filter(|wanted| *wanted > plan.load.connections);
    let Some(wanted) = wanted else { return plan };
    let connections = preflight::most_connections(&plan, wanted);
    let most_open = plan.connection.most_open.max(connections);
    Plan {
        load: LoadPlan { connections, ..plan.load },
        connection: Connection { most_open, ..plan.connection },
        ..plan
    }
}

/// Returns the largest number of connections of these trials, or that of the plan if there are no
/// trials.
pub(super) fn most<'a>(plan: &Plan, trials: impl Iterator<Item = &'a Trial>) -> NonZeroU32 {
    let in_flight = trials.filter_map(|trial| trial.in_flight).max().unwrap_or(0);
    let connections = in_flight / u64::from(plan.http.streams.get());
    let connections = u32::try_from(connections).ok().and_then(NonZeroU32::new);
    connections.unwrap_or(plan.load.connections)
}

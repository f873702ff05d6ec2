//! How many connections a trial may have where nobody said.

use std::num::NonZeroU32;

use sixmark_model::condition::Condition;
use sixmark_model::find::Trial;
use sixmark_model::plan::{Connection, LoadPlan, Plan};

use crate::preflight;

/// How many times as many as are in flight where every exchange takes as long as it may.
const SPARE: f64 = 2.0;
/// No more than this, whatever the rate: a host has 28,000 ports to one address.
const MOST: f64 = 16_384.0;

/// The plan of a trial of `rate` exchanges a second so many connections that a server which can't do more
/// breaks the conditions before they run out: by Little's law its exchanges then take `SPARE` times
/// as long as they may. Open ones are used first, so that more are no more connections while it can.
pub(super) fn with_room(plan: Plan, conditions: &[Condition], rate: f64) -> Plan {
    // Where nothing bounds how long an exchange takes, places have to: a server that is too slow is
    // then known by what never begins.
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

/// The most connections of these trials; those of the plan where there are none.
pub(super) fn most<'a>(plan: &Plan, trials: impl Iterator<Item = &'a Trial>) -> NonZeroU32 {
    let in_flight = trials.filter_map(|trial| trial.in_flight).max().unwrap_or(0);
    let connections = in_flight / u64::from(plan.http.streams.get());
    let connections = u32::try_from(connections).ok().and_then(NonZeroU32::new);
    connections.unwrap_or(plan.load.connections)
}

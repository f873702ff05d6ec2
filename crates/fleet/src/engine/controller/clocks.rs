//! The clocks of the agents, compared with this machine's.

use std::time::{Duration, Instant};

use sixmark_run::ClockOffset;
use sixmark_sys::clock;
use sixmark_sys::command_error::CommandError;

use super::members::{Member, ask};
use crate::clock_offset::{ClockProbe, offset_of};
use crate::engine::transport::ControllerSide;
use crate::messages::{AgentAnswer, AskedOfAgent};

/// The number of probes of each agent.
const PROBES: usize = 32;
/// How long an agent may take to answer a probe.
const PATIENCE: Duration = Duration::from_secs(5);
/// After this time, clocks are compared again: two clocks may drift apart by 50 us per second.
const TOO_OLD: Duration = Duration::from_secs(60);

/// The clocks of all agents.
#[derive(Debug)]
pub(super) struct FleetClocks {
    at: Instant,
    /// The difference of each agent's clock, in the agents' order.
    pub(super) offsets: Vec<ClockOffset>,
    /// The longest of the agents' shortest round trips.
    pub(super) round_trip: Duration,
}

impl FleetClocks {
    /// Compares the clock of each agent with this machine's.
    pub(super) fn measure(
        side: &dyn ControllerSide,
        members: &[Member],
    ) -> Result<FleetClocks, CommandError> {
        let mut offsets = Vec::new();
        std::thread::scope(|scope| {
            let probing: Vec<_> =
                members.iter().map(|member| scope.spawn(move || offset(side, member))).collect();
            for thread in probing {
                let died = |_| CommandError::Measure("a thread died; this is a defect".to_owned());
                offsets.push(thread.join().map_err(died)??);
            }
            Ok::<(), CommandError>(())
        })?;
        let longest = offsets.iter().map(|of: &ClockOffset| of.bound_ns).max().unwrap_or(0);
        let round_trip = Duration::from_nanos(2 * longest);
        Ok(FleetClocks { at: Instant::now(), offsets, round_trip })
    }

    /// Compares the clocks again if that was long ago.
    pub(super) fn refresh(
        &mut self,
        side: &dyn ControllerSide,
        members: &[Member],
    ) -> Result<(), CommandError> {
        if self.at.elapsed() > TOO_OLD {
            *self = FleetClocks::measure(side, members)?;
        }
        Ok(())
    }
}

fn offset(side: &dyn ControllerSide, member: &Member) -> Result<ClockOffset, CommandError> {
    let mut probes = Vec::with_capacity(PROBES);
    for _ in 0..PROBES {
        let sent_ns = clock::real();
        let answer = ask(side, member, &AskedOfAgent::Time, PATIENCE);
        let answered_ns = clock::real();
        match answer {
            Ok(AgentAnswer::Time(there_ns)) => {
                probes.push(ClockProbe { sent_ns, there_ns, answered_ns });
            }
            // One probe may be lost. An agent that is gone answers none.
            _ if !probes.is_empty() => {}
            Ok(_) => return Err(refused(member, "did not tell its time")),
            Err(why) => return Err(refused(member, &why)),
        }
    }
    let (offset_ns, bound_ns) = offset_of(&probes).unwrap_or_default();
    Ok(ClockOffset { offset_ns, bound_ns })
}

fn refused(member: &Member, why: &str) -> CommandError {
    CommandError::Measure(member.says(why))
}

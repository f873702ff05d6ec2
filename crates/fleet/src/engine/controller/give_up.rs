//! Records that are due and do not come: the reason is reported, what the transport may have lost is
//! created again, and after a bounded time the load goes on without them.

use std::time::Instant;

use super::collect::Collecting;

impl Collecting<'_> {
    /// Reports stalls, creates again what the transport may have lost, and gives up agents whose
    /// records have not come for too long.
    pub(super) fn look_after_stalls(&mut self) {
        let patience = self.fleet.patience;
        let interrupted =
            self.ended.is_some_and(|[first, _]| first.elapsed() > patience.interrupted);
        let (mut lines, mut lost, mut restore) = (Vec::new(), Vec::new(), false);
        for (name, agent) in self.agents.iter_mut().filter(|(_, agent)| !agent.given_up) {
            if self.collected.records.of(name).is_none_or(|series| series.is_complete()) {
                continue;
            }
            if interrupted && agent.heard.elapsed() > patience.interrupted {
                agent.given_up = true;
                lost.push((name.clone(), "its last records did not arrive".to_owned()));
                continue;
            }
            let Some(stall) = &mut agent.stalled else { continue };
            let since = stall.since.elapsed();
            restore |= since > patience.report;
            if since > patience.report && !std::mem::replace(&mut stall.reported, true) {
                let left = patience.give_up.saturating_sub(since).as_secs();
                lines.push(format!(
                    "agent {name}: its records do not arrive: {}; it is given up in {left} s",
                    stall.why()
                ));
            }
            if since > patience.give_up || (interrupted && since > patience.report) {
                agent.given_up = true;
                lost.push((name.clone(), stall.why().to_owned()));
            }
        }
        lines.iter().for_each(|line| self.fleet.watch.report(line));
        for (name, why) in lost {
            let line = format!("{why}{}", self.where_records_are());
            self.collected.lost.insert(name, line);
        }
        if restore {
            self.restore();
        }
    }

    /// Creates what the transport lacks, at intervals. Records are then read from the first one on.
    fn restore(&mut self) {
        let interval = self.fleet.patience.report;
        if self.restored.is_some_and(|last| last.elapsed() < interval) {
            return;
        }
        self.restored = Some(Instant::now());
        let Ok(note) = serde_json::to_vec(self.note) else { return };
        let side = self.fleet.side.as_ref();
        // If it can't be done now, the next attempt may succeed.
        if side.restore().and_then(|()| side.keep_note(&self.note.load, &note)).is_ok() {
            self.reread = true;
        }
    }
}

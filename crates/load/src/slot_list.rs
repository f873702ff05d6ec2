//! Doubly linked lists over slot numbers: the order of things that come and go in constant time,
//! without an allocation for each.

/// No slot.
const NONE: u32 = u32::MAX;

/// The links of all slots. A slot is in at most one of the lists that share these links.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotLinks(Vec<SlotLink>);

#[derive(Clone, Copy, Debug)]
struct SlotLink {
    before: u32,
    after: u32,
}

/// One list, oldest entry first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotList {
    head: u32,
    tail: u32,
}

impl Default for SlotList {
    fn default() -> Self {
        SlotList { head: NONE, tail: NONE }
    }
}

impl SlotLinks {
    /// Makes room for all slots below `slots`.
    pub(crate) fn grow(&mut self, slots: usize) {
        if self.0.len() < slots {
            self.0.resize(slots, SlotLink { before: NONE, after: NONE });
        }
    }
}

impl SlotList {
    /// Returns the entry that was pushed first.
    pub(crate) fn oldest(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// Returns the entry that was pushed last.
    pub(crate) fn newest(&self) -> Option<u32> {
        (self.tail != NONE).then_some(self.tail)
    }

    /// Returns the entry that was pushed after `slot`, which is in this list.
    pub(crate) fn after(&self, links: &SlotLinks, slot: u32) -> Option<u32> {
        let after = links.0[slot as usize].after;
        (after != NONE).then_some(after)
    }

    /// Adds a slot that is in no list.
    pub(crate) fn push(&mut self, links: &mut SlotLinks, slot: u32) {
        links.0[slot as usize] = SlotLink { before: self.tail, after: NONE };
        match self.tail {
            NONE => self.head = slot,
            tail => links.0[tail as usize].after = slot,
        }
        self.tail = slot;
    }

    /// Removes a slot that is in this list.
    pub(crate) fn remove(&mut self, links: &mut SlotLinks, slot: u32) {
        let SlotLink { before, after } = links.0[slot as usize];
        match before {
            NONE => self.head = after,
            before => links.0[before as usize].after = after,
        }
        match after {
            NONE => self.tail = before,
            after => links.0[after as usize].before = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_the_remaining_slots_after_removals() {
        let (mut links, mut list) = (SlotLinks::default(), SlotList::default());
        links.grow(5);
        (0..5).for_each(|slot| list.push(&mut links, slot));
        for gone in [2, 0, 4] {
            list.remove(&mut links, gone);
        }
        assert_eq!((list.oldest(), list.newest()), (Some(1), Some(3)));
        assert_eq!([list.after(&links, 1), list.after(&links, 3)], [Some(3), None]);
        list.push(&mut links, 0);
        list.remove(&mut links, 1);
        list.remove(&mut links, 3);
        assert_eq!((list.oldest(), list.newest()), (Some(0), Some(0)));
        list.remove(&mut links, 0);
        assert_eq!((list.oldest(), list.newest()), (None, None));
    }
}

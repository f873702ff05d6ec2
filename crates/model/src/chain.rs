//! Doubly linked lists over slot numbers: the order of things that come and go in constant time,
//! without an allocation for each.

/// No slot.
const NONE: u32 = u32::MAX;

/// The links of all slots. A slot is in at most one of the chains that share these links.
#[derive(Clone, Debug, Default)]
pub struct Links(Vec<ChainLink>);

#[derive(Clone, Copy, Debug)]
struct ChainLink {
    before: u32,
    after: u32,
}

/// One list, oldest entry first.
#[derive(Clone, Copy, Debug)]
pub struct RedirectChain {
    head: u32,
    tail: u32,
}

impl Default for RedirectChain {
    fn default() -> Self {
        RedirectChain { head: NONE, tail: NONE }
    }
}

impl Links {
    /// Makes room for slots below `slots`.
    pub fn grow(&mut self, slots: usize) {
        if self.0.len() < slots {
            self.0.resize(slots, ChainLink { before: NONE, after: NONE });
        }
    }
}

impl RedirectChain {
    /// The entry that was pushed first.
    pub fn oldest(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// The entry that was pushed last.
    pub fn newest(&self) -> Option<u32> {
        (self.tail != NONE).then_some(self.tail)
    }

    /// The entry that was pushed after `slot`, which is in this chain.
    pub fn after(&self, links: &Links, slot: u32) -> Option<u32> {
        let after = links.0[slot as usize].after;
        (after != NONE).then_some(after)
    }

    /// Adds a slot that is in no chain.
    pub fn push(&mut self, links: &mut Links, slot: u32) {
        links.0[slot as usize] = ChainLink { before: self.tail, after: NONE };
        match self.tail {
            NONE => self.head = slot,
            tail => links.0[tail as usize].after = slot,
        }
        self.tail = slot;
    }

    /// Takes out a slot that is in this chain.
    pub fn remove(&mut self, links: &mut Links, slot: u32) {
        let ChainLink { before, after } = links.0[slot as usize];
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
    fn a_chain_keeps_the_order_of_what_is_left_in_it() {
        let (mut links, mut chain) = (Links::default(), RedirectChain::default());
        links.grow(5);
        (0..5).for_each(|slot| chain.push(&mut links, slot));
        for gone in [2, 0, 4] {
            chain.remove(&mut links, gone);
        }
        assert_eq!((chain.oldest(), chain.newest()), (Some(1), Some(3)));
        assert_eq!([chain.after(&links, 1), chain.after(&links, 3)], [Some(3), None]);
        chain.push(&mut links, 0);
        chain.remove(&mut links, 1);
        chain.remove(&mut links, 3);
        assert_eq!((chain.oldest(), chain.newest()), (Some(0), Some(0)));
        chain.remove(&mut links, 0);
        assert_eq!((chain.oldest(), chain.newest()), (None, None));
    }
}

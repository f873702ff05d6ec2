//! What the user has chosen to see.

use crate::ViewKey;

/// Whether a view uses colours. Emphasis by bold text is used in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewColour {
    /// The terminal's own sixteen colours, which its user has chosen to be legible.
    #[default]
    On,
    /// No colour (NO_COLOR, see no-color.org).
    Off,
}

/// What the user has chosen to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// The number of the page, which is taken modulo the number of pages.
    pub page: usize,
    /// Whether the list of keys is shown.
    pub help: bool,
    /// Whether the command can pause.
    pub can_pause: bool,
    /// Whether a pause was asked for.
    pub paused: bool,
    /// Whether the end was asked for.
    pub ending: bool,
    /// Whether colours are used.
    pub colour: ViewColour,
}

impl ViewState {
    /// Acts on a key.
    pub fn press(&mut self, key: ViewKey) {
        match key {
            ViewKey::Quit => self.ending = true,
            ViewKey::Pause => self.paused = self.can_pause && !self.paused,
            ViewKey::Page => self.page = self.page.wrapping_add(1),
            ViewKey::Help => self.help = !self.help,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_only_a_view_that_can_pause() {
        let mut state = ViewState::default();
        state.press(ViewKey::Pause);
        assert!(!state.paused);
        state.can_pause = true;
        state.press(ViewKey::Pause);
        assert!(state.paused);
        state.press(ViewKey::Pause);
        state.press(ViewKey::Quit);
        assert!(!state.paused && state.ending);
    }
}

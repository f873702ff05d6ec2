//! Files of labs: what is wrong with them, what is drawn of them. No lab is built.

mod mistakes;
mod page;

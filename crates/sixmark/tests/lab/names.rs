//! Look-ups of names, each family by itself, beside a name server that answers as it is told.

use std::path::Path;

use sixmark_testkit::{lookups, skipped};

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_sixmark"))
}

#[test]
fn a_family_whose_look_up_fails_is_not_taken_for_absent() {
    if skipped("netns") {
        return;
    }
    lookups::check_each_answer(program());
}

#[test]
fn the_headline_says_that_a_family_is_missing() {
    if skipped("netns") {
        return;
    }
    lookups::check_screen(program());
}

#[test]
fn a_dead_name_server_and_a_search_list_change_no_answer() {
    if skipped("netns") {
        return;
    }
    lookups::check_resolver_files(program());
}

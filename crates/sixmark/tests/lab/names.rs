//! Look-ups of names, each family by itself, beside a name server that answers as it is told.

use std::path::Path;

use sixmark_testkit::{lookups, skipped};

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_sixmark"))
}

#[test]
fn distinguishes_a_failed_lookup_from_an_absent_family() {
    if skipped("netns") {
        return;
    }
    lookups::check_each_answer(program());
}

#[test]
fn the_screen_says_why_a_family_was_not_measured() {
    if skipped("netns") {
        return;
    }
    lookups::check_screen(program());
}

#[test]
fn resolves_with_dead_name_servers_search_lists_and_etc_hosts() {
    if skipped("netns") {
        return;
    }
    lookups::check_resolver_files(program());
}

//! The live view, on a terminal.

use std::thread::sleep;
use std::time::Duration;

use sixmark_live::ViewColour;
use sixmark_live::engine::{LiveScreen, ViewRequests};
use sixmark_sheet::board::Board;
use sixmark_testkit::{Origin, TestScreen, skipped};

/// A server, and the line that loads it with these options.
fn run(options: &str) -> (Origin, String) {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1000");
    let line = format!("sixmark run -c 4 --rate 200/s {options} {v6} {v4}");
    (origin, line)
}

/// Waits until the shell's prompt is at the end of the screen again.
fn prompt(screen: &TestScreen) -> String {
    screen.wait_for("prompt", |text| text.trim_end().ends_with('$'))
}

#[test]
fn shows_both_families_at_every_size_and_q_keeps_the_results() {
    if skipped("tmux") {
        return;
    }
    for (width, height) in [(60, 20), (80, 24), (120, 40), (300, 80)] {
        let (_origin, line) = run("-d 500");
        let screen = TestScreen::start(width, height);
        screen.enter(&line);
        // The line of keys is drawn last.
        let text = screen.wait_for("whole view", |text| {
            text.contains("connections open") && text.contains("q end")
        });
        let lines: Vec<&str> = text.lines().collect();
        // A busy machine has a doubt above the title.
        let top = usize::from(lines[0].starts_with("DOUBTFUL: "));
        assert!(lines[top].starts_with("http://"), "{text}");
        assert!(lines[top + 1].contains("of 500 s"), "{text}");
        for part in ["IPv6", "IPv4", "requests/s", "response median", "response p99", "NORMAL"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(lines[usize::from(height) - 1].starts_with("q end"), "{text}");
        assert_eq!(screen.variable("alternate_on"), "1");
        screen.press("q");
        // On a busy machine the warnings alone fill a small screen.
        assert!(!prompt(&screen).contains("q end"));
        let text = screen.history();
        assert!(text.contains("All phases, connections, TLS, TCP and CPU time"), "{text}");
        assert_eq!(
            (screen.variable("alternate_on"), screen.variable("cursor_flag")),
            ("0".into(), "1".into())
        );
    }
}

#[test]
fn a_view_follows_the_size_of_its_terminal() {
    if skipped("tmux") {
        return;
    }
    let (_origin, line) = run("-d 500");
    let screen = TestScreen::start(80, 24);
    screen.enter(&line);
    screen.wait_for_view(true);
    for (width, height) in [(120, 40), (60, 20), (20, 5), (100, 30)] {
        screen.resize(width, height);
        screen.wait_for("keys in the last line", |text| {
            let lines: Vec<&str> = text.lines().collect();
            lines.len() == usize::from(height)
                && (lines[usize::from(height) - 1].starts_with("q end") || height < 10)
        });
    }
    screen.press("?");
    screen.wait_for("list of keys", |text| text.contains("keep what is measured"));
    screen.press("C-c");
    prompt(&screen);
}

#[test]
fn a_suspended_run_gives_the_terminal_back_and_takes_it_again() {
    if skipped("tmux") {
        return;
    }
    let (_origin, line) = run("-d 500");
    let screen = TestScreen::start(80, 24);
    screen.enter(&line);
    screen.wait_for_view(true);
    screen.press("C-z");
    screen.wait_for("shell", |text| text.contains("Stopped"));
    assert_eq!(screen.variable("alternate_on"), "0");
    screen.enter("echo visible");
    screen.wait_for("echo of what is typed", |text| text.contains("$ echo visible\nvisible"));
    screen.enter("fg");
    screen.wait_for_view(true);
    screen.wait_for("view", |text| text.contains("connections open"));
    screen.enter("q");
    let text = prompt(&screen);
    assert_eq!(screen.variable("alternate_on"), "0", "{text}");
}

#[test]
fn a_signal_restores_the_terminal() {
    if skipped("tmux") {
        return;
    }
    for name in ["TERM", "INT", "HUP"] {
        let (_origin, line) = run("-d 500");
        let screen = TestScreen::start(100, 30);
        screen.enter(&line);
        screen.wait_for_view(true);
        let shell = screen.variable("pane_pid");
        let mut kill = std::process::Command::new("pkill");
        kill.args([&format!("-{name}"), "-P", &shell]);
        assert!(kill.status().unwrap().success());
        let text = prompt(&screen);
        assert_eq!(screen.variable("alternate_on"), "0", "{name}: {text}");
        screen.enter("echo status $?");
        screen.wait_for("status", |text| text.contains("\nstatus 130"));
    }
}

#[test]
#[ignore = "the next one runs it, on a terminal"]
fn show_a_view_and_panic() {
    let screen = LiveScreen::open(ViewRequests::default(), ViewColour::On).unwrap();
    screen.show(Board { title: "a view".to_owned(), ..Board::default() });
    // The view is drawn by then, or the panic comes before: the terminal must be whole in both cases.
    sleep(Duration::from_millis(600));
    panic!("this is a test of panics");
}

#[test]
fn a_panic_restores_the_terminal_before_its_message() {
    if skipped("tmux") {
        return;
    }
    let screen = TestScreen::start(80, 24);
    let tests = std::env::current_exe().unwrap();
    let test = "view::show_a_view_and_panic";
    screen.enter(&format!("{} --ignored --exact {test} --nocapture", tests.display()));
    let text = screen.wait_for("message", |text| text.contains("this is a test of panics"));
    assert!(text.contains("panicked at"), "{text}");
    prompt(&screen);
    assert_eq!(
        (screen.variable("alternate_on"), screen.variable("cursor_flag")),
        ("0".into(), "1".into())
    );
    screen.enter("echo visible");
    screen.wait_for("echo of what is typed", |text| text.contains("$ echo visible\nvisible"));
}

#[test]
fn a_run_in_the_background_leaves_the_terminal_alone() {
    if skipped("tmux") {
        return;
    }
    let (_origin, line) = run("-d 2s");
    let screen = TestScreen::start(100, 40);
    screen.enter(&format!("{line} > out.txt & wait; echo over"));
    screen.wait_for("end", |text| text.contains("\nover"));
    assert_eq!(screen.variable("alternate_on"), "0");
}

#[test]
fn a_search_shows_its_bracket_and_keeps_its_trials() {
    if skipped("tmux") {
        return;
    }
    let (_origin, line) = run("--find-max 'response.p99 < 1m' -d 1s");
    let screen = TestScreen::start(100, 30);
    screen.enter(&line);
    let text = screen.wait_for("second trial", |text| text.contains("trial 3: "));
    assert!(text.contains("highest rate with response.p99 < 1m"), "{text}");
    let text = screen.wait_for("bracket", |text| text.contains("IPv6  800/s for 1 s held"));
    assert!(text.contains("highest rate that held") && text.contains("lowest that did not"));
    screen.press("q");
    let text = prompt(&screen);
    assert!(text.contains("IPv6 held") || text.contains("no higher rate was tested"), "{text}");
}

/// The processes of a study with a lab have a process group of their own, which is in the background
/// until it takes the terminal.
#[test]
fn a_lab_study_shows_the_view_and_handles_its_keys() {
    if skipped("tmux") || skipped("netns") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let screen = TestScreen::start(100, 30);
    screen.enter(&format!("cd {}", folder.path().display()));
    screen.enter("sixmark study run blackhole --quick --out kept");
    let text = screen.wait_for("cells", |text| text.contains(" of 180 cells"));
    assert!(text.contains("study blackhole") && text.contains("now: "), "{text}");
    // The key that suspends has no effect: the shell's job is outside.
    screen.press("C-z");
    screen.press("q");
    let text = prompt(&screen);
    assert_eq!(screen.variable("alternate_on"), "0", "{text}");
    assert!(text.contains("sixmark: interrupted: "), "{text}");
    screen.enter("stty -a | grep -o 'susp = [^;]*'; echo visible");
    screen.wait_for("settings", |text| text.contains("susp = ^Z\nvisible"));
}

#[test]
fn a_comparison_pauses_between_pairs_and_shows_no_verdict() {
    if skipped("tmux") {
        return;
    }
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1000");
    let screen = TestScreen::start(100, 30);
    screen.enter(&format!("sixmark compare --block 1s --blocks 60 -c 2 --rate 200/s {v6} {v4}"));
    let text = screen.wait_for("effect", |text| text.contains("   1. "));
    assert!(text.contains("effect of each pair") && text.contains("requests/s"), "{text}");
    for word in ["better", "worse", "inconclusive", "equivalent"] {
        assert!(!text.contains(word), "{text}");
    }
    screen.press("p");
    screen.wait_for("pause", |text| text.contains("PAUSED"));
    screen.press("p");
    screen.wait_for("next pair", |text| text.contains("   2. ") && !text.contains("PAUSED"));
    screen.press("q");
    let text = prompt(&screen);
    assert_eq!(screen.variable("alternate_on"), "0", "{text}");
}

#[test]
fn no_color_removes_colour_from_the_view() {
    if skipped("tmux") {
        return;
    }
    let (_origin, line) = run("-d 500");
    let screen = TestScreen::start(80, 24);
    screen.enter(&format!("NO_COLOR=1 {line}"));
    screen.wait_for_view(true);
    let text = screen.coloured_text();
    assert!(!text.contains("\x1b[38;"), "{text:?}");
    screen.press("q");
    prompt(&screen);
    screen.enter(&line);
    screen.wait_for_view(true);
    let text = screen.coloured_text();
    assert!(text.contains("\x1b[38;5;6m") && text.contains("\x1b[38;5;5m"), "{text:?}");
    screen.press("q");
    prompt(&screen);
}

#[test]
fn progress_none_hides_the_view_and_live_needs_a_large_terminal() {
    if skipped("tmux") {
        return;
    }
    let (_origin, line) = run("-d 2s --progress none");
    let screen = TestScreen::start(80, 40);
    screen.enter(&line);
    let text = prompt(&screen);
    assert!(text.contains("requests sent"), "{text}");
    assert_eq!(screen.variable("alternate_on"), "0");
    screen.enter("sixmark run --progress live http://127.0.0.1:1/ 2>&1 | cat");
    screen.wait_for("refusal", |text| text.contains("needs a terminal"));
    screen.resize(50, 12);
    screen.enter("clear; sixmark run --progress live http://127.0.0.1:1/");
    screen.wait_for("refusal", |text| text.contains("needs a terminal"));
}

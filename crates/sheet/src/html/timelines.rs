//! Timelines as drawings: a bar in each row, on a common axis of time.

use maud::{Markup, html};
use sixmark_units::visible::visible;

use super::tables;
use crate::timeline::{
    BarEnd, MarkKind, Timeline, TimelineBar, TimelineMark, TimelineRow, axis_moments,
};
use crate::write::write_time;

/// The least width of a bar, in percent: what takes no time remains visible.
const LEAST: f64 = 0.5;
/// The share of the width at the right that stays free, in percent, for marks at the very end.
const SPARE: f64 = 2.5;

/// Returns timelines that are placed beside one another, with one key for all.
pub(super) fn draw_timelines(all: &[Timeline]) -> Markup {
    html! {
        (draw_key())
        div.timelines { @for one in all { (draw_figure(one)) } }
    }
}

fn draw_figure(of: &Timeline) -> Markup {
    let title = visible(&of.title);
    html! {
        figure.timeline {
            figcaption { (title) }
            @if !of.about.is_empty() { p { (visible(&of.about)) } }
            div.rows aria-hidden="true" {
                @for row in &of.rows { (row_markup(row, of.to_ms)) }
                (draw_axis(of.to_ms))
            }
            details.data {
                summary { "Data" span.hidden { " of " (title) } }
                (tables::table_markup(&of.table(), ""))
            }
        }
    }
}

fn row_markup(row: &TimelineRow, to_ms: f64) -> Markup {
    html! {
        span.label { (visible(&row.label)) }
        svg class={ "line s" (row.side) } width="100%" height="18" {
            @for moment in axis_moments(to_ms) { (draw_upright("grid", share_of_width(moment, to_ms), [0, 18])) }
            @for other in &row.others_ms { (draw_upright("other", share_of_width(*other, to_ms), [2, 16])) }
            @if let Some(bar) = &row.bar { (bar_markup(bar, to_ms)) }
        }
    }
}

fn bar_markup(bar: &TimelineBar, to_ms: f64) -> Markup {
    let [from, to] = [bar.from_ms, bar.to_ms].map(|ms| share_of_width(ms, to_ms));
    let wide = (to - from).max(LEAST);
    let class = match bar.end {
        BarEnd::Reached => "bar",
        BarEnd::Failed => "bar failed",
        BarEnd::GivenUp => "bar given-up",
        BarEnd::Open => "bar open",
    };
    let last = bar.marks.iter().map(|of| of.at_ms).fold(bar.to_ms, f64::max);
    html! {
        rect class=(class) x=(in_percent(from)) y="5" width=(in_percent(wide)) height="8" rx="1" {}
        @if last > bar.to_ms {
            line.after x1=(in_percent(to)) x2=(in_percent(share_of_width(last, to_ms))) y1="9" y2="9" {}
        }
        @if bar.end == BarEnd::Failed { (draw_cross(from + wide)) }
        @for mark in &bar.marks { (mark_markup(*mark, to_ms)) }
    }
}

fn mark_markup(mark: TimelineMark, to_ms: f64) -> Markup {
    let at = share_of_width(mark.at_ms, to_ms);
    match mark.kind {
        MarkKind::Asked => draw_upright("asked", at, [2, 16]),
        MarkKind::Complete => html! { circle.complete cx=(in_percent(at)) cy="9" r="4.5" {} },
    }
}

/// Returns a cross at a share of the width. A path can't have a place in percent, but a drawing within the
/// drawing can.
fn draw_cross(at: f64) -> Markup {
    html! {
        svg.cross x=(in_percent(at)) y="9" overflow="visible" {
            path d="M-4 -5 L4 5 M-4 5 L4 -5" {}
        }
    }
}

fn draw_upright(class: &str, at: f64, [top, bottom]: [u32; 2]) -> Markup {
    html! { line class=(class) x1=(in_percent(at)) x2=(in_percent(at)) y1=(top) y2=(bottom) {} }
}

fn draw_axis(to_ms: f64) -> Markup {
    html! {
        span.label {}
        svg.moments width="100%" height="16" {
            @for moment in axis_moments(to_ms) {
                @let at = share_of_width(moment, to_ms);
                // What is in the middle of a label at an edge would be cut off.
                @let anchor = if at <= 0.0 { "start" } else if at > 92.0 { "end" } else { "middle" };
                text x=(in_percent(at)) y="12" text-anchor=(anchor) { (moment_text(moment)) }
            }
        }
    }
}

fn moment_text(ms: f64) -> String {
    match ms {
        0.0 => "0".to_owned(),
        of if of >= 1e3 => format!("{} s", of / 1e3),
        of if of >= 1.0 => format!("{of} ms"),
        of => write_time(of * 1e3),
    }
}

/// Returns the key of what timelines have in common.
fn draw_key() -> Markup {
    let entry = |drawing: Markup, words: &str| {
        html! { span.entry { svg.line.s4 width="26" height="18" aria-hidden="true" { (drawing) } (words) } }
    };
    let bar = |end: BarEnd| {
        bar_markup(&TimelineBar { from_ms: 0.0, to_ms: 9.0, end, marks: Vec::new() }, 10.0)
    };
    let mark = |kind: MarkKind| mark_markup(TimelineMark { at_ms: 5.0, kind }, 10.0);
    html! {
        div.timeline-key {
            span class="entry s0" { span.dot aria-hidden="true" {} "IPv6, AAAA" }
            span class="entry s1" { span.dot aria-hidden="true" {} "IPv4, A" }
            (entry(bar(BarEnd::Reached), "until the answer"))
            (entry(bar(BarEnd::Failed), BarEnd::Failed.word()))
            (entry(bar(BarEnd::GivenUp), BarEnd::GivenUp.word()))
            (entry(bar(BarEnd::Open), "no answer, not given up"))
            (entry(mark(MarkKind::Asked), MarkKind::Asked.word()))
            (entry(mark(MarkKind::Complete), MarkKind::Complete.word()))
            (entry(draw_upright("other", 50.0, [2, 16]), "begins of the other starts"))
        }
    }
}

/// Returns the place of a moment, in percent of the width.
fn share_of_width(ms: f64, to_ms: f64) -> f64 {
    let part = if to_ms > 0.0 { ms / to_ms } else { 0.0 };
    (100.0 - SPARE) * if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 }
}

fn in_percent(share: f64) -> String {
    format!("{share:.2}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_a_bar_to_scale_and_its_marks_after_it() {
        let complete = TimelineMark { at_ms: 100.0, kind: MarkKind::Complete };
        let bar =
            TimelineBar { from_ms: 0.0, to_ms: 50.0, end: BarEnd::Failed, marks: vec![complete] };
        let drawn = bar_markup(&bar, 100.0).into_string();
        assert!(drawn.contains(r#"class="bar failed" x="0.00%" y="5" width="48.75%""#), "{drawn}");
        assert!(drawn.contains(r#"<circle class="complete" cx="97.50%""#), "{drawn}");
        assert!(drawn.contains(r#"<svg class="cross" x="48.75%""#), "{drawn}");
    }

    #[test]
    fn foreign_words_are_escaped() {
        let row = TimelineRow { label: "<b>".into(), ..TimelineRow::default() };
        let of = Timeline { title: "<i>".into(), rows: vec![row], ..Timeline::default() };
        let drawn = draw_timelines(&[of]).into_string();
        assert!(!drawn.contains("<b>") && !drawn.contains("<i>"), "{drawn}");
    }
}

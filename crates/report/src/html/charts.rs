//! Charts as HTML: a place to draw in, what to draw, and the table behind it.

use std::fmt::Write as _;

use crate::sheet::chart::{Band, Chart, Mark, Role, Series};

use super::escape::{escape, in_script};
use super::tables;

/// Charts beside one another.
pub(super) fn charts(text: &mut String, charts: &[Chart], id: &mut Ids) {
    let class = if charts.len() == 1 { "charts one" } else { "charts" };
    let _ = writeln!(text, "<div class=\"{class}\">");
    charts.iter().for_each(|chart| figure(text, chart, id.next()));
    text.push_str("</div>\n");
}

/// Numbers for charts, each once on a page.
#[derive(Debug, Default)]
pub(super) struct Ids(usize);

impl Ids {
    /// The first one of a section.
    pub(super) fn of_section(number: usize) -> Ids {
        Ids(number * 1_000)
    }

    fn next(&mut self) -> usize {
        self.0 += 1;
        self.0
    }
}

fn figure(text: &mut String, chart: &Chart, id: usize) {
    let (title, about) = (escape(&chart.title), escape(&chart.about));
    // A number that JSON can't hold becomes null, and nothing else can fail.
    let json = serde_json::to_string(chart).unwrap_or_default();
    let _ = write!(
        text,
        "<figure class=\"chart\" id=\"chart-{id}\">\n<figcaption>{title}</figcaption>\n\
         <div class=\"key\"><output class=\"at\" aria-hidden=\"true\"></output>"
    );
    for (at, series) in chart.series.iter().enumerate() {
        button(text, series, at, chart.series.len() > 1);
    }
    chart.bands.iter().for_each(|band| band_key(text, band));
    let _ = write!(
        text,
        "</div>\n<div class=\"plot\" tabindex=\"0\" role=\"application\" \
         aria-roledescription=\"chart\" aria-label=\"{title}. Arrow keys move along it.\" \
         aria-describedby=\"about-{id}\"></div>\n\
         <div class=\"told hidden\" aria-live=\"polite\"></div>\n\
         <p class=\"hidden\" id=\"about-{id}\">{about}</p>\n\
         <details class=\"data\"><summary>Data<span class=\"hidden\"> of {title}</span></summary>\n"
    );
    tables::table(text, &chart.table);
    let _ = writeln!(
        text,
        "</details>\n<script type=\"application/json\">{}</script>\n</figure>",
        in_script(&json)
    );
}

/// A key to a series, which also shows and hides it where there are others.
fn button(text: &mut String, series: &Series, at: usize, others: bool) {
    let (name, swatch) = (escape(&series.name), swatch(series));
    let _ = match others {
        true => write!(
            text,
            "<button type=\"button\" class=\"s{}\" data-series=\"{at}\" aria-pressed=\"true\">\
             {swatch}<span>{name}</span> <output aria-hidden=\"true\"></output></button>",
            series.side % SIDES
        ),
        false => write!(
            text,
            "<span class=\"entry s{}\" data-series=\"{at}\">{swatch}<span>{name}</span> \
             <output aria-hidden=\"true\"></output></span>",
            series.side % SIDES
        ),
    };
}

/// As the script draws them.
const MARKERS: [&str; 4] = [
    "<circle cx=\"13\" cy=\"6\" r=\"3.2\"/>",
    "<rect x=\"10\" y=\"3\" width=\"6\" height=\"6\"/>",
    "<path d=\"M13 2 L17 9.5 L9 9.5 Z\"/>",
    "<path d=\"M13 1.5 L17 6 L13 10.5 L9 6 Z\"/>",
];

/// Colours that there are.
const SIDES: usize = 8;

fn swatch(series: &Series) -> String {
    let faint = match series.mark {
        Mark::Faint | Mark::FaintPoints => " faint",
        _ => "",
    };
    let line =
        if series.mark == Mark::Dots { "" } else { "<line x1=\"0\" x2=\"26\" y1=\"6\" y2=\"6\"/>" };
    let marker = match (series.mark, series.side) {
        (Mark::Line | Mark::Faint, _) => "",
        (_, side) => MARKERS[side % MARKERS.len()],
    };
    format!(
        "<svg class=\"swatch{faint}\" width=\"26\" height=\"12\" aria-hidden=\"true\">{line}{marker}</svg>"
    )
}

fn band_key(text: &mut String, band: &Band) {
    let role = match band.role {
        Role::Margin => "margin",
        Role::Interval => "interval",
        Role::Floor => "floor",
        Role::Warmup => "warmup",
    };
    let name = escape(&band.name);
    let _ = write!(
        text,
        "<span class=\"entry\"><span class=\"patch {role}\" aria-hidden=\"true\"></span>{name}</span>"
    );
}

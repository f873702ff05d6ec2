//! Charts as HTML: the area to draw in, the data to draw, and the table of the data.

use maud::{Markup, PreEscaped, html};
use sixmark_units::visible::visible;

use crate::chart::{Band, Chart, Mark, Series};

use super::tables;

/// Returns charts that are placed beside one another.
pub(super) fn charts(charts: &[Chart], id: &mut Ids) -> Markup {
    html! {
        div.charts.one[charts.len() == 1] {
            @for chart in charts { (figure(chart, id.next())) }
        }
    }
}

/// Generates chart numbers that are unique within a page.
#[derive(Debug, Default)]
pub(super) struct Ids(usize);

impl Ids {
    /// Creates the generator of section `number`. A section has at most 1,000 charts.
    pub(super) fn of_section(number: usize) -> Ids {
        Ids(number * 1_000)
    }

    fn next(&mut self) -> usize {
        self.0 += 1;
        self.0
    }
}

fn figure(chart: &Chart, id: usize) -> Markup {
    let title = visible(&chart.title);
    // JSON cannot represent a number that is not finite: it becomes null. Nothing else can fail.
    let json = serde_json::to_string(chart).unwrap_or_default();
    html! {
        figure.chart id={ "chart-" (id) } {
            figcaption { (title) }
            div.key {
                output.at aria-hidden="true" {}
                @for (at, series) in chart.series.iter().enumerate() {
                    (key(series, at, chart.series.len() > 1))
                }
                @for band in &chart.bands { (band_key(band)) }
            }
            div.plot tabindex="0" role="application" aria-roledescription="chart"
                aria-label={ (title) ". Arrow keys move along it." }
                aria-describedby={ "about-" (id) } {}
            div.told.hidden aria-live="polite" {}
            p.hidden id={ "about-" (id) } { (visible(&chart.about)) }
            details.data {
                summary { "Data" span.hidden { " of " (title) } }
                (tables::table_markup(&chart.table, ""))
            }
            script type="application/json" { (PreEscaped(in_script(&json))) }
        }
    }
}

/// Returns the legend entry of a series. If the chart has several series, it is a button that shows
/// and hides this one.
fn key(series: &Series, at: usize, others: bool) -> Markup {
    let side = series.side % SIDES;
    let inner = html! {
        (swatch(series)) span { (visible(&series.name)) } " " output aria-hidden="true" {}
    };
    html! {
        @if others {
            button type="button" class={ "s" (side) } data-series=(at) aria-pressed="true" { (inner) }
        } @else {
            span class={ "entry s" (side) } data-series=(at) { (inner) }
        }
    }
}

/// The number of colours for series.
const SIDES: usize = 8;

fn swatch(series: &Series) -> Markup {
    let faint = matches!(series.mark, Mark::Faint | Mark::FaintPoints);
    let hollow = matches!(series.mark, Mark::Hollow | Mark::HollowPoints);
    let lined = !matches!(series.mark, Mark::Dots | Mark::Hollow);
    let marked = !matches!(series.mark, Mark::Line | Mark::Faint | Mark::Steps);
    html! {
        svg.swatch.faint[faint].hollow[hollow] width="26" height="12" aria-hidden="true" {
            @if lined { line x1="0" x2="26" y1="6" y2="6" {} }
            @if marked { (marker(series.side)) }
        }
    }
}

/// Returns the marker of a side, of the same shape as the script draws.
fn marker(side: usize) -> Markup {
    html! {
        @match side % 4 {
            0 => circle cx="13" cy="6" r="3.2" {},
            1 => rect x="10" y="3" width="6" height="6" {},
            2 => path d="M13 2 L17 9.5 L9 9.5 Z" {},
            _ => path d="M13 1.5 L17 6 L13 10.5 L9 6 Z" {},
        }
    }
}

fn band_key(band: &Band) -> Markup {
    html! {
        span.entry {
            span class={ "patch " (band.role.word()) } aria-hidden="true" {}
            (visible(&band.name))
        }
    }
}

/// Escapes JSON for a script element, such that no `<` can end the element or begin a comment.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_data_cannot_end_the_script() {
        let json = in_script(&serde_json::to_string("</script><!--").unwrap());
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "</script><!--");
    }
}

//! A report in a browser, and what has to hold of it.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::driver::Browser;

/// A desktop's window.
const WIDE: [u32; 2] = [1200, 900];
/// A small phone's.
const NARROW: [u32; 2] = [360, 780];

/// Charts that have a place: those in closed folds have none.
const CHARTS: &str = "[...document.querySelectorAll('figure.chart')]\
     .filter((f) => f.querySelector('.plot').checkVisibility())";

/// A report that was opened.
pub(super) struct Page<'a> {
    browser: &'a Browser,
    file: PathBuf,
}

impl<'a> Page<'a> {
    pub(super) fn open(browser: &'a Browser, file: &Path) -> Page<'a> {
        let page = Page { browser, file: file.to_owned() };
        page.wide();
        browser.say("url", &json!({"url": format!("file://{}", file.display())}));
        page
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// A number that an expression has.
    pub(super) fn number(&self, expression: &str) -> f64 {
        self.value(expression).as_f64().unwrap_or_else(|| panic!("{expression} is no number"))
    }

    /// A text that an expression has.
    pub(super) fn text(&self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// What a script gives to the function that is its last argument.
    pub(super) fn script_async(&self, text: &str) -> Value {
        self.browser.say("execute/async", &json!({"script": text, "args": []}))
    }

    fn value(&self, expression: &str) -> Value {
        self.browser.script(&format!("return {expression}"))
    }

    /// Nothing was said on the console, errors or otherwise.
    pub(super) fn assert_quiet(&self) {
        let said = self.browser.say("se/log", &json!({"type": "browser"}));
        assert_eq!(said, json!([]), "{}", self.file.display());
    }

    /// Every chart that has a place has a canvas with something of several colours on it.
    pub(super) fn assert_drawn(&self) {
        let drawn = self.value(&format!(
            "{CHARTS}.map((figure) => {{
                const canvas = figure.querySelector('canvas');
                if (!canvas || !canvas.width || !canvas.height) return [figure.id, 0];
                const {{ data }} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                const colours = new Set(new Uint32Array(data.buffer));
                return [figure.id, colours.size];
            }})"
        ));
        let drawn = drawn.as_array().unwrap();
        assert!(!drawn.is_empty(), "{}: no charts", self.file.display());
        for chart in drawn {
            assert!(chart[1].as_u64().unwrap() > 4, "{}: {chart} is blank", self.file.display());
        }
    }

    /// One main heading, no level left out, ids once, heads of tables with their scope, names for
    /// everything that can have the focus.
    pub(super) fn assert_well_formed(&self) {
        let wrong = self.browser.script(
            "const wrong = [];
            const levels = [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((h) => +h.tagName[1]);
            if (levels[0] !== 1 || levels.filter((l) => l === 1).length !== 1) wrong.push('h1');
            levels.forEach((l, i) => { if (i && l > levels[i - 1] + 1) wrong.push(`h${l} after h${levels[i - 1]}`); });
            const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
            if (new Set(ids).size !== ids.length) wrong.push('an id twice');
            if (document.querySelector('th:not([scope])')) wrong.push('th without scope');
            if (document.querySelector('table:not(:has(caption))')) wrong.push('table without caption');
            if (document.querySelector('[tabindex]:not([aria-label])')) wrong.push('focus without name');
            if (!document.documentElement.lang) wrong.push('lang');
            for (const a of document.querySelectorAll('a[href^=\"#\"]'))
                if (!document.getElementById(a.hash.slice(1))) wrong.push(a.hash);
            return wrong;",
        );
        assert_eq!(wrong, json!([]), "{}", self.file.display());
    }

    /// The pointer over a chart brings up a value of the chart's data.
    pub(super) fn assert_hover(&self) {
        self.fold(true);
        for chart in self.charts() {
            let plot = self.browser.script(&format!(
                "const plot = document.querySelector('#{chart} .plot');
                 plot.scrollIntoView({{block: 'center'}});
                 const box = document.querySelector('#{chart} .u-over').getBoundingClientRect();
                 return [box.x + box.width * 0.5, box.y + box.height * 0.5].map(Math.round)"
            ));
            self.browser.say(
                "actions",
                &json!({"actions": [{"type": "pointer", "id": "mouse",
                    "parameters": {"pointerType": "mouse"},
                    "actions": [{"type": "pointerMove", "duration": 0, "x": plot[0], "y": plot[1]}]}]}),
            );
            let shown = self.shown(&chart);
            assert!(
                !shown[0].is_empty() && shown[1..].iter().any(|one| !one.is_empty()),
                "{chart}: {shown:?}"
            );
        }
    }

    /// Home goes to the first point, the right arrow to the next, Escape away; a listener is told.
    pub(super) fn assert_keys(&self) {
        for chart in self.charts() {
            self.browser.script(&format!("document.querySelector('#{chart} .plot').focus()"));
            self.press("\u{e011}");
            let first = self.shown(&chart);
            self.press("\u{e014}");
            let next = self.shown(&chart);
            let told = self.text(&format!("document.querySelector('#{chart} .told').textContent"));
            assert!(!first[0].is_empty() && first != next, "{chart}: {first:?} {next:?}");
            assert!(told.starts_with(&next[0]), "{chart}: {told}");
            self.press("\u{e00c}");
            assert_eq!(self.shown(&chart)[0], "", "{chart}");
        }
    }

    /// A key's button takes a line away and brings it back.
    pub(super) fn assert_toggles(&self) {
        let buttons = self.number("document.querySelectorAll('.key button').length");
        assert!(buttons >= 2.0);
        for pressed in ["false", "true"] {
            self.browser.script("document.querySelector('.key button').click()");
            let now =
                self.text("document.querySelector('.key button').getAttribute('aria-pressed')");
            assert_eq!(now, pressed);
        }
    }

    /// Each number in a chart's table is the chart's own, and no chart is without a table.
    pub(super) fn assert_tables(&self) {
        let wrong = self.browser.script(
            "return [...document.querySelectorAll('figure.chart')].flatMap((figure) => {
                const { x, xs, series } = JSON.parse(figure.querySelector('script').textContent);
                const rows = [...figure.querySelectorAll('.data tbody tr')];
                if (rows.length < 2) return [`${figure.id}: ${rows.length} rows`];
                const known = series.map(({ ys }) => new Set(ys.filter((y) => y !== null)));
                return rows.flatMap((row) => {
                    const cells = [...row.cells].slice(-series.length);
                    return cells.flatMap((cell, i) => {
                        const value = cell.dataset.v;
                        if (value === undefined)
                            return ['', 'none'].includes(cell.textContent) ? [] : [`no value: ${cell.textContent}`];
                        return known[i].has(+value) ? [] : [`${figure.id}: ${cell.textContent} ${value}`];
                    });
                });
            })",
        );
        assert_eq!(wrong, json!([]), "{}", self.file.display());
    }

    /// Nothing is wider than a small phone but what scrolls in its own box.
    pub(super) fn assert_narrow(&self) {
        self.sized(NARROW);
        self.fold(true);
        let [is, may] =
            [self.number("document.scrollingElement.scrollWidth"), self.number("innerWidth")];
        assert!(is <= may, "{}: {is} px on {may}", self.file.display());
        self.fold(false);
    }

    pub(super) fn wide(&self) {
        self.sized(WIDE);
    }

    /// The system's choice makes it dark, and the button light again.
    pub(super) fn assert_dark(&self) {
        let light = self.paper();
        self.scheme("dark");
        let dark = self.paper();
        assert!(dark < 0.2 && light > 0.8, "{}: {light} and {dark}", self.file.display());
        self.browser.script("document.getElementById('theme').click()");
        assert_eq!(self.paper(), light);
        // Light, dark, and the system's again.
        self.browser.script("document.getElementById('theme').click()");
        self.browser.script("document.getElementById('theme').click()");
        assert_eq!(self.paper(), dark);
    }

    pub(super) fn light(&self) {
        self.scheme("light");
    }

    /// It becomes pages, with everything opened for them, and is as it was after.
    pub(super) fn assert_prints(&self, name: &str) {
        let folds = "document.querySelectorAll('details[open]').length";
        let before = self.number(folds);
        let pages = self.browser.own("Page.printToPDF", &json!({"printBackground": true}));
        let bytes = STANDARD.decode(pages["data"].as_str().unwrap()).unwrap();
        assert!(bytes.starts_with(b"%PDF-") && bytes.len() > 20_000, "{} bytes", bytes.len());
        std::fs::write(screenshots().join(name), bytes).unwrap();
        assert_eq!(self.number(folds), before);
    }

    /// Keeps a picture of the whole page.
    pub(super) fn keep(&self, name: &str) {
        let [width, height] =
            ["innerWidth", "document.documentElement.scrollHeight"].map(|what| self.number(what));
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
        let what = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let picture = self.browser.own("Page.captureScreenshot", &what);
        let bytes = STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        std::fs::write(screenshots().join(name), bytes).unwrap();
    }

    fn fold(&self, open: bool) {
        let folds =
            format!("document.querySelectorAll('details').forEach((d) => (d.open = {open}))");
        self.browser.script(&folds);
    }

    fn charts(&self) -> Vec<String> {
        let ids = self.value(&format!("{CHARTS}.map((figure) => figure.id)"));
        ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    /// Where a chart's cursor is, and the values there.
    fn shown(&self, chart: &str) -> Vec<String> {
        let all = self.value(&format!(
            "[...document.querySelectorAll('#{chart} .key output')].map((o) => o.textContent)"
        ));
        all.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    }

    fn press(&self, key: &str) {
        let press =
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})];
        let keys = json!({"actions": [{"type": "key", "id": "keys", "actions": press}]});
        self.browser.say("actions", &keys);
    }

    pub(super) fn sized(&self, [width, height]: [u32; 2]) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.browser.own("Emulation.setDeviceMetricsOverride", &size);
    }

    pub(super) fn scheme(&self, value: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": value}]);
        self.browser.own("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// How light the page's background is, 0 to 1.
    fn paper(&self) -> f64 {
        self.number(
            "(([r, g, b]) => (+r + +g + +b) / 765)(getComputedStyle(document.body).backgroundColor.match(/\\d+/g))",
        )
    }
}

/// Where pictures are kept for people to look at.
fn screenshots() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

use super::*;

#[test]
fn vendored_scripts_and_styles_can_be_embedded_in_a_page() {
    for text in [CHART_SCRIPT, SCRIPT] {
        assert!(!text.contains("</script") && !text.contains("<!--"));
    }
    for text in [CHART_STYLE, STYLE] {
        assert!(!text.contains("</style"));
        assert!(!text.contains("url(") && !text.contains("@import"), "nothing is loaded");
    }
    assert!(CHART_SCRIPT.contains("v1.6.32"));
    assert!(include_str!("vendor/uplot/README.md").contains("# uPlot 1.6.32"));
}

#[test]
fn the_content_security_policy_hashes_the_embedded_script() {
    let text = html_page(&[]);
    let (_, rest) = text.rsplit_once("<script>").unwrap();
    let (script, _) = rest.split_once("</script>").unwrap();
    let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
    assert!(text.contains(&format!("script-src 'sha256-{hash}'")));
    assert_eq!(text.matches("<script>").count(), 1);
}

#[test]
fn a_caption_that_repeats_the_heading_is_not_shown() {
    use crate::table::{Column, Row, Table};
    use crate::{Block, Part, Sheet};
    let table = |caption: &str| {
        Block::Table(Table::new(caption, vec![Column::words("x")], vec![Row::new("y", vec![])]))
    };
    let blocks = vec![
        table("Gates"),
        table("Others"),
        Block::Heading("Sub".to_owned()),
        table("Sub"),
        table("Gates"),
    ];
    let parts = vec![Part::new("Gates", blocks).unwrap()];
    let page = html_page(&[Sheet { parts: parts.clone(), ..Sheet::default() }]);
    let captions: Vec<&str> = page.split("<caption").skip(1).collect();
    let shown: Vec<bool> = captions.iter().map(|of| !of.starts_with(" class=\"hidden\"")).collect();
    assert_eq!(shown, [false, true, false, true]);
    let mut text = String::new();
    crate::terminal::write_part(&mut text, &parts[0]);
    assert!(text.starts_with("\nGATES\nx\ny\n\nOthers\n"), "{text}");
}

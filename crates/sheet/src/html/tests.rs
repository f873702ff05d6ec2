use super::*;

#[test]
fn the_vendored_script_can_stand_in_a_page() {
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
fn the_policy_names_the_script_that_is_there() {
    let text = html_page(&[]);
    let (_, rest) = text.rsplit_once("<script>").unwrap();
    let (script, _) = rest.split_once("</script>").unwrap();
    let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
    assert!(text.contains(&format!("script-src 'sha256-{hash}'")));
    assert_eq!(text.matches("<script>").count(), 1);
}

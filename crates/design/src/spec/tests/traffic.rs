//! Background traffic of a study in a lab.

use super::read;
use crate::study_result::TrafficGenerator;

/// A study with a mix, whose table ends with this line.
fn with_mix(line: &str) -> String {
    format!(
        "name = 'x'\n[lab]\nfile = 'lab.toml'\n[options]\nfrom = 'client'\n[traffic]\n\
         near = {{ ipv6 = 'client', ipv4 = 'client' }}\nfar = {{ ipv6 = 'server', ipv4 = 'server' }}\n\
         [traffic.mixes.busy]\nrate = '1M'\nflows = 4\n{line}\n"
    )
}

#[test]
fn a_mix_is_sent_by_sixmark_unless_it_names_another_generator() {
    for (line, generator) in [
        ("", TrafficGenerator::Sixmark),
        ("generator = 'sixmark'", TrafficGenerator::Sixmark),
        ("generator = 'mgen'", TrafficGenerator::Mgen),
    ] {
        let study = read(&with_mix(line), false).unwrap();
        assert_eq!(study.traffic.unwrap().mixes["busy"].generator, generator, "{line}");
    }
    let wrongs = read(&with_mix("generator = 'iperf'"), false).unwrap_err();
    let named = wrongs.iter().any(|wrong| wrong.to_string().contains("none of: sixmark, mgen"));
    assert!(named, "{wrongs:?}");
}

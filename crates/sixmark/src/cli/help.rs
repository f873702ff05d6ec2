//! Examples in the help of each command, and the choice of options for the short help (`-h`).

use clap::Command;

/// Commands with their examples. The short help shows only the options named here; `--help` shows
/// all.
const EXAMPLES: [CommandExamples; 20] = [
    CommandExamples {
        command: &["run"],
        options: &[
            ("duration", "sixmark run -d 30s https://www.example.net/"),
            ("count", "sixmark run -n 10k https://www.example.net/"),
            ("connections", "sixmark run -c 50 https://www.example.net/"),
            ("rate", "sixmark run --rate 200/s https://www.example.net/"),
            ("ratio", "sixmark run --ratio 4:1 https://www.example.net/"),
            ("find_max", "sixmark run --find-max 'response.p99 < 20ms' https://www.example.net/"),
            ("no_keep_alive", "sixmark run --no-keep-alive https://www.example.net/"),
            ("http2", "sixmark run --http2 --streams 10 https://www.example.net/"),
            ("header", "sixmark run -H 'Accept: text/html' https://www.example.net/"),
            ("html", "sixmark run --html report.html https://www.example.net/"),
        ],
    },
    CommandExamples {
        command: &["compare"],
        options: &[
            ("a", "sixmark compare --a '-6 --http3' --b '-6 --http2' https://www.example.net/"),
            ("block", "sixmark compare --block 2s https://www.example.net/"),
            ("blocks", "sixmark compare --blocks 24 https://www.example.net/"),
            ("margin", "sixmark compare --margin 10% https://www.example.net/"),
            ("metric", "sixmark compare --metric response.p99 https://www.example.net/"),
            ("connections", "sixmark compare -c 4 https://www.example.net/"),
            ("rate", "sixmark compare --rate 100/s https://www.example.net/"),
            ("no_keep_alive", "sixmark compare --no-keep-alive https://www.example.net/"),
            ("fail_if", "sixmark compare --fail-if 'failures > 1%' https://www.example.net/"),
            ("html", "sixmark compare --html report.html https://www.example.net/"),
        ],
    },
    CommandExamples {
        command: &["watch"],
        options: &[
            ("interface", "sixmark watch -i eth0"),
            ("read", "sixmark watch -r capture.pcap"),
            ("port", "sixmark watch -p 443"),
            ("duration", "sixmark watch -d 1m"),
            ("write", "sixmark watch -w capture.pcap -d 10s"),
            ("connections", "sixmark watch --connections connections.csv -d 1m"),
            ("exchanges", "sixmark watch -r capture.pcap --exchanges exchanges.csv"),
            ("in_host", "sixmark watch --in server -d 10s"),
            ("html", "sixmark watch -d 1m --html report.html"),
        ],
    },
    CommandExamples {
        command: &["vitals"],
        options: &[
            ("duration", "sixmark vitals -d 10s"),
            ("interval", "sixmark vitals --interval 1s"),
            ("service", "sixmark vitals --service nginx"),
            ("pid", "sixmark vitals --pid 1"),
            ("prometheus", "sixmark vitals --prometheus 9101"),
            ("csv", "sixmark vitals -d 1m --csv vitals.csv"),
        ],
    },
    CommandExamples {
        command: &["check"],
        options: &[
            ("urls", "sixmark check https://www.example.net/"),
            ("html", "sixmark check --html check.html https://www.example.net/"),
            ("fail_if", "sixmark check --fail-if any https://www.example.net/"),
        ],
    },
    CommandExamples {
        command: &["eyes"],
        options: &[
            ("command", "sixmark eyes -- curl -s -o /dev/null"),
            ("cases", "sixmark eyes --cases dead-ipv6,slow-500 -- wget -q -O /dev/null {url}"),
            ("quick", "sixmark eyes --quick -- curl -s -o /dev/null"),
            ("gate", "sixmark eyes --gate 'attempt_delay < 300ms' -- curl -s -o /dev/null"),
            ("html", "sixmark eyes --html eyes.html -- curl -s -o /dev/null"),
        ],
    },
    CommandExamples {
        command: &["only6"],
        options: &[
            ("client", "sixmark only6 --client 'curl -sSf -o /dev/null'"),
            ("server", "sixmark only6 --server 'python3 -m http.server {port}' --port 8080"),
            ("quick", "sixmark only6 --quick --client 'wget -q -O /dev/null {url}'"),
            ("output", "sixmark only6 --output filed --client 'curl -sSf -o /dev/null'"),
        ],
    },
    CommandExamples { command: &["verify"], options: &[("folder", "sixmark verify filed")] },
    CommandExamples {
        command: &["doctor"],
        options: &[
            ("full", "sixmark doctor --full"),
            ("require", "sixmark doctor --require run,lab"),
            ("json", "sixmark doctor --json doctor.json"),
        ],
    },
    CommandExamples {
        command: &["traffic"],
        options: &[
            ("listen", "sixmark traffic --listen '[::]:5000'"),
            ("to", "sixmark traffic --to server.example.net:5000 --rate 75M"),
            ("rate", "sixmark traffic --to server.example.net:5000 --rate 1G -d 30s"),
            ("flows", "sixmark traffic --to server.example.net:5000 --rate 75M --flows 100"),
            ("ipv6", "sixmark traffic --to server.example.net:5000 --rate 75M --ipv6 80"),
            ("tcp", "sixmark traffic --to server.example.net:5000 --rate 75M --tcp 0"),
            ("duration", "sixmark traffic --to server.example.net:5000 --rate 75M -d 1m"),
        ],
    },
    CommandExamples {
        command: &["origin"],
        options: &[
            ("listen", "sixmark origin --listen '[::]:8080' --listen 0.0.0.0:8080"),
            ("tls", "sixmark origin --tls"),
            ("http3", "sixmark origin --tls --http3"),
            ("turbo", "sixmark origin --turbo"),
        ],
    },
    CommandExamples {
        command: &["study", "run"],
        options: &[
            ("quick", "sixmark study run --quick anma"),
            ("out", "sixmark study run --out results mine.toml"),
            ("resume", "sixmark study run --resume results"),
            ("in_lab", "sixmark study run --in-lab anma"),
            ("server", "sixmark study run apache --server old=/opt/httpd-2.2/bin/httpd"),
            ("target", "sixmark study run mine.toml --target 'http://[2001:db8::1]:80'"),
        ],
    },
    CommandExamples {
        command: &["study", "import"],
        options: &[
            ("at", "sixmark study import results --at system=windows-11,size=1000 wget.log"),
            ("tool", "sixmark study import results --at system=bsd --tool ab ab-1.txt ab-2.txt"),
            ("repetition", "sixmark study import results --at system=bsd --repetition 3 ab-3.txt"),
        ],
    },
    CommandExamples {
        command: &["lab", "up"],
        options: &[
            ("detach", "sixmark lab up --detach lab.toml"),
            ("set", "sixmark lab up --set mtu=1280 lab.toml"),
            ("name", "sixmark lab up --name second lab.toml"),
        ],
    },
    CommandExamples {
        command: &["history"],
        options: &[
            ("since", "sixmark history --since 2d"),
            ("kind", "sixmark history --kind comparison"),
            ("label", "sixmark history --label nightly"),
            ("target", "sixmark history --target example.net"),
            ("limit", "sixmark history --limit 100"),
            ("wide", "sixmark history --wide"),
        ],
    },
    CommandExamples {
        command: &["history", "checks"],
        options: &[
            ("target", "sixmark history checks --target example.net"),
            ("since", "sixmark history checks --since 30d"),
            ("html", "sixmark history checks --target example.net --html checks.html"),
        ],
    },
    CommandExamples {
        command: &["report"],
        options: &[
            ("html", "sixmark report last --html report.html"),
            ("md", "sixmark report --md result.json"),
            ("verdicts", "sixmark report --verdicts ipv6.json ipv4.json"),
            ("text", "sixmark report --text 17"),
            ("csv", "sixmark report --csv before.json after.json"),
            ("prometheus", "sixmark report last --prometheus sixmark.prom"),
        ],
    },
    CommandExamples {
        command: &["agent"],
        options: &[
            (
                "allow",
                "sixmark agent --nats tls://nats.example.net --creds paris.creds --allow \
                 2001:db8::/32",
            ),
            ("cores", "sixmark agent --cores 2 --nats nats://[::1] --creds paris.creds"),
        ],
    },
    CommandExamples {
        command: &["fleet", "init"],
        options: &[
            ("names", "sixmark fleet init fleet --server nats.example.net --agents paris,tokyo"),
            ("agents", "sixmark fleet init fleet --server ::1 --agents paris"),
        ],
    },
    CommandExamples { command: &["demo"], options: &[("duration", "sixmark demo -d 10s")] },
];

/// A command, and the options that its short help shows.
struct CommandExamples {
    /// The words of the command after `sixmark`.
    command: &'static [&'static str],
    /// Names of the most used options, each with an example.
    options: &'static [(&'static str, &'static str)],
}

/// Returns the examples of a command, given as its words after `sixmark`.
pub(super) fn examples_of(command: &[&str]) -> Vec<&'static str> {
    let found = EXAMPLES.iter().find(|of| of.command == command);
    found.into_iter().flat_map(|of| of.options).map(|(_, line)| *line).collect()
}

/// How many options a command's help shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HelpLength {
    /// Only those with an example (`-h`).
    Short,
    /// All (`--help`).
    Whole,
}

/// Adds the examples, and hides the options without one from the short help. clap could hide them
/// itself, but would then write an empty line after each option in `--help`, which doubles its
/// length.
pub(super) fn add_examples(command: Command, length: HelpLength) -> Command {
    EXAMPLES.iter().fold(command, |command, of| add_at(command, of.command, of, length))
}

fn add_at(command: Command, path: &[&str], of: &CommandExamples, length: HelpLength) -> Command {
    match path {
        [] => with_examples(command, of, length),
        [first, rest @ ..] => {
            let name = (*first).to_owned();
            command.mut_subcommand(name, |inner| add_at(inner, rest, of, length))
        }
    }
}

fn with_examples(command: Command, of: &CommandExamples, length: HelpLength) -> Command {
    let lines: String = of.options.iter().map(|(_, line)| format!("  {line}\n")).collect();
    let command = command.before_help(format!("Examples:\n{lines}"));
    let options = command.get_arguments().filter(|arg| !arg.is_positional()).count();
    if length == HelpLength::Whole || options <= of.options.len() {
        return command;
    }
    let has_example = |id: &str| of.options.iter().any(|(option, _)| *option == id);
    let words = of.command.join(" ");
    command
        .mut_args(|arg| {
            let hidden = !arg.is_positional() && !has_example(arg.get_id().as_str());
            arg.hide(hidden)
        })
        .after_help(format!("All options: sixmark {words} --help"))
}

#[cfg(test)]
mod tests {
    use clap::parser::ValueSource;

    use super::{EXAMPLES, HelpLength};

    #[test]
    fn every_example_parses_and_sets_the_option_it_illustrates() {
        for of in &EXAMPLES {
            for (option, line) in of.options {
                let words = shlex::split(line).unwrap();
                let parsed =
                    super::super::whole_command(HelpLength::Whole).try_get_matches_from(&words);
                let matches = parsed.unwrap_or_else(|error| panic!("{line}: {error}"));
                let mut of_command = &matches;
                for name in of.command {
                    of_command = of_command.subcommand_matches(name).unwrap();
                }
                let source = of_command
                    .try_contains_id(option)
                    .is_ok()
                    .then(|| of_command.value_source(option))
                    .flatten();
                assert_eq!(source, Some(ValueSource::CommandLine), "{option}: {line}");
            }
        }
    }
}

//! What the two sides are: the values of `--a` and `--b`, else the families, else two URLs.

use super::args::CompareArgs;
use sixmark_options::draft::{OnlyFamily, only_family};
use sixmark_sys::command_error::CommandError;

/// One of the two sides, as typed.
pub(super) struct Asked<'a> {
    /// `--a` or `--b`; `side A` or `side B` if two URLs are the sides.
    pub(super) place: &'static str,
    /// The side's options or its URL.
    pub(super) text: &'a str,
    /// True if `text` is a URL without options.
    pub(super) is_url: bool,
    /// The side's name in reports, if one was given.
    pub(super) name: Option<&'a str>,
}

/// Returns both sides. If neither is named, and only one family was asked for (-6, -4) or found for
/// the URLs, the families can't be the sides: two URLs are.
///
/// # Errors
/// There is only one family and not exactly two URLs, or a name can't be looked up.
pub(super) fn sides_asked(args: &CompareArgs) -> Result<[Asked<'_>; 2], CommandError> {
    let target = &args.shared.workload.target;
    let named = args.a.is_some() || args.b.is_some() || target.targets.is_some();
    let only = if named { None } else { only_family(target)? };
    let [a, b] = match (only, target.urls.as_slice()) {
        (None, _) => [families_of_side(args, 0), families_of_side(args, 1)],
        (Some(_), [a, b]) => [("side A", a.as_str(), true), ("side B", b.as_str(), true)],
        (Some(only), urls) => return Err(one_family(&only, urls)),
    };
    let asked = |(place, text, is_url), name| Asked { place, text, is_url, name };
    Ok([asked(a, args.name_a.as_deref()), asked(b, args.name_b.as_deref())])
}

/// Returns the value of `--a` or `--b`, or else its default family.
fn families_of_side(args: &CompareArgs, side: usize) -> (&'static str, &str, bool) {
    let (option, said, usual) = [("--a", &args.a, "ipv6"), ("--b", &args.b, "ipv4")][side];
    (option, said.as_deref().unwrap_or(usual), false)
}

/// Returns why the families can't be compared: a look-up found that there is no address of one of
/// them, or the command does not ask for it.
fn one_family(only: &OnlyFamily, urls: &[String]) -> CommandError {
    let (family, other) = (only.family, only.family.other());
    match (&only.absence, urls) {
        (Some(absence), _) => CommandError::Measure(format!(
            "{absence}: over {family} alone there is no second side; give two URLs, name the sides \
             (--a, --b), or add an {other} address (--resolve)"
        )),
        (None, [url]) => CommandError::Usage(format!(
            "{url} over {family} alone has no second side; give a second URL, name the sides (--a, \
             --b), or add an {other} address (--resolve)"
        )),
        (None, _) => CommandError::Usage(format!(
            "{} URLs over {family} alone don't make two sides; give two URLs, or name the sides \
             with --a and --b",
            urls.len()
        )),
    }
}

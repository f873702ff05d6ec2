//! The cell that an imported file belongs to: a level of each factor of the study.

use sixmark_clients::client::Client;
use sixmark_clients::import::ToolOutput;
use sixmark_design::spec::published::family_name;
use sixmark_design::spec::{FAMILY, Factor, Study, is_level_name};
use sixmark_design::study_result::At;
use sixmark_units::family::Family;

/// The factor whose levels are clients.
const CLIENT: &str = "client";

/// Where the figures of an imported file belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportPlace {
    /// A level of each factor, in the order of the factors.
    pub levels: Vec<At>,
    /// The family of the figures.
    pub family: Family,
}

/// Parses levels as `--at` has them: `system=windows-11,size=1000`.
///
/// # Errors
/// Returns a message if a part is not `FACTOR=LEVEL`.
pub fn parse_levels(text: &str) -> Result<Vec<At>, String> {
    let level = |part: &str| match part.split_once('=') {
        Some((factor, level)) if !factor.trim().is_empty() && is_level_name(level.trim()) => {
            Ok(At { factor: factor.trim().to_owned(), level: level.trim().to_owned() })
        }
        _ => Err(format!("'{part}' is not FACTOR=LEVEL")),
    };
    text.split(',').map(level).collect()
}

/// Finds the place of a file's figures. `given` are the levels that the user named. `study` is the
/// study of the file: levels that were imported before are not among its own.
///
/// # Errors
/// Returns a message of one line if a level is missing or impossible.
pub fn find_place(study: &Study, given: &[At], of: &ToolOutput) -> Result<ImportPlace, String> {
    check_factors(study, given)?;
    let family = find_family(study, given, of)?;
    let (mut levels, mut missing) = (Vec::new(), Vec::new());
    for factor in &study.factors {
        let named = level_of(given, &factor.name).map(str::to_owned);
        let known = named.or_else(|| implied(study, factor, of, family));
        match known {
            Some(level) => {
                check_level(study, factor, &level, of)?;
                levels.push(At { factor: factor.name.clone(), level });
            }
            None => missing.push(describe(study, factor)),
        }
    }
    if family.is_none() && !missing.iter().any(|said| said.starts_with(FAMILY)) {
        missing.push(format!("{FAMILY} (ipv6, ipv4)"));
    }
    match family.filter(|_| missing.is_empty()) {
        Some(family) => Ok(ImportPlace { levels, family }),
        None => Err(format!("needs a level of {} (--at FACTOR=LEVEL)", missing.join(" and of "))),
    }
}

/// Returns a factor with its levels, for the message that one is missing.
fn describe(study: &Study, factor: &Factor) -> String {
    if study.imports.as_ref() == Some(&factor.name) {
        return format!("{}, with a name of its own", factor.name);
    }
    let levels: Vec<&str> = factor.levels.iter().map(|level| level.name.as_str()).collect();
    format!("{} ({})", factor.name, levels.join(", "))
}

fn level_of<'a>(given: &'a [At], factor: &str) -> Option<&'a str> {
    given.iter().find(|at| at.factor == factor).map(|at| at.level.as_str())
}

/// Fails if a factor is not one of the study, or is named twice.
fn check_factors(study: &Study, given: &[At]) -> Result<(), String> {
    for (number, at) in given.iter().enumerate() {
        let is_known = at.factor == FAMILY || study.factors.iter().any(|f| f.name == at.factor);
        if !is_known {
            let known: Vec<&str> = study.factors.iter().map(|f| f.name.as_str()).collect();
            let known = known.join(", ");
            return Err(format!("'{}' is not a factor of the study: {known}", at.factor));
        }
        if given[..number].iter().any(|before| before.factor == at.factor) {
            return Err(format!("--at names {} twice", at.factor));
        }
    }
    Ok(())
}

/// Returns the level that follows from the output, or the only one there is.
fn implied(
    study: &Study,
    factor: &Factor,
    of: &ToolOutput,
    family: Option<Family>,
) -> Option<String> {
    if factor.name == FAMILY {
        return family.map(|family| family_name(family).to_owned());
    }
    if study.imports.as_ref() == Some(&factor.name) {
        return None;
    }
    let tool = || factor.levels.iter().find(|level| level.name == of.tool.name());
    let of_tool = Some(()).filter(|()| factor.name == CLIENT).and_then(|()| tool());
    let only = || Some(&factor.levels[..]).filter(|levels| levels.len() == 1)?.first();
    of_tool.or_else(only).map(|level| level.name.clone())
}

/// Returns the family that was named, that of the output, or the only one of the study.
fn find_family(study: &Study, given: &[At], of: &ToolOutput) -> Result<Option<Family>, String> {
    let named = match level_of(given, FAMILY) {
        None => None,
        Some(name) => Some(
            family_named(name)
                .ok_or_else(|| format!("'{name}' is not a level of family; levels: ipv6, ipv4"))?,
        ),
    };
    if let (Some(named), Some(found)) = (named, of.family)
        && named != found
    {
        return Err(format!("has transfers over {found}, but --at says {named}"));
    }
    let only = || match study.factors.iter().find(|factor| factor.name == FAMILY)?.levels.as_slice()
    {
        [level] => family_named(&level.name),
        _ => None,
    };
    Ok(named.or(of.family).or_else(only))
}

fn family_named(name: &str) -> Option<Family> {
    Family::BOTH.into_iter().find(|family| family_name(*family) == name)
}

/// Fails if a level is neither one of the study nor one that an import may add.
fn check_level(study: &Study, factor: &Factor, level: &str, of: &ToolOutput) -> Result<(), String> {
    let is_known = factor.levels.iter().any(|known| known.name == level);
    let name = &factor.name;
    match (study.imports.as_ref() == Some(name), is_known) {
        (true, true) => Err(format!(
            "the study itself measures {name} '{level}': give the imported level another name"
        )),
        (true, false) if !is_level_name(level) => {
            Err(format!("a level of {name} has from 1 to 100 characters, no control characters"))
        }
        (false, false) => {
            let levels: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
            Err(format!("'{level}' is not a level of {name}; levels: {}", levels.join(", ")))
        }
        (false, true) if name == CLIENT => check_client(factor, level, of),
        _ => Ok(()),
    }
}

/// Fails if a level names another client than the tool.
fn check_client(factor: &Factor, level: &str, of: &ToolOutput) -> Result<(), String> {
    let found = factor.levels.iter().find(|known| known.name == level);
    let set = found.and_then(|known| known.settings.iter().find(|set| set.key == CLIENT));
    let client = set.and_then(|set| match &set.value {
        sixmark_clients::setting::SettingValue::Text(text) => Client::named(text),
        _ => None,
    });
    match client.map(Client::name) {
        Some(client) if client != of.tool.name() => {
            Err(format!("is the output of {}, not of the client {client}", of.tool.name()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_clients::import::ImportTool;
    use sixmark_design::form::Form;
    use sixmark_design::spec::{ReadContext, parse_study};

    fn output(tool: ImportTool, family: Option<Family>) -> ToolOutput {
        let figures = [("goodput".to_owned(), 1.0)].into();
        ToolOutput { tool, version: None, family, figures, took_s: 1.0, refused: 0 }
    }

    fn place(
        more: &str,
        at: &str,
        tool: ImportTool,
        family: Option<Family>,
    ) -> Result<String, String> {
        let text = format!("name = 'x'\ntargets = ['http://[::1]', 'http://127.0.0.1']\n{more}");
        let mut context = ReadContext {
            form: Form::default(),
            has_option: &|_| false,
            open: &mut |_| Err("no file".to_owned()),
        };
        let study = parse_study(&text, &mut context).unwrap_or_else(|wrongs| panic!("{wrongs:?}"));
        let at = parse_levels(at)?;
        let found = find_place(&study, &at, &output(tool, family))?;
        let levels = found.levels.iter().map(|at| at.level.as_str());
        Ok(levels.chain([family_name(found.family)]).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn requires_a_known_level_of_every_factor_except_the_import_factor() {
        let text = "imports = 'system'\n[factors]\nclient = ['curl', 'wget']\nsize = [1, 2]\n\
                    family = ['ipv6', 'ipv4']\nsystem = [{ name = 'this machine' }]\n";
        let (wget, six) = (ImportTool::Wget, Some(Family::Ipv6));
        let of = |at: &str, tool, family| place(text, at, tool, family);
        assert_eq!(of("system=w, size=1", wget, six).unwrap(), "wget 1 ipv6 w ipv6");
        let named = of("system=w,size=1,family=ipv4", wget, None);
        assert_eq!(named.unwrap(), "wget 1 ipv4 w ipv4");
        for (at, tool, family, why) in [
            ("size=1", wget, six, "needs a level of system, with a name of its own (--at"),
            ("system=w", wget, None, "of size (1, 2) and of family (ipv6, ipv4)"),
            ("system=w,size=1", ImportTool::Ab, six, "needs a level of client (curl, wget)"),
            ("system=w,size=1,client=curl", wget, six, "output of wget, not of the client curl"),
            ("system=w,size=3", wget, six, "'3' is not a level of size; levels: 1, 2"),
            ("system=this machine,size=1", wget, six, "itself measures system 'this machine'"),
            ("system=w,size=1,family=ipv4", wget, six, "over IPv6, but --at says IPv4"),
            ("system=w,size=1,family=ipx", wget, None, "'ipx' is not a level of family"),
            ("system=w,sise=1", wget, six, "'sise' is not a factor of the study: client, size"),
            ("system=w,system=x", wget, six, "names system twice"),
            ("system", wget, six, "'system' is not FACTOR=LEVEL"),
            ("system=", wget, six, "is not FACTOR=LEVEL"),
        ] {
            let found = of(at, tool, family).unwrap_err();
            assert!(found.contains(why) && !found.contains('\n'), "{at}: {found}");
        }
    }

    #[test]
    fn fills_in_factors_with_one_level_and_the_family_of_the_output() {
        let text = "imports = 'os'\n[factors]\nsize = [7]\nos = [{ name = 'here' }]\n";
        let of = |at: &str, family| place(text, at, ImportTool::Curl, family);
        assert_eq!(of("os=x", Some(Family::Ipv4)).unwrap(), "7 x ipv4");
        assert_eq!(of("os=x,family=ipv6", None).unwrap(), "7 x ipv6");
        assert!(of("os=x", None).unwrap_err().contains("needs a level of family (ipv6, ipv4)"));
    }
}

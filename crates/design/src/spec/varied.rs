//! Parsing of what a study varies, in the requested form.

use super::cell_group::CellGroup;
use super::differences::FormExtent;
use super::factors::{Known, factors, settings};
use super::forms::{Forms, put_factors, put_settings, shorten_factors};
use super::groups::GroupTables;
use super::head::{ReadContext, placeholders};
use super::known_names::KnownNames;
use super::lab::InLab;
use super::traffic::Traffic;
use super::{Factor, Together};
use sixmark_clients::setting::Setting;
use sixmark_document::fields::{FileFields, FileText};
use sixmark_lab::plan::services::Service;

/// The settings and factors of a study.
pub(super) struct Varied {
    pub(super) texts: Vec<String>,
    pub(super) options: Vec<Setting>,
    pub(super) factors: Vec<Factor>,
    /// The factors with the levels of all forms.
    pub(super) long: Vec<Factor>,
    pub(super) together: Vec<Together>,
    /// The groups. Those that only other forms have are without cells.
    pub(super) groups: Vec<CellGroup>,
    /// The settings and factors of the default form.
    pub(super) full: FormExtent,
}

/// Parses the options, factors and groups of a study in the requested form.
pub(super) fn varied<'a>(
    book: &FileText<'_>,
    fields: &mut FileFields<'a>,
    forms: &mut Forms<'a>,
    services: &[Service],
    (lab, traffic): (Option<&InLab>, Option<&Traffic>),
    context: &ReadContext<'_>,
) -> Varied {
    let placeholders = placeholders(fields.text_of_file());
    let only_text = |name: &&String| !(context.has_option)(name);
    let texts = placeholders.iter().filter(only_text).cloned().collect();
    let services = services.iter().map(|service| service.name.clone()).collect();
    let traffic = traffic.map_or(Vec::new(), |t| t.mixes.keys().cloned().collect());
    let known = Known { has_option: context.has_option, services, placeholders, lab, traffic };
    let mut options = settings(fields.table("options"), &known);
    let mut all = factors(fields.table("factors"), &known);
    let full = FormExtent { repetitions: None, options: options.clone(), factors: all.clone() };
    // Without the lab, the hosts that its form names do not exist.
    if context.form.in_lab {
        let (of_options, of_factors) = forms.lab.varied(&known);
        put_settings(&mut options, of_options);
        put_factors(&mut all, of_factors);
    }
    // Other forms are parsed even if they are not requested, so that their mistakes are reported.
    let [longer, shorter] = [&mut forms.full, &mut forms.quick].map(|form| form.varied(&known));
    let mut long = all.clone();
    if context.form.full {
        put_settings(&mut options, longer.0);
        let usual = all.clone();
        put_factors(&mut all, longer.1.clone());
        put_factors(&mut long, longer.1);
        // The short form's groups name levels that the long form may replace.
        lengthen(&mut long, &usual);
    } else {
        lengthen(&mut long, &longer.1);
    }
    lengthen(&mut long, &shorter.1);
    lengthen(&mut long, &full.factors);
    let mut settings_of = fields.tables("settings");
    for form in forms.wanted(context.form) {
        settings_of.append(&mut form.together);
    }
    let together = together(settings_of, &long, &known);
    if context.form.quick {
        put_settings(&mut options, shorter.0);
        shorten_factors(book, &mut all, shorter.1);
    }
    let names = KnownNames::of_factors(&all, &long);
    let groups = groups(fields, forms, &names, context);
    Varied { texts, options, factors: all, long, together, groups, full }
}

/// Parses the groups of the requested form. Those that only other forms have are known too, without
/// cells, so that outputs may name them.
fn groups<'a>(
    fields: &mut FileFields<'a>,
    forms: &mut Forms<'a>,
    names: &KnownNames<'_>,
    context: &ReadContext<'_>,
) -> Vec<CellGroup> {
    let mut all = GroupTables::take(fields);
    for form in forms.wanted(context.form) {
        all.put(std::mem::take(&mut form.groups));
    }
    let mut groups = all.read(names);
    // What is left belongs to forms that are not requested; that of the lab has factors of its own.
    for form in [&mut forms.full, &mut forms.quick] {
        for other in std::mem::take(&mut form.groups).read(names) {
            if !groups.iter().any(|known| known.name == other.name) {
                let none = other.levels.into_iter().map(|(factor, _)| (factor, Vec::new()));
                groups.push(CellGroup { levels: none.collect(), ..other });
            }
        }
    }
    groups
}

/// Parses the settings of combinations of levels: `[[settings]]`.
fn together(tables: Vec<FileFields<'_>>, long: &[Factor], known: &Known<'_>) -> Vec<Together> {
    let names = KnownNames::of_factors(long, long);
    let one = |mut fields: FileFields<'_>| {
        let at = fields.table("where");
        if at.is_none() {
            fields.wrong("say for which levels: where = { FACTOR = \"LEVEL\" }");
        }
        Together { at: names.only(at), settings: settings(Some(fields), known) }
    };
    tables.into_iter().map(one).collect()
}

/// Adds the levels of another form, so that they may be named even if a form omits them.
fn lengthen(long: &mut [Factor], other: &[Factor]) {
    for factor in long {
        let others = other.iter().filter(|other| other.name == factor.name);
        for level in others.flat_map(|other| &other.levels) {
            if !factor.levels.iter().any(|known| known.name == level.name) {
                factor.levels.push(level.clone());
            }
        }
    }
}

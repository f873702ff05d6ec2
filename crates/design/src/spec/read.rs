//! Parsing of a study's file.

use super::around::{Hooks, hooks};
use super::claims::find_wrong_derivations;
use super::differences::{FormExtent, NamedTexts, held_fixed, put_texts};
use super::forms::{Forms, OfLab, StudyForm, amount, form, labs};
use super::head::{ReadContext, StudyHead, read_head};
use super::imports::imports;
use super::instruments::instruments;
use super::lab::InLab;
use super::labels::labels;
use super::outputs::{Outputs, outputs};
use super::published::{self, PublishedFigures};
use super::traffic::{self, Traffic};
use super::varied::{Varied, varied};
use super::{FAMILY, Factor, NamedServers, Study, cells};
use crate::spec::column::LevelFilter;
use crate::spec::known_names::KnownNames;
use sixmark_clients::setting::{Setting, SettingValue};
use sixmark_document::fields::{FileField, FileFields, FileMistake, FileText};
use sixmark_lab::plan::generated::{Generated, generated};
use sixmark_lab::plan::placeholders::known;
use sixmark_lab::plan::services::{Service, Surroundings, services};

/// The names in braces that all hooks may contain, besides those of a cell.
const OF_STUDY: [&str; 2] = ["www", "sixmark"];

/// Parses a study's file.
///
/// # Errors
/// Returns all mistakes in it, in the order of its lines.
pub fn parse_study(text: &str, context: &mut ReadContext<'_>) -> Result<Study, Vec<FileMistake>> {
    let book = FileText::new(text, None);
    let table = book.parse().map_err(|wrong| vec![wrong])?;
    let study = read_whole(&book, FileFields::new(&book, "", 0, table.get_ref()), context);
    match (study, book.into_wrongs()) {
        (Some(study), wrongs) if wrongs.is_empty() => Ok(study),
        (_, wrongs) => Err(wrongs),
    }
}

fn read_whole(
    book: &FileText<'_>,
    mut fields: FileFields<'_>,
    context: &mut ReadContext<'_>,
) -> Option<Study> {
    let head = read_head(&mut fields);
    let StudyGround { lab, made, mut forms, services, traffic } = stage(book, &mut fields, context);
    let published = published(book, &mut fields, context);
    let instruments = instruments(fields.take("instruments"));
    let (takes, repetitions) = amount(book, &head, &mut forms, context.form);
    let named = differences(book, &head, &mut forms, published.is_some(), context);
    let Varied { texts, options, factors, long, together, groups, full } =
        varied(book, &mut fields, &mut forms, &services, (lab.as_ref(), traffic.as_ref()), context);
    let Around { path, targets, on_disk, files, hooks } =
        around(&mut fields, forms.wanted(context.form), (&options, &factors));
    let imports = imports(fields.take("imports"), &factors);
    let open = imports.as_deref();
    let names = KnownNames {
        groups: &groups,
        published: published.as_ref(),
        instruments: &instruments,
        open,
        ..KnownNames::of_factors(&factors, &long)
    };
    let labels = labels(fields.table("labels"), &names, forms.there(), context.form);
    let exclude = exclude(&mut fields, forms.wanted(context.form), &names);
    let outputs = outputs_of(&mut fields, made, &names, context);
    end_fields(fields, services.is_empty() == targets.is_empty());
    let extent = FormExtent { repetitions, options, factors };
    let (description, differences) =
        describe_form(&head, named, (&extent, full), (published.as_ref(), open), context);
    let FormExtent { options, factors, .. } = extent;
    let study = Study {
        form: context.form,
        title: head.title.or_else(|| head.name.clone()).unwrap_or_default(),
        name: head.name?,
        description,
        differences,
        order: head.order,
        repetitions: repetitions?,
        path: path?,
        takes,
        has: forms.there(),
        lab,
        traffic,
        texts,
        targets,
        instruments,
        options,
        factors,
        labels,
        imports,
        together,
        groups,
        exclude,
        services,
        omitted: Vec::new(),
        named: NamedServers::default(),
        on_disk,
        files,
        hooks,
        outputs,
        published,
    };
    Some(checked_if_clean(book, study))
}

/// Checks the study as a whole, unless its parts have mistakes, and returns it.
fn checked_if_clean(book: &FileText<'_>, study: Study) -> Study {
    if book.is_clean() {
        possible(book, &study);
    }
    study
}

/// Parses the outputs. In a lab, those of the form for a lab replace or supplement them.
fn outputs_of(
    fields: &mut FileFields<'_>,
    made: Option<FileFields<'_>>,
    names: &KnownNames<'_>,
    context: &ReadContext<'_>,
) -> Outputs {
    let mut outputs = outputs(fields, names);
    if let Some(made) = made {
        outputs.put(made_in_lab(made, names, context));
    }
    outputs
}

/// The environment of a study: its lab or its own services, its forms and its background traffic.
struct StudyGround<'a> {
    lab: Option<InLab>,
    /// The fields with the outputs of the form for a lab, if the file has this form.
    made: Option<FileFields<'a>>,
    forms: Forms<'a>,
    services: Vec<Service>,
    traffic: Option<Traffic>,
}

fn stage<'a>(
    book: &FileText<'_>,
    fields: &mut FileFields<'a>,
    context: &mut ReadContext<'_>,
) -> StudyGround<'a> {
    let [usual_quick, usual_full] = ["quick", "full"].map(|name| form(fields.table(name)));
    let (lab, of_lab) = labs(book, fields, context, usual_full.there);
    let OfLab { form: lab_form, quick: lab_quick, full: lab_full, made } = of_lab;
    let of = |of_lab: StudyForm<'a>, usual| {
        if context.form.in_lab && of_lab.there { of_lab } else { usual }
    };
    let (quick, full) = (of(lab_quick, usual_quick), of(lab_full, usual_full));
    let of_file = services(fields.table("services"), &Surroundings::default());
    if lab.is_some() && !of_file.is_empty() && !context.form.in_lab {
        fields.wrong("the services of a study in a lab are in the lab's file, each in its host");
    }
    let services = lab.as_ref().map_or(of_file, |lab| lab.lab.services.clone());
    let traffic = fields.table("traffic");
    let traffic = traffic.and_then(|table| traffic::traffic(table, lab.as_ref().map(|l| &l.lab)));
    StudyGround { lab, made, forms: Forms { quick, full, lab: lab_form }, services, traffic }
}

fn exclude<'a>(
    fields: &mut FileFields<'a>,
    forms: Vec<&mut StudyForm<'a>>,
    names: &KnownNames<'_>,
) -> Vec<LevelFilter> {
    let mut tables = fields.tables("exclude");
    forms.into_iter().for_each(|form| tables.append(&mut form.exclude));
    tables.into_iter().map(|fields| names.only(Some(fields))).collect()
}

/// Parses the outputs of the form for a lab. If it is not requested they are skipped, because the
/// cells lack its factors.
fn made_in_lab(
    mut made: FileFields<'_>,
    names: &KnownNames<'_>,
    context: &ReadContext<'_>,
) -> Outputs {
    let found = if context.form.in_lab {
        outputs(&mut made, names)
    } else {
        for name in ["tables", "figures", "comparisons", "claims"] {
            made.take(name);
        }
        Outputs::default()
    };
    made.end();
    found
}

fn end_fields(fields: FileFields<'_>, nowhere: bool) {
    if nowhere {
        fields.wrong("say what to load: [services.NAME], or targets = [\"http://HOST:PORT\"]");
    }
    fields.end();
}

/// Returns the description, and how the study differs from the published one. What its form has less
/// of is one of these differences; without a published study it is at the end of the description.
fn describe_form(
    head: &StudyHead,
    named: NamedTexts,
    (extent, full): (&FormExtent, FormExtent),
    (published, imports): (Option<&PublishedFigures>, Option<&str>),
    context: &ReadContext<'_>,
) -> (String, Vec<String>) {
    let full = FormExtent { repetitions: head.repetitions, ..full };
    let less = context.form.name().and_then(|name| extent.less_than(&full, &name));
    let Some(published) = published else {
        let whole = [Some(head.description.trim().to_owned()), less].into_iter().flatten();
        let whole: Vec<String> = whole.filter(|text| !text.is_empty()).collect();
        return (whole.join("\n"), Vec::new());
    };
    let fixed = held_fixed(published, &full.factors, imports);
    let texts = named.into_iter().map(|(_, text)| text);
    (head.description.clone(), texts.chain(fixed).chain(less).collect())
}

/// Returns the differences from the published study that the file names for the requested form.
fn differences(
    book: &FileText<'_>,
    head: &StudyHead,
    forms: &mut Forms<'_>,
    has_published: bool,
    context: &ReadContext<'_>,
) -> NamedTexts {
    let mut all = head.differences.clone();
    let of_forms = [&forms.lab, &forms.full, &forms.quick].map(|form| &form.differences);
    let has_texts = [&all].into_iter().chain(of_forms).any(|texts| !texts.is_empty());
    if has_texts && !has_published {
        let message = "there is no published study to differ from: published = \"FILE\"";
        book.wrong_line(0, "differences", message);
    }
    for form in forms.wanted(context.form) {
        put_texts(&mut all, std::mem::take(&mut form.differences));
    }
    all
}

/// The path, targets, files and hooks of a study.
struct Around {
    path: Option<String>,
    targets: Vec<String>,
    on_disk: bool,
    files: Vec<Generated>,
    hooks: Hooks,
}

fn around<'a>(
    fields: &mut FileFields<'a>,
    forms: Vec<&mut StudyForm<'a>>,
    (options, factors): (&[Setting], &[Factor]),
) -> Around {
    let names = cell_names(options, factors);
    let of_cell: Vec<&str> = names.iter().map(String::as_str).collect();
    let with: Vec<&str> = of_cell.iter().copied().chain(OF_STUDY).collect();
    let (mut of_files, mut of_hooks) = (fields.tables("files"), fields.table("hooks"));
    for form in forms {
        of_hooks = form.hooks.take().or(of_hooks);
        if !form.files.is_empty() {
            of_files = std::mem::take(&mut form.files);
        }
    }
    Around {
        path: match fields.take("path") {
            Some(field) => path(&field, &of_cell),
            None => Some("/".to_owned()),
        },
        targets: fields.texts("targets"),
        on_disk: fields.take("on-disk").and_then(|field| field.flag()).unwrap_or(false),
        files: generated(of_files, &of_cell),
        hooks: hooks(of_hooks, &with, &OF_STUDY),
    }
}

fn path(field: &FileField<'_>, of_cell: &[&str]) -> Option<String> {
    let path = known(field, of_cell)?;
    let fine = path.starts_with('/') && !path.contains(char::is_whitespace);
    if !fine {
        field.wrong("a path begins with / and contains no blanks");
    }
    fine.then_some(path)
}

fn published(
    book: &FileText<'_>,
    fields: &mut FileFields<'_>,
    context: &mut ReadContext<'_>,
) -> Option<PublishedFigures> {
    let field = fields.take("published")?;
    let file = field.text()?;
    let text = match (context.open)(&file) {
        Ok(text) => text,
        Err(why) => {
            field.wrong(&format!("can't read '{file}': {why}"));
            return None;
        }
    };
    published::parse_published(&text, &file).map_err(|wrongs| book.extend(wrongs)).ok()
}

/// Returns the names that have a value in a cell: its factors, and its settings of one value.
fn cell_names(options: &[Setting], factors: &[Factor]) -> Vec<String> {
    let of_options =
        options.iter().filter(|setting| matches!(setting.value, SettingValue::Text(_)));
    let of_levels = factors.iter().flat_map(|factor| &factor.levels).flat_map(|l| &l.settings);
    let keys = of_options.chain(of_levels).map(|setting| setting.key.clone());
    let mut names: Vec<_> = keys.chain(factors.iter().map(|f| f.name.clone())).collect();
    names.sort();
    names.dedup();
    names
}

/// Checks the study as a whole: factors set different settings, there are cells, not too many, and
/// each is valid.
fn possible(book: &FileText<'_>, study: &Study) {
    for (number, factor) in study.factors.iter().enumerate() {
        if study.factors[..number].iter().any(|before| shares_setting(before, factor)) {
            let message = "sets what another factor sets too: one of them would be lost";
            book.wrong_line(line_of(factor), &format!("factors.{}", factor.name), message);
        }
    }
    match cells::count_cells(study) {
        Ok(0) => book.wrong_line(0, "exclude", "no cells remain"),
        Ok(_) => {
            if let Err((line, message)) = cells::check_cells(study) {
                book.wrong_line(line, "", &message);
            }
        }
        Err(message) => {
            book.wrong_line(study.factors.first().map_or(0, line_of), "factors", &message);
        }
    }
    for (line, message) in find_wrong_derivations(&study.outputs.claims) {
        book.wrong_line(line, "claims.derived_from", &message);
    }
    let option = study.options.iter().find(|option| option.key == FAMILY);
    if let Some(option) = option.filter(|_| study.factors.iter().any(|f| f.name == FAMILY)) {
        book.wrong_line(option.line, "options.family", "family is a factor already");
    }
}

fn line_of(factor: &Factor) -> usize {
    factor.levels.iter().flat_map(|level| &level.settings).map(|s| s.line).next().unwrap_or(0)
}

fn shares_setting(a: &Factor, b: &Factor) -> bool {
    let keys = |factor: &Factor| -> Vec<String> {
        let settings = factor.levels.iter().flat_map(|level| &level.settings);
        settings.map(|setting| setting.key.clone()).collect()
    };
    let of_a = keys(a);
    keys(b).iter().any(|key| of_a.contains(key))
}

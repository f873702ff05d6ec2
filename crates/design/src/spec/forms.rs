//! The forms of a study: the default one, the short one, the long one and the one for a lab.

use std::num::NonZeroU32;
use std::time::Duration;

use super::Factor;
use super::differences::{NamedTexts, named_texts};
use super::factors::{Known, factors, settings};
use super::groups::GroupTables;
use super::head::{ReadContext, StudyHead, read_repetitions};
use super::lab::{InLab, in_lab};
use crate::form::Form;
use sixmark_clients::setting::Setting;
use sixmark_document::fields::{FileFields, FileText};

/// What a form replaces in a study.
#[derive(Default)]
pub(super) struct StudyForm<'a> {
    pub(super) there: bool,
    pub(super) repetitions: Option<NonZeroU32>,
    pub(super) takes: Option<Duration>,
    pub(super) options: Option<FileFields<'a>>,
    pub(super) factors: Option<FileFields<'a>>,
    pub(super) groups: GroupTables<'a>,
    /// Settings of combinations of levels, and combinations that are omitted, besides the study's.
    pub(super) together: Vec<FileFields<'a>>,
    pub(super) exclude: Vec<FileFields<'a>>,
    /// The files and hooks instead of the study's, if there are any.
    pub(super) files: Vec<FileFields<'a>>,
    pub(super) hooks: Option<FileFields<'a>>,
    pub(super) differences: NamedTexts,
}

impl StudyForm<'_> {
    /// Parses its options and factors.
    pub(super) fn varied(&mut self, known: &Known<'_>) -> (Vec<Setting>, Vec<Factor>) {
        (settings(self.options.take(), known), factors(self.factors.take(), known))
    }
}

/// The forms besides the default one.
pub(super) struct Forms<'a> {
    pub(super) quick: StudyForm<'a>,
    pub(super) full: StudyForm<'a>,
    pub(super) lab: StudyForm<'a>,
}

impl<'a> Forms<'a> {
    /// Returns the forms that the file has.
    pub(super) fn there(&self) -> Form {
        Form { quick: self.quick.there, full: self.full.there, in_lab: self.lab.there }
    }

    /// Returns the requested forms in the order in which they are applied.
    pub(super) fn wanted<'b>(&'b mut self, wanted: Form) -> Vec<&'b mut StudyForm<'a>> {
        let all = [
            (wanted.in_lab, &mut self.lab),
            (wanted.full, &mut self.full),
            (wanted.quick, &mut self.quick),
        ];
        all.into_iter().filter(|(wanted, _)| *wanted).map(|(_, form)| form).collect()
    }
}

/// The form for a lab.
#[derive(Default)]
pub(super) struct OfLab<'a> {
    pub(super) form: StudyForm<'a>,
    /// Its own short form.
    pub(super) quick: StudyForm<'a>,
    /// Its own long form.
    pub(super) full: StudyForm<'a>,
    /// The fields with its own outputs, if the file has this form.
    pub(super) made: Option<FileFields<'a>>,
}

/// Returns about how long the study takes and how often each cell is measured, in the requested
/// form. Reports a requested form that the file lacks.
pub(super) fn amount(
    book: &FileText<'_>,
    head: &StudyHead,
    forms: &mut Forms<'_>,
    wanted: Form,
) -> (Option<Duration>, Option<NonZeroU32>) {
    let (mut takes, mut repetitions) = (head.takes, head.repetitions);
    for form in forms.wanted(wanted) {
        (takes, repetitions) = (form.takes.or(takes), form.repetitions.or(repetitions));
    }
    let needs = [
        (wanted.quick, "quick", &forms.quick),
        (wanted.full, "full", &forms.full),
        (wanted.in_lab, "in-lab", &forms.lab),
    ];
    for (wanted, name, form) in needs {
        if wanted && !form.there {
            let message = format!("--{name} needs a table [{name}] in the study's file");
            book.wrong_line(0, name, &message);
        }
    }
    (takes, repetitions)
}

/// Parses the lab of the study, if any, and its form for a lab. Returns the lab of the requested
/// form. A long form that only the form for a lab has requests this form too.
pub(super) fn labs<'a>(
    book: &FileText<'_>,
    fields: &mut FileFields<'a>,
    context: &mut ReadContext<'_>,
    has_full: bool,
) -> (Option<InLab>, OfLab<'a>) {
    let mut always = fields.table("lab");
    let lab = always.as_mut().and_then(|fields| in_lab(book, fields, context.open));
    if let Some(fields) = always {
        fields.end();
    }
    let Some(mut sometimes) = fields.table("in-lab") else { return (lab, OfLab::default()) };
    // The form is parsed even if it is not requested, so that its mistakes are reported.
    let other = in_lab(book, &mut sometimes, context.open);
    let [quick, full] = ["quick", "full"].map(|name| form(sometimes.table(name)));
    context.form.in_lab |= context.form.full && full.there && !has_full;
    let form = form_of(&mut sometimes);
    let of_lab = OfLab { form, quick, full, made: Some(sometimes) };
    (if context.form.in_lab { other } else { lab }, of_lab)
}

/// Parses a form and refuses other keys.
pub(super) fn form(fields: Option<FileFields<'_>>) -> StudyForm<'_> {
    let Some(mut fields) = fields else { return StudyForm::default() };
    let form = form_of(&mut fields);
    fields.end();
    form
}

fn form_of<'a>(fields: &mut FileFields<'a>) -> StudyForm<'a> {
    let repetitions = fields.take("repetitions").and_then(|field| read_repetitions(&field));
    let takes = fields.take("takes").and_then(|field| field.time());
    let [options, factors] = ["options", "factors"].map(|name| fields.table(name));
    let groups = GroupTables::take(fields);
    let [together, exclude, files] =
        ["settings", "exclude", "files"].map(|name| fields.tables(name));
    let hooks = fields.table("hooks");
    let differences = named_texts(fields.table("differences"));
    StudyForm {
        there: true,
        repetitions,
        takes,
        options,
        factors,
        groups,
        together,
        exclude,
        files,
        hooks,
        differences,
    }
}

/// Replaces settings by those of a form with the same keys, and adds the others.
pub(super) fn put_settings(options: &mut Vec<Setting>, others: Vec<Setting>) {
    for setting in others {
        options.retain(|option| option.key != setting.key);
        options.push(setting);
    }
}

/// Replaces factors by those of a form with the same names, and adds the others at the end.
pub(super) fn put_factors(all: &mut Vec<Factor>, others: Vec<Factor>) {
    for factor in others {
        match all.iter_mut().find(|known| known.name == factor.name) {
            Some(known) => *known = factor,
            None => all.push(factor),
        }
    }
}

/// Replaces the levels of factors by those of a form. Reports factors that the study does not have.
pub(super) fn shorten_factors(book: &FileText<'_>, all: &mut [Factor], quick: Vec<Factor>) {
    for factor in quick {
        match all.iter_mut().find(|known| known.name == factor.name) {
            Some(known) => known.levels = factor.levels,
            None => {
                let key = format!("quick.factors.{}", factor.name);
                book.wrong_line(0, &key, "the study has no such factor");
            }
        }
    }
}

//! Which modules a crate has, and which paths each of them names.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::sources::SourceFile;

/// Names below a crate's root.
pub(crate) type ModulePath = Vec<String>;

/// What the files of one crate say of its modules.
#[derive(Default)]
pub(crate) struct Modules {
    /// All of them.
    pub(crate) known: BTreeSet<ModulePath>,
    /// Each path that is named, with the module that names it.
    pub(crate) named: Vec<(ModulePath, ModulePath)>,
    /// What a module offers under a name of its own though it is defined elsewhere.
    offered: BTreeMap<ModulePath, ModulePath>,
}

impl Modules {
    pub(crate) fn of(files: &[SourceFile]) -> Modules {
        let mut modules = Modules::default();
        modules.known.extend(files.iter().map(|file| file.module.clone()));
        for file in files {
            let tokens: TokenStream = file.text.parse().expect("the compiler reads it too");
            modules.read(&file.module, tokens);
        }
        modules
    }

    /// A path as it is where it is defined.
    pub(crate) fn resolve(&self, path: &[String]) -> ModulePath {
        let mut path = path.to_vec();
        // No name is offered under another for so many times.
        for _ in 0..16 {
            let found = (1..=path.len()).rev().find_map(|length| {
                let target = self.offered.get(&path[..length])?;
                Some([target, &path[length..]].concat())
            });
            match found {
                Some(longer) => path = longer,
                None => break,
            }
        }
        path
    }

    fn read(&mut self, module: &[String], tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if is_test_attribute(&tokens[at..]) {
                at = after_item(&tokens, at + 2);
                continue;
            }
            at += match ident(&tokens[at]).as_deref() {
                Some("mod") => self.read_module(module, &tokens[at..]),
                Some("use") => self.read_use(module, &tokens, at),
                Some("crate" | "super" | "self") if is_path(&tokens[at + 1..]) => {
                    let (paths, used) = paths(&tokens[at..]);
                    for Leaf { path, .. } in paths {
                        self.named.extend(absolute(module, &path).map(|to| (module.to_vec(), to)));
                    }
                    used
                }
                _ => {
                    if let TokenTree::Group(group) = &tokens[at] {
                        self.read(module, group.stream());
                    }
                    1
                }
            };
        }
    }

    /// `mod name { ... }`; the number of tokens.
    fn read_module(&mut self, module: &[String], tokens: &[TokenTree]) -> usize {
        let (Some(name), Some(TokenTree::Group(body))) =
            (tokens.get(1).and_then(ident), tokens.get(2))
        else {
            return 1;
        };
        let module = [module, &[name]].concat();
        self.known.insert(module.clone());
        self.read(&module, body.stream());
        3
    }

    /// `use ...;`, `pub use ...;`; the number of tokens.
    fn read_use(&mut self, module: &[String], tokens: &[TokenTree], at: usize) -> usize {
        let (paths, used) = paths(&tokens[at + 1..]);
        let offers = is_public(&tokens[..at]);
        for Leaf { path, name } in paths {
            let relative = [module, &path].concat();
            let child = path.first().map(|name| [module, std::slice::from_ref(name)].concat());
            let inside = child.is_some_and(|child| self.known.contains(&child));
            let Some(to) = absolute(module, &path).or(inside.then_some(relative)) else { continue };
            if offers && let Some(name) = name {
                self.offered.insert([module, &[name]].concat(), to.clone());
            }
            self.named.push((module.to_vec(), to));
        }
        used + 1
    }
}

/// A path from the crate's root; none of one that leads out of the crate.
fn absolute(module: &[String], path: &[String]) -> Option<ModulePath> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let (_, above) = module.split_last()?;
            let more = rest.first().is_some_and(|name| name == "super");
            if more { absolute(above, rest) } else { Some([above, rest].concat()) }
        }
        _ => None,
    }
}

/// One path of a tree such as `a::{b, c::d as e}`.
struct Leaf {
    path: ModulePath,
    /// What it is called where the tree stands.
    name: Option<String>,
}

/// The paths of a tree, and the number of tokens that it takes.
fn paths(tokens: &[TokenTree]) -> (Vec<Leaf>, usize) {
    let (mut path, mut at) = (ModulePath::new(), 0);
    let mut other_name = None;
    while let Some(token) = tokens.get(at) {
        let behind_colon = at > 0 && is_punct(&tokens[at - 1], ':');
        match (token, ident(token)) {
            (TokenTree::Group(group), _)
                if behind_colon && group.delimiter() == Delimiter::Brace =>
            {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let parts = inner.split(|token| is_punct(token, ','));
                let below = parts.filter(|part| !part.is_empty()).flat_map(|part| paths(part).0);
                let whole = |leaf: Leaf| {
                    let path = [path.as_slice(), &leaf.path].concat();
                    // `a::{self}` is `a`.
                    Leaf { name: leaf.name.or(path.last().cloned()), path }
                };
                return (below.map(whole).collect(), at + 1);
            }
            (_, Some(word)) if word == "as" => {
                other_name = tokens.get(at + 1).and_then(ident);
                break;
            }
            (_, Some(word)) if at == 0 || behind_colon => {
                if word != "self" || at == 0 && tokens.len() > 1 {
                    path.push(word);
                }
            }
            (token, _) if is_punct(token, ':') => {}
            _ => break,
        }
        at += 1;
    }
    (vec![Leaf { name: other_name.or(path.last().cloned()), path }], at.max(1))
}

fn is_path(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [first, second, ..] if is_punct(first, ':') && is_punct(second, ':'))
}

fn is_public(before: &[TokenTree]) -> bool {
    match before {
        [.., word] if ident(word).is_some_and(|word| word == "pub") => true,
        [.., word, TokenTree::Group(_)] => ident(word).is_some_and(|word| word == "pub"),
        _ => false,
    }
}

/// `#[cfg(test)]` and `#[cfg(any(test, ...))]`, and what is a test.
pub(crate) fn is_test_attribute(tokens: &[TokenTree]) -> bool {
    let [hash, TokenTree::Group(group), ..] = tokens else { return false };
    let words: Vec<TokenTree> = group.stream().into_iter().collect();
    let first = words.first().and_then(ident);
    is_punct(hash, '#')
        && match (first.as_deref(), words.get(1)) {
            (Some("test"), None) => true,
            (Some("cfg"), Some(TokenTree::Group(condition))) => {
                let condition = condition.stream().to_string();
                condition.contains("test") && !condition.contains("not")
            }
            _ => false,
        }
}

/// Where the item that begins there is over: behind its braces or its semicolon.
pub(crate) fn after_item(tokens: &[TokenTree], from: usize) -> usize {
    let ends = |token: &TokenTree| {
        is_punct(token, ';')
            || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
    };
    let found = tokens[from..].iter().position(ends);
    found.map_or(tokens.len(), |length| from + length + 1)
}

pub(crate) fn ident(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    }
}

pub(crate) fn is_punct(token: &TokenTree, expected: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == expected)
}

//! Splitting a side's options into words, as a shell does.

/// Splits at whitespace outside of quotes. Single quotes keep everything between them literally.
/// Within double quotes, only `\"` and `\\` are escapes. Elsewhere a backslash keeps the next
/// character literally.
///
/// # Errors
/// A quote is not closed, or a backslash ends the text.
pub(super) fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, after) = next_word(rest)?;
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

/// Returns the first word, and the text after it.
fn next_word(text: &str) -> Result<(String, &str), String> {
    let (mut word, mut quote) = (String::new(), None);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (None, letter) if letter.is_whitespace() => return Ok((word, &text[at..])),
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if letter == open => quote = None,
            (None, '\\') | (Some('"'), '\\') => word.push(escaped(quote, &mut letters)?),
            (_, letter) => word.push(letter),
        }
    }
    match quote {
        Some(quote) => Err(format!("the opening {quote} has no closing one")),
        None => Ok((word, "")),
    }
}

/// Returns the character that an escape stands for. In double quotes, a backslash before any
/// character but `"` and `\` stands for itself.
fn escaped(quote: Option<char>, letters: &mut std::str::CharIndices<'_>) -> Result<char, String> {
    let next = letters.clone().next().map(|(_, letter)| letter);
    match (quote, next) {
        (_, None) => Err("nothing follows the last \\".to_owned()),
        (Some(_), Some(letter)) if !matches!(letter, '"' | '\\') => Ok('\\'),
        (_, Some(letter)) => {
            letters.next();
            Ok(letter)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_divided_as_a_shell_would() {
        for (text, expected) in [
            ("", vec![]),
            ("  -6 ", vec!["-6"]),
            ("-H 'A: b c' --http2", vec!["-H", "A: b c", "--http2"]),
            (r#"-H "A: \"b\" \c""#, vec!["-H", r#"A: "b" \c"#]),
            (r"a\ b c\\", vec!["a b", r"c\"]),
            ("--body ''", vec!["--body", ""]),
            ("x'y z'w", vec!["xy zw"]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn reports_unclosed_quotes_and_a_trailing_backslash() {
        for (text, why) in
            [("-H 'A: b", "the opening ' has no"), ("a \"b", "the opening \""), ("a\\", "nothing")]
        {
            let said = words(text).unwrap_err();
            assert!(said.starts_with(why), "{text}: {said}");
        }
    }
}

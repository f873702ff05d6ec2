//! The content of a request from what an archive says was posted.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::multipart::{FormPart, PartFile, encode_multipart};
use super::values::{named, text_at};
use crate::import::left_out::Unfit;

/// The media type of the parameters of a form, which tools may leave out.
const URLENCODED: &str = "application/x-www-form-urlencoded";

/// The content of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PostedContent {
    pub(super) bytes: Vec<u8>,
    /// The media type of the content, if the archive names it.
    pub(super) media_type: Option<String>,
    /// Whether the media type is part of the content's framing, so that no other may be sent.
    pub(super) is_framed: bool,
    /// Why parts of the content are left out.
    pub(super) without: Vec<Unfit>,
}

/// Returns the content: text, or else the parameters of a form.
///
/// # Errors
/// There is content that can't be known.
pub(super) fn posted_content(posted: &Value) -> Result<PostedContent, Unfit> {
    let posted = match posted {
        Value::Null => return Ok(PostedContent::default()),
        Value::Object(posted) => posted,
        Value::String(text) => {
            return Ok(PostedContent { bytes: text.clone().into(), ..PostedContent::default() });
        }
        other => {
            return Err(Unfit::found("postData that is no object", other.to_string().as_bytes()));
        }
    };
    let bytes = recorded_text(posted)?;
    let params = params(posted)?;
    let media_type = text_at(posted, "mimeType").map(|of| of.trim().to_owned());
    match !bytes.is_empty() || params.is_empty() {
        true => Ok(PostedContent { bytes, media_type, ..PostedContent::default() }),
        false if is_multipart_form(media_type.as_deref()) => multipart(params),
        false => Ok(urlencoded(params, media_type)),
    }
}

/// Returns the recorded text; empty if there is none.
fn recorded_text(posted: &Map<String, Value>) -> Result<Vec<u8>, Unfit> {
    let Some(text) = text_at(posted, "text") else {
        return match posted.get("text") {
            Some(Value::Array(_) | Value::Object(_)) => {
                Err("postData whose text is not text".into())
            }
            _ => Ok(Vec::new()),
        };
    };
    if text_at(posted, "encoding").is_some_and(|of| of.eq_ignore_ascii_case("base64")) {
        let not_base64 = |_| Unfit::found("postData that is not base64", text.as_bytes());
        STANDARD.decode(text.as_bytes()).map_err(not_base64)
    } else {
        Ok(text.into_owned().into_bytes())
    }
}

fn params(posted: &Map<String, Value>) -> Result<&[Value], Unfit> {
    match posted.get("params") {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(params)) => Ok(params),
        // An empty text stands for no list.
        Some(Value::String(text)) if text.is_empty() => Ok(&[]),
        Some(_) => Err("postData whose params are not a list".into()),
    }
}

fn is_multipart_form(media_type: Option<&str>) -> bool {
    let essence = media_type.and_then(|of| of.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("multipart/form-data")
}

/// Encodes parameters as an HTML form does: application/x-www-form-urlencoded.
fn urlencoded(params: &[Value], media_type: Option<String>) -> PostedContent {
    let (mut pairs, mut without) = (Vec::new(), Vec::new());
    for param in params {
        match named(param).ok_or("a parameter without a name") {
            Ok((name, Some(value))) => pairs.push(format!("{}={}", coded(&name), coded(&value))),
            Ok((name, None)) => without.push(not_text(&name)),
            Err(why) => without.push(why.into()),
        }
    }
    let media_type = media_type.or_else(|| Some(URLENCODED.to_owned()));
    PostedContent { bytes: pairs.join("&").into(), media_type, is_framed: false, without }
}

fn not_text(name: &str) -> Unfit {
    Unfit::found("a parameter whose value is not text", name.as_bytes())
}

fn coded(text: &str) -> String {
    let mut coded = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => coded.push('+'),
            b'*' | b'-' | b'.' | b'_' => coded.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => coded.push(byte.into()),
            _ => coded.push_str(&format!("%{byte:02X}")),
        }
    }
    coded
}

/// Encodes parameters as the parts of a form (RFC 7578). A form of which every part is left out
/// can't be sent.
fn multipart(params: &[Value]) -> Result<PostedContent, Unfit> {
    let (mut parts, mut without) = (Vec::new(), Vec::new());
    for param in params {
        match form_part(param) {
            Ok(part) => parts.push(part),
            Err(unfit) => without.push(unfit),
        }
    }
    if parts.is_empty() {
        return Err(without.into_iter().next().unwrap_or_else(|| "a form without parts".into()));
    }
    let (boundary, bytes) = encode_multipart(&parts);
    let media_type = Some(format!("multipart/form-data; boundary={boundary}"));
    Ok(PostedContent { bytes, media_type, is_framed: true, without })
}

fn form_part(param: &Value) -> Result<FormPart, Unfit> {
    let (name, value) = named(param).ok_or("a parameter without a name")?;
    let value = value.ok_or_else(|| not_text(&name))?;
    let member = |name: &str| param.as_object().and_then(|param| text_at(param, name));
    // A form's empty file field has an empty name, which is sent with empty content.
    let is_file = param.get("fileName").is_some_and(Value::is_string);
    let file = is_file.then(|| PartFile {
        name: member("fileName").unwrap_or_default().into_owned(),
        media_type: member("contentType").map(|of| of.trim().to_owned()),
    });
    if file.as_ref().is_some_and(|file| !file.name.is_empty() && value.is_empty()) {
        return Err(Unfit::found(
            "a file of a form whose content was not recorded",
            name.as_bytes(),
        ));
    }
    Ok(FormPart { name: name.into_owned(), value: value.into_owned(), file })
}

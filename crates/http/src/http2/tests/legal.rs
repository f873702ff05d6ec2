//! What a client must read, and which events it reports.

use super::wire::settings;
use super::wire::{answer, data, end, fields, flag, frame, goaway, head, kind, last, number, ok};

pub(super) struct Legal {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) told: &'static str,
}

fn legal(name: &'static str, frames: &[Vec<u8>], told: &'static str) -> Legal {
    let bytes = [&[settings(&[])], frames].concat().concat();
    Legal { name, bytes, told }
}

pub(super) fn cases() -> Vec<Legal> {
    [
        responses(),
        sequences(),
        without_content(),
        heads(),
        lengths(),
        malformed(),
        sections(),
        padded(),
        controls(),
        late(),
        blocks(),
        compressed(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn responses() -> Vec<Legal> {
    vec![
        legal("nothing", &[], ""),
        legal("empty", &[ok(1), end(1, "")], "begun 0\ncomplete 0 200 0\n"),
        legal("end with the head", &[answer(7)], "begun 3\ncomplete 3 204 0\n"),
        legal(
            "content",
            &[ok(1), data(1, "hel"), data(1, ""), end(1, "lo")],
            "begun 0\ncontent 0 hello\ncomplete 0 200 5\n",
        ),
        legal("unobserved", &[ok(7), end(7, "hello")], "begun 3\ncomplete 3 200 5\n"),
        legal(
            "fields",
            &[head(1, &[(":status", "404"), ("a", "b"), ("a", ""), ("c", " d ")]), end(1, "")],
            "begun 0\nfield 0 a: b\nfield 0 a: \nfield 0 c:  d \ncomplete 0 404 0\n",
        ),
        legal(
            "content-length",
            &[
                head(1, &[(":status", "200"), ("content-length", "5"), ("content-length", "5")]),
                end(1, "hello"),
            ],
            "begun 0\nfield 0 content-length: 5\nfield 0 content-length: 5\ncontent 0 hello\n\
             complete 0 200 5\n",
        ),
        legal(
            "interim",
            &[
                head(1, &[(":status", "100")]),
                head(1, &[(":status", "103"), ("link", "x"), ("content-length", "9")]),
                ok(1),
                end(1, "x"),
            ],
            "begun 0\ninterim 0\nbegun 0\ninterim 0\nbegun 0\ncontent 0 x\ncomplete 0 200 1\n",
        ),
    ]
}

fn sequences() -> Vec<Legal> {
    let status = |code| [(":status", code)];
    vec![
        legal(
            "trailers",
            &[ok(1), data(1, "x"), last(1, &[("a", "b")])],
            "begun 0\ncontent 0 x\ncomplete 0 200 1\n",
        ),
        legal(
            "trailers without content",
            &[ok(1), last(1, &[("content-length", "7")])],
            "begun 0\ncomplete 0 200 0\n",
        ),
        legal(
            "turns",
            &[ok(7), ok(1), data(7, "abc"), data(1, "d"), end(7, ""), end(1, "e")],
            "begun 3\nbegun 0\ncontent 0 d\ncomplete 3 200 3\ncontent 0 e\ncomplete 0 200 2\n",
        ),
        legal("an unknown status", &[last(7, &status("999"))], "begun 3\ncomplete 3 999 0\n"),
        legal(
            "an answer before the end of the request",
            &[last(5, &status("413")), number(kind::RST_STREAM, 5, 0), answer(7)],
            "begun 2\ncomplete 2 413 0\nbegun 3\ncomplete 3 204 0\n",
        ),
        legal(
            "the same head again",
            &[last(7, &status("404")), last(5, &status("404"))],
            "begun 3\ncomplete 3 404 0\nbegun 2\ncomplete 2 404 0\n",
        ),
    ]
}

fn without_content() -> Vec<Legal> {
    let length = |code| [(":status", code), ("content-length", "5")];
    vec![
        legal("HEAD", &[last(3, &length("200"))], "begun 1\ncomplete 1 200 0\n"),
        legal(
            "HEAD, empty DATA",
            &[head(3, &length("200")), end(3, "")],
            "begun 1\ncomplete 1 200 0\n",
        ),
        legal("304", &[last(7, &length("304"))], "begun 3\ncomplete 3 304 0\n"),
        legal("204", &[last(7, &length("204"))], "begun 3\ncomplete 3 204 0\n"),
    ]
}

const LOST: &str = "begun 3\nlost 3 Malformed(1)\nbegun 0\ncomplete 0 204 0\n";

/// A response that is lost, and another one that is not.
fn lost(name: &'static str, frames: &[Vec<u8>]) -> Legal {
    legal(name, &[&[frames.concat(), data(7, "late")], &[answer(1)][..]].concat(), LOST)
}

/// Like [`lost`], after this number of interim responses.
fn lost_after(name: &'static str, interims: usize, frames: &[Vec<u8>]) -> Legal {
    let interims = "begun 3\ninterim 3\n".repeat(interims);
    let ended = if frames.len() > 1 { LOST.trim_start_matches("begun 3\n") } else { LOST };
    Legal { told: Box::leak((interims + ended).into_boxed_str()), ..lost(name, frames) }
}

fn lost_head(name: &'static str, fields: &[(&str, &str)]) -> Legal {
    lost(name, &[head(7, fields)])
}

fn heads() -> Vec<Legal> {
    let fields = lost_head;
    vec![
        fields("no status", &[("a", "b")]),
        fields("no fields", &[]),
        fields("an empty status", &[(":status", "")]),
        fields("a status of two digits", &[(":status", "20")]),
        fields("a status of four digits", &[(":status", "2000")]),
        fields("a status below 100", &[(":status", "099")]),
        fields("a status with letters", &[(":status", "2xx")]),
        fields("two of them", &[(":status", "200"), (":status", "200")]),
        fields("a status behind a field", &[("a", "b"), (":status", "200")]),
        fields("a path", &[(":status", "200"), (":path", "/")]),
        fields("an unknown pseudo-header", &[(":status", "200"), (":a", "b")]),
        fields("capitals", &[(":status", "200"), ("Server", "x")]),
        fields("no name", &[(":status", "200"), ("", "x")]),
        fields("a space in a name", &[(":status", "200"), ("a b", "x")]),
        fields("a colon in a name", &[(":status", "200"), ("a:", "x")]),
        fields("a letter beyond ASCII in a name", &[(":status", "200"), ("ä", "x")]),
        fields("a line end in a value", &[(":status", "200"), ("a", "b\r\nc: d")]),
        fields("NUL in a value", &[(":status", "200"), ("a", "b\0")]),
        fields("connection", &[(":status", "200"), ("connection", "close")]),
        fields("transfer-encoding", &[(":status", "200"), ("transfer-encoding", "chunked")]),
        fields("upgrade", &[(":status", "200"), ("upgrade", "h2c")]),
        fields("101", &[(":status", "101")]),
    ]
}

fn lengths() -> Vec<Legal> {
    let fields = lost_head;
    let two = |name, first, second| lost(name, &[first, second]);
    vec![
        fields("an empty length", &[(":status", "200"), ("content-length", "")]),
        fields("a signed length", &[(":status", "200"), ("content-length", "+5")]),
        fields("a huge length", &[(":status", "200"), ("content-length", "18446744073709551616")]),
        fields(
            "contradictory lengths",
            &[(":status", "200"), ("content-length", "5"), ("content-length", "6")],
        ),
        two(
            "more content than promised",
            head(7, &[(":status", "200"), ("content-length", "1")]),
            data(7, "ab"),
        ),
        two(
            "less content than promised",
            head(7, &[(":status", "200"), ("content-length", "3")]),
            end(7, "ab"),
        ),
        lost("none of it", &[last(7, &[(":status", "200"), ("content-length", "3")])]),
        two("content of a 304", head(7, &[(":status", "304")]), data(7, "ab")),
    ]
}

fn sections() -> Vec<Legal> {
    let two = |name, first, second| lost(name, &[first, second]);
    vec![
        lost_after(
            "content behind an interim response",
            1,
            &[head(7, &[(":status", "100")]), end(7, "ab")],
        ),
        lost("an interim response at the end", &[last(7, &[(":status", "100")])]),
        lost_after("very many interim responses", 64, &[head(7, &[(":status", "100")]).repeat(65)]),
        two("trailers, but no end", ok(7), head(7, &[("a", "b")])),
        two("a second head", ok(7), last(7, &[(":status", "200")])),
    ]
}

fn malformed() -> Vec<Legal> {
    vec![
        legal(
            "content before the head",
            &[data(7, "a"), answer(7), answer(1)],
            "lost 3 Malformed(1)\nbegun 0\ncomplete 0 204 0\n",
        ),
        legal(
            "fields up to the first that is wrong",
            &[head(1, &[(":status", "200"), ("a", "b"), ("C", "d"), ("e", "f")])],
            "begun 0\nfield 0 a: b\nlost 0 Malformed(1)\n",
        ),
        legal(
            "content of the response to HEAD",
            &[ok(3), end(3, "a")],
            "begun 1\nlost 1 Malformed(1)\n",
        ),
        legal(
            "a stream's window opened by nothing",
            &[number(kind::WINDOW_UPDATE, 5, 0), answer(5)],
            "lost 2 Malformed(1)\n",
        ),
        legal(
            "a stream's window opened too far",
            &[number(kind::WINDOW_UPDATE, 7, 0x7fff_ffff), answer(7)],
            "lost 3 Malformed(3)\n",
        ),
    ]
}

fn padded() -> Vec<Legal> {
    let padded = flag::PADDED | flag::END_STREAM;
    vec![
        legal(
            "padding",
            &[ok(1), frame(kind::DATA, flag::PADDED, 1, b"\x03hi\0\0\0"), end(1, "!")],
            "begun 0\ncontent 0 hi!\ncomplete 0 200 3\n",
        ),
        legal(
            "only padding",
            &[ok(1), frame(kind::DATA, padded, 1, [255; 256])],
            "begun 0\ncomplete 0 200 0\n",
        ),
        legal(
            "padding of length 0",
            &[ok(7), frame(kind::DATA, padded, 7, b"\0hi")],
            "begun 3\ncomplete 3 200 2\n",
        ),
        legal(
            "a padded head",
            &[frame(kind::HEADERS, flag::END_HEADERS | padded, 7, b"\x02\x89\0\0")],
            "begun 3\ncomplete 3 204 0\n",
        ),
        legal(
            "a head with a priority",
            &[frame(
                kind::HEADERS,
                flag::END_HEADERS | flag::PRIORITY | padded,
                7,
                b"\x01\x80\0\0\x07\xff\x89\0",
            )],
            "begun 3\ncomplete 3 204 0\n",
        ),
    ]
}

fn controls() -> Vec<Legal> {
    vec![
        legal("unknown settings", &[settings(&[(99, 1), (8, 1), (2, 0)])], ""),
        legal("settings acknowledged", &[frame(kind::SETTINGS, flag::ACK, 0, [])], ""),
        legal("PING", &[frame(kind::PING, 0, 0, *b"12345678")], ""),
        legal("an answer to none", &[frame(kind::PING, flag::ACK, 0, *b"12345678")], ""),
        legal(
            "an unknown frame",
            &[frame(0xbe, 0xff, 8, *b"whatever"), frame(0xbe, 0xff, 99, []), answer(1)],
            "begun 0\ncomplete 0 204 0\n",
        ),
        legal(
            "priority",
            &[frame(kind::PRIORITY, 0, 2001, [0; 5]), answer(1)],
            "begun 0\ncomplete 0 204 0\n",
        ),
        legal("refused unseen", &[number(kind::RST_STREAM, 7, 7)], "lost 3 Unprocessed\n"),
        legal("cancelled", &[number(kind::RST_STREAM, 7, 8)], "lost 3 Reset(8)\n"),
        legal(
            "reset within the content",
            &[ok(1), data(1, "a"), number(kind::RST_STREAM, 1, 2)],
            "begun 0\ncontent 0 a\nlost 0 Reset(2)\n",
        ),
        legal(
            "GOAWAY",
            &[goaway(3, 0), answer(3), ok(1), end(1, "a")],
            "lost 2 Unprocessed\nlost 3 Unprocessed\nbegun 1\ncomplete 1 204 0\nbegun 0\n\
             content 0 a\ncomplete 0 200 1\n",
        ),
        legal(
            "GOAWAY in two steps",
            &[goaway(0x7fff_ffff, 0), answer(7), goaway(1, 0), answer(1)],
            "begun 3\ncomplete 3 204 0\nlost 1 Unprocessed\nlost 2 Unprocessed\nbegun 0\n\
             complete 0 204 0\n",
        ),
    ]
}

fn late() -> Vec<Legal> {
    vec![
        legal(
            "frames behind a GOAWAY that disowned their stream",
            &[goaway(1, 0), answer(7), data(5, "x"), answer(1)],
            "lost 1 Unprocessed\nlost 2 Unprocessed\nlost 3 Unprocessed\nbegun 0\n\
             complete 0 204 0\n",
        ),
        legal(
            "windows and resets behind the end",
            &[
                answer(7),
                number(kind::WINDOW_UPDATE, 7, 5),
                number(kind::WINDOW_UPDATE, 7, 0),
                number(kind::RST_STREAM, 7, 5),
                answer(1),
            ],
            "begun 3\ncomplete 3 204 0\nbegun 0\ncomplete 0 204 0\n",
        ),
    ]
}

fn blocks() -> Vec<Legal> {
    let block = fields(&[(":status", "200"), ("a", "b")]);
    let long = "y".repeat(40_000);
    let long_block = fields(&[(":status", "200"), ("x", &long)]);
    let pieces: Vec<_> = long_block.chunks(16_384).collect();
    vec![
        legal(
            "fields in many frames",
            &[
                frame(kind::HEADERS, flag::END_STREAM, 1, []),
                frame(kind::CONTINUATION, 0, 1, &block[..1]),
                frame(kind::CONTINUATION, 0, 1, []),
                frame(kind::CONTINUATION, flag::END_HEADERS, 1, &block[1..]),
            ],
            "begun 0\nfield 0 a: b\ncomplete 0 200 0\n",
        ),
        legal(
            "long fields",
            &[
                frame(kind::HEADERS, flag::END_STREAM, 7, pieces[0]),
                frame(kind::CONTINUATION, 0, 7, pieces[1]),
                frame(
                    kind::CONTINUATION,
                    flag::END_HEADERS,
                    7,
                    pieces.get(2).copied().unwrap_or(&[]),
                ),
            ],
            "begun 3\ncomplete 3 200 0\n",
        ),
    ]
}

fn compressed() -> Vec<Legal> {
    vec![
        legal(
            "fields that fill the table and are taken from it, of a lost response too",
            &[
                frame(kind::HEADERS, flag::END_HEADERS, 7, b"\x40\x01A\x01b"),
                frame(kind::HEADERS, flag::END_HEADERS, 1, b"\x88\x40\x01c\x01d\xbe"),
                frame(kind::HEADERS, flag::END_HEADERS, 7, b"\x40\x01e\x01f"),
                frame(kind::HEADERS, 5, 1, b"\xbe\xbf"),
            ],
            "begun 3\nlost 3 Malformed(1)\nbegun 0\nfield 0 c: d\nfield 0 c: d\ncomplete 0 200 0\n",
        ),
        legal(
            "a head that means something else the second time",
            &[
                frame(kind::HEADERS, 5, 7, b"\x48\x03404"),
                frame(kind::HEADERS, 5, 5, b"\xbe"),
                frame(kind::HEADERS, 5, 1, b"\x48\x03405"),
                frame(kind::HEADERS, 5, 3, b"\xbe"),
            ],
            "begun 3\ncomplete 3 404 0\nbegun 2\ncomplete 2 404 0\nbegun 0\ncomplete 0 405 0\n\
             begun 1\ncomplete 1 405 0\n",
        ),
    ]
}

//! The formats of access logs: how the values of a line are separated, and which of them make a
//! request.

/// A format of access logs.
#[derive(Debug)]
pub struct LogFormat {
    /// The name by which a user selects it.
    pub name: &'static str,
    pub(super) layout: Layout,
    pub(super) fields: LogFields,
}

/// How the values of a line are separated and named.
#[derive(Debug)]
pub(super) enum Layout {
    /// A time in brackets, and behind it the request line in quotes.
    Combined,
    /// A JSON object.
    Json,
    /// Columns, which a `#Fields:` line names. `usual` are the names if there is none.
    Directives { separator: u8, usual: &'static [&'static str] },
    /// Columns between spaces, in quotes if they contain spaces, always in this order.
    Columns(&'static [&'static str]),
}

/// The names of values, of which the first that a line has is used. A point separates the names of
/// objects within one another.
#[derive(Debug)]
pub(super) struct LogFields {
    /// The time of the request.
    pub(super) time: &'static [&'static str],
    /// The request line; the fields below are for lines without it.
    pub(super) line: &'static [&'static str],
    pub(super) method: &'static [&'static str],
    /// The path or the URL, with or without the query.
    pub(super) target: &'static [&'static str],
    /// The query, for targets without one.
    pub(super) query: &'static [&'static str],
    /// Values of which lines have one, in this format but not in another of the same layout.
    pub(super) sign: &'static [&'static str],
}

/// The values of [`Layout::Combined`].
pub(super) const COMBINED_TIME: &str = "time";
pub(super) const COMBINED_REQUEST: &str = "request";

/// The date and the time of a line with directives, joined.
pub(super) const DATE_AND_TIME: &str = "date and time";

/// The fields of the Extended Log File Format, which IIS and CloudFront use.
const EXTENDED: LogFields = LogFields {
    time: &[DATE_AND_TIME],
    line: &[],
    method: &["cs-method"],
    target: &["cs-uri-stem", "cs-uri"],
    query: &["cs-uri-query"],
    sign: &[],
};

/// All formats. Of those with the same layout, the first that fits a line is detected.
pub static LOG_FORMATS: [LogFormat; 7] = [
    // Apache and nginx, also the common format.
    LogFormat {
        name: "combined",
        layout: Layout::Combined,
        fields: LogFields {
            time: &[COMBINED_TIME],
            line: &[COMBINED_REQUEST],
            method: &[],
            target: &[],
            query: &[],
            sign: &[],
        },
    },
    // Caddy, JSON.
    LogFormat {
        name: "caddy",
        layout: Layout::Json,
        fields: LogFields {
            time: &["ts"],
            line: &[],
            method: &["request.method"],
            target: &["request.uri"],
            query: &[],
            sign: &[],
        },
    },
    // Traefik, JSON.
    LogFormat {
        name: "traefik",
        layout: Layout::Json,
        fields: LogFields {
            time: &["StartUTC", "StartLocal", "time"],
            line: &[],
            method: &["RequestMethod"],
            target: &["RequestPath"],
            query: &[],
            sign: &[],
        },
    },
    // nginx (escape=json) and others, with the usual names of fields.
    LogFormat {
        name: "json",
        layout: Layout::Json,
        fields: LogFields {
            time: &[
                "time_iso8601",
                "timestamp",
                "time_local",
                "msec",
                "time",
                "ts",
                "datetime",
                "date",
                "start_time",
                "request_time",
            ],
            line: &["request", "request_line"],
            method: &[
                "request_method",
                "method",
                "verb",
                "http_method",
                "req.method",
                "request.method",
                "http.request.method",
                "httpRequest.requestMethod",
            ],
            target: &[
                "request_uri",
                "uri",
                "url",
                "path",
                "request_url",
                "request_path",
                "uri_path",
                "document_uri",
                "req.url",
                "request.url",
                "request.path",
                "url.original",
                "url.path",
                "httpRequest.requestUrl",
            ],
            query: &["args", "query_string", "query", "uri_query", "url.query"],
            sign: &[],
        },
    },
    // CloudFront, standard logs.
    LogFormat {
        name: "cloudfront",
        layout: Layout::Directives {
            separator: b'\t',
            usual: &[
                "date",
                "time",
                "x-edge-location",
                "sc-bytes",
                "c-ip",
                "cs-method",
                "cs(Host)",
                "cs-uri-stem",
                "sc-status",
                "cs(Referer)",
                "cs(User-Agent)",
                "cs-uri-query",
            ],
        },
        fields: LogFields { sign: &["x-edge-location"], ..EXTENDED },
    },
    // IIS and others, with a #Fields line.
    LogFormat {
        name: "w3c",
        layout: Layout::Directives { separator: b' ', usual: &[] },
        fields: EXTENDED,
    },
    // AWS application load balancers.
    LogFormat {
        name: "alb",
        layout: Layout::Columns(&[
            "type",
            "time",
            "elb",
            "client:port",
            "target:port",
            "request_processing_time",
            "target_processing_time",
            "response_processing_time",
            "elb_status_code",
            "target_status_code",
            "received_bytes",
            "sent_bytes",
            "request",
            "user_agent",
            "ssl_cipher",
            "ssl_protocol",
            "target_group_arn",
            "trace_id",
            "domain_name",
            "chosen_cert_arn",
            "matched_rule_priority",
            "request_creation_time",
        ]),
        fields: LogFields {
            time: &["request_creation_time", "time"],
            line: &["request"],
            method: &[],
            target: &[],
            query: &[],
            sign: &[],
        },
    },
];

impl LogFormat {
    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<&'static LogFormat> {
        LOG_FORMATS.iter().find(|format| format.name == name)
    }

    /// Returns the names of all formats, separated by commas.
    pub fn names() -> String {
        LOG_FORMATS.each_ref().map(|format| format.name).join(", ")
    }
}

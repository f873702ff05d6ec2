//! Advice on what to do about a failure.

mod certificates;

use sixmark_http::HttpVersion;
use sixmark_http::http1::Http1Violation;
use sixmark_http::http2::Http2Violation;
use sixmark_plan::plan::http::Http;
use sixmark_plan::plan::tls::{PlanTls, TlsVersion};
use sixmark_tally::outcome::{Failure, FailurePhase, LocalCause, Outcome};
use sixmark_tally::tls::{Cause, Reason};

use certificates::{NOT_TLS, fault_of_certificate, of_reason};

/// The process has too many open files (Linux, all architectures).
const EMFILE: i32 = 24;
/// The host has too many open files.
const ENFILE: i32 = 23;

/// The most frequent failure of a family, and the settings of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) failure: &'a Failure,
    /// The cause of a TLS failure. `None` if it was an alert from the server.
    pub(super) cause: Option<Cause>,
    /// How most of the responses that ended as PROTOCOL violated it. `None` if that is not known.
    pub(super) breach: Option<&'a str>,
    pub(super) http: Http,
    pub(super) tls: Option<&'a PlanTls>,
    /// True if the server's TCP acknowledged what was sent to it: the path carries small packets.
    pub(super) acknowledged: bool,
    /// True if a signal ended the run.
    pub(super) interrupted: bool,
    /// The option with which the load would last longer.
    pub(super) longer: &'static str,
}

impl Case<'_> {
    /// Returns the advice, as the end of a line.
    pub(super) fn advice(self) -> String {
        match self.failure.outcome {
            Outcome::Tls => self.tls_failed(),
            Outcome::Protocol => self.protocol(),
            Outcome::Timeout => self.timeout().to_owned(),
            Outcome::Refused => {
                "nothing listens there: start the server, or check address and port".into()
            }
            Outcome::Unreachable => "check the route".into(),
            Outcome::NoPort => "give more local addresses with --source".into(),
            Outcome::Local => self.failed_here(),
            Outcome::Content => String::new(),
            Outcome::Reset | Outcome::Truncated => self.broken_off().to_owned(),
            Outcome::Unanswered | Outcome::Abandoned | Outcome::Normal if self.interrupted => {
                "a signal ended the run first".into()
            }
            Outcome::Unanswered | Outcome::Abandoned | Outcome::Normal => self.ended_first(),
        }
    }

    /// Returns the advice where the end of the load came before any response.
    fn ended_first(self) -> String {
        let way = match self.failure.phase {
            FailurePhase::Connect | FailurePhase::Tls if self.over_quic() => {
                "a firewall may drop UDP, or the server may not support HTTP/3"
            }
            FailurePhase::Connect => "check for a firewall in between",
            _ => return format!("use a longer {}", self.longer),
        };
        format!("{way}; or use a longer {}", self.longer)
    }

    /// Returns true if small packets arrive over TCP, so that a lack of large ones is possible.
    fn may_be_a_black_hole(self) -> bool {
        self.acknowledged && !self.over_quic()
    }

    fn over_quic(self) -> bool {
        self.http.version == HttpVersion::Http3
    }

    fn failed_here(self) -> String {
        let text = match self.failure.cause {
            Some(LocalCause::HeadLimit) => "not a fault of the server",
            Some(LocalCause::NoSource) => {
                "see `ip address`: this host no longer has the address of --source, or its only one"
            }
            Some(LocalCause::Stalled) => "see the warnings: sixmark was stopped or paused",
            Some(LocalCause::ContentLimit) => "use fewer connections (-c), or check less",
            None => return self.refused_here(),
        };
        text.to_owned()
    }

    /// Returns the error of this host's kernel, and what to do about it.
    fn refused_here(self) -> String {
        let Some(errno) = self.failure.errno else { return "no reason is known".to_owned() };
        let why = std::io::Error::from_raw_os_error(errno);
        let way = match errno {
            EMFILE => "; raise the limit on open files (ulimit -n), or lower -c",
            ENFILE => "; raise this host's limit on open files (fs.file-max), or lower -c",
            _ => "",
        };
        format!("{why}{way}")
    }

    fn broken_off(self) -> &'static str {
        match self.failure.code_name(self.http.version) {
            Some("HTTP_1_1_REQUIRED") => "the server requires HTTP/1.1: omit --http2",
            Some("H3_VERSION_FALLBACK") => "the server requires HTTP/1.1: omit --http3",
            _ => "the server's log may say why",
        }
    }

    fn timeout(self) -> &'static str {
        match self.failure.phase {
            FailurePhase::Tls | FailurePhase::Send if self.may_be_a_black_hole() => {
                "the server acknowledged the ClientHello, but its certificate did not arrive: see its \
                 log; if plain HTTP is answered, large packets are lost on the path, as in a path-MTU \
                 black hole"
            }
            FailurePhase::Wait if self.may_be_a_black_hole() => {
                "the server acknowledged the requests, but no response arrived: see its log; if \
                 `sixmark run -X HEAD` is answered, large packets are lost on the path, as in a path-MTU \
                 black hole"
            }
            FailurePhase::Transfer if self.may_be_a_black_hole() => {
                "responses begin and stall: if `sixmark run -X HEAD` is answered, large packets are lost \
                 on the path, as in a path-MTU black hole; else raise --timeout"
            }
            FailurePhase::Connect | FailurePhase::Tls if self.over_quic() => {
                "a firewall may drop UDP, or the server may not support HTTP/3"
            }
            FailurePhase::Connect => "check for a firewall in between, or raise --timeout",
            FailurePhase::Tls | FailurePhase::Send => {
                "the server accepted the connection: see its log, or raise --timeout"
            }
            FailurePhase::Wait => "the request was sent: see the server's log, or raise --timeout",
            FailurePhase::Transfer => "raise --timeout, or use a smaller response",
        }
    }

    fn protocol(self) -> String {
        let name = self.http.version.name();
        let spoken = matches!(self.failure.phase, FailurePhase::Wait | FailurePhase::Transfer);
        let breach = self.breach.filter(|_| spoken);
        let other = breach.is_some_and(|what| OTHER_PROTOCOL.contains(&what));
        match (self.failure.code_name(self.http.version), breach) {
            (_, Some(what)) if !other => format!("the server's response is malformed: {what}"),
            // Data that is not HTTP at all causes the same code as a violation of the protocol.
            (Some(code), _) if spoken && self.http.prior_knowledge => {
                format!(
                    "the response is not valid {name} ({code}): check that the server supports \
                     it"
                )
            }
            (Some(code), _) if spoken => format!("the server's response is malformed ({code})"),
            (None, Some(what)) => {
                format!("the server does not support the requested version of HTTP: {what}")
            }
            _ => "the server does not support the requested version of HTTP".to_owned(),
        }
    }

    fn tls_failed(self) -> String {
        let Some(cause) = self.cause else {
            return match self.failure.code {
                Some(_) => self.alert(),
                None => NOT_TLS.to_owned(),
            };
        };
        if self.is_unproven(cause) {
            "the server does not prove possession of the certificate's key".to_owned()
        } else {
            of_reason(cause.reason).to_owned()
        }
    }

    /// Returns true if any certificate is accepted, but the server did not prove that it has its key.
    fn is_unproven(self, cause: Cause) -> bool {
        let of_key = matches!(cause.reason, Reason::Certificate | Reason::CertificateSignature);
        of_key && self.tls.is_some_and(|tls| tls.insecure)
    }

    /// Returns what is wrong with the server's certificate, and what to do. `None` unless that is
    /// why it failed.
    pub(super) fn certificate(self) -> Option<(String, &'static str)> {
        let cause = self.cause.filter(|cause| !self.is_unproven(*cause))?;
        fault_of_certificate(cause)
    }

    /// Returns the advice for an alert of the server.
    fn alert(self) -> String {
        let cert = self.tls.is_some_and(|tls| tls.cert.is_some());
        match self.failure.code {
            Some(120) => self.no_protocol(),
            Some(40 | 71) => format!("the server requires other {}", self.choices(cert)),
            Some(70) => self.other_version().to_owned(),
            Some(42..=46 | 48) if cert => {
                "the server does not accept the certificate given by --cert".to_owned()
            }
            Some(42..=46 | 48 | 116) => {
                "the server requires a client certificate that it trusts: give one with --cert"
                    .to_owned()
            }
            Some(112) => "the server does not know that name: give another with --sni".to_owned(),
            _ => "the server refused the handshake: see its log".to_owned(),
        }
    }

    fn choices(self, cert: bool) -> String {
        let of_version = if self.over_quic() { "" } else { ", or another version (--tls)" };
        let of_cert = if cert { "" } else { ", or a certificate (--cert)" };
        format!("ciphers (--ciphers) or groups (--groups){of_version}{of_cert}")
    }

    fn other_version(self) -> &'static str {
        match self.tls.and_then(|tls| tls.version) {
            _ if self.over_quic() => "the server does not support TLS 1.3, which HTTP/3 needs",
            Some(TlsVersion::V13) => "the server does not support TLS 1.3: omit --tls",
            Some(TlsVersion::V12) => "the server does not support TLS 1.2: omit --tls",
            None => "the server supports neither TLS 1.3 nor 1.2, the only versions of --tls",
        }
    }

    fn no_protocol(self) -> String {
        let alpn = self.http.version.alpn();
        let offered = self.tls.map_or(&[][..], |tls| &tls.alpn);
        match self.http.version {
            _ if offered != [alpn] => {
                "the server supports no protocol that --alpn offers".to_owned()
            }
            HttpVersion::Http10 | HttpVersion::Http1 => {
                format!("the server does not offer {alpn}: try --alpn none")
            }
            HttpVersion::Http2 => format!("the server does not offer {alpn}: omit --http2"),
            HttpVersion::Http3 => format!("the server does not offer {alpn}: omit --http3"),
        }
    }
}

/// The violations of a peer that does not speak the requested version of HTTP.
const OTHER_PROTOCOL: [&str; 3] = [
    Http1Violation::NotHttp.text(),
    Http1Violation::Version.text(),
    Http2Violation::NotHttp2.text(),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn http(version: HttpVersion) -> Http {
        Http { version, ..Http::default() }
    }

    fn tls(version: HttpVersion) -> PlanTls {
        PlanTls { alpn: vec![version.alpn().to_owned()], ..PlanTls::default() }
    }

    fn case<'a>(
        failure: &'a Failure,
        cause: Option<Cause>,
        http: Http,
        tls: Option<&'a PlanTls>,
    ) -> Case<'a> {
        Case {
            failure,
            cause,
            breach: None,
            http,
            tls,
            acknowledged: false,
            interrupted: false,
            longer: "-d",
        }
    }

    fn advice(failure: Failure, version: HttpVersion, tls: &PlanTls) -> String {
        let (http, tls) = (http(version), Some(tls));
        case(&failure, None, http, tls).advice()
    }

    fn alert(code: u64, version: HttpVersion, tls: &PlanTls) -> String {
        let failure = Failure { code: Some(code), ..Failure::new(Outcome::Tls, FailurePhase::Tls) };
        advice(failure, version, tls)
    }

    #[test]
    fn suggests_the_option_related_to_each_tls_alert() {
        for version in [HttpVersion::Http1, HttpVersion::Http2, HttpVersion::Http3] {
            for (code, option) in [
                (40, "--ciphers"),
                (71, "--groups"),
                (42, "--cert"),
                (48, "--cert"),
                (112, "--sni"),
                (116, "--cert"),
            ] {
                let said = alert(code, version, &tls(version));
                assert!(said.contains(option), "{code}: {said}");
                assert!(!said.contains("--tls 1.2"), "{code}: {said}");
            }
        }
    }

    #[test]
    fn gives_specific_advice_for_each_certificate_error() {
        let failure = Failure::new(Outcome::Tls, FailurePhase::Tls);
        let said = |reason, insecure| {
            let tls = PlanTls { insecure, ..tls(HttpVersion::Http1) };
            let (http, tls) = (http(HttpVersion::Http1), Some(&tls));
            let case = case(&failure, Some(Cause::new(reason, None)), http, tls);
            match case.certificate() {
                Some((why, way)) => format!("{why}; {way}"),
                None => case.advice(),
            }
        };
        for (reason, part) in [
            (Reason::CertificateIssuer, "--cacert"),
            (Reason::CertificateName, "--sni"),
            (Reason::CertificateNameless, "no subjectAltName"),
            (Reason::CertificateVersion, "X.509 version 3"),
            (Reason::CertificateAuthority, "CA:TRUE"),
            (Reason::CertificatePurpose, "not for servers"),
            (Reason::CertificateNameConstraint, "name constraints"),
            (Reason::CertificatePathLength, "path length"),
            (Reason::CertificateNotAuthority, "CA:FALSE"),
            (Reason::CertificateChain, "shorten the chain"),
            (Reason::CertificateAlgorithm, "SHA-1"),
            (Reason::CertificateKeySize, "2048 bits"),
            (Reason::CertificateSignature, "the signature"),
            (Reason::CertificateExtension, "critical extension"),
            (Reason::CertificateEncoding, "malformed"),
            (Reason::CertificateDate, "clock"),
            (Reason::Certificate, "--insecure"),
            (Reason::Incompatible, "--groups"),
        ] {
            let said = said(reason, false);
            assert!(said.contains(part) && !said.contains("does not use TLS"), "{said}");
            assert_eq!(said.contains("--sni"), reason == Reason::CertificateName, "{said}");
        }
        for reason in [Reason::Certificate, Reason::CertificateSignature] {
            assert!(!said(reason, true).contains("--insecure"), "{reason}");
        }
        assert!(said(Reason::Protocol, false).contains("does not use TLS"));
    }

    #[test]
    fn names_the_option_that_requested_an_unsupported_alpn_protocol() {
        for (version, expected) in [
            (HttpVersion::Http1, "the server does not offer http/1.1: try --alpn none"),
            (HttpVersion::Http2, "the server does not offer h2: omit --http2"),
            (HttpVersion::Http3, "the server does not offer h3: omit --http3"),
        ] {
            assert_eq!(alert(120, version, &tls(version)), expected);
            assert!(alert(120, version, &PlanTls::default()).contains("--alpn"));
        }
    }

    #[test]
    fn suggests_the_tls_version_option_except_over_http3() {
        let given = |version| PlanTls { version, ..tls(HttpVersion::Http1) };
        let said = alert(70, HttpVersion::Http1, &given(Some(TlsVersion::V12)));
        assert!(said.contains("omit --tls"), "{said}");
        assert!(alert(70, HttpVersion::Http1, &given(None)).contains("--tls"));
        for code in [40, 70, 71] {
            let said = alert(code, HttpVersion::Http3, &tls(HttpVersion::Http3));
            assert!(!said.contains("--tls"), "{said}");
        }
    }

    #[test]
    fn suspects_a_firewall_only_for_timeouts_before_the_server_is_reached() {
        let said =
            |phase, version| advice(Failure::new(Outcome::Timeout, phase), version, &tls(version));
        assert!(said(FailurePhase::Connect, HttpVersion::Http1).contains("firewall"));
        for phase in [FailurePhase::Connect, FailurePhase::Tls] {
            assert!(said(phase, HttpVersion::Http3).contains("may drop UDP"));
        }
        for phase in [FailurePhase::Send, FailurePhase::Wait, FailurePhase::Transfer] {
            let said = said(phase, HttpVersion::Http3);
            assert!(said.contains("--timeout") && !said.contains("firewall"), "{said}");
        }
    }

    #[test]
    fn refers_resets_to_the_server_log_unless_http_1_1_is_required() {
        let said = |phase, code| {
            let failure = Failure { code, ..Failure::new(Outcome::Reset, phase) };
            advice(failure, HttpVersion::Http2, &tls(HttpVersion::Http2))
        };
        for (phase, code) in [(FailurePhase::Wait, None), (FailurePhase::Transfer, Some(2))] {
            assert!(said(phase, code).contains("log"));
        }
        assert!(said(FailurePhase::Wait, Some(13)).contains("omit --http2"));
    }

    #[test]
    fn distinguishes_malformed_responses_from_an_unsupported_protocol() {
        let said = |phase, code, version| {
            let failure = Failure { code, ..Failure::new(Outcome::Protocol, phase) };
            advice(failure, version, &tls(version))
        };
        let malformed = said(FailurePhase::Wait, Some(0x10e), HttpVersion::Http3);
        assert_eq!(malformed, "the server's response is malformed (H3_MESSAGE_ERROR)");
        assert!(
            said(FailurePhase::Transfer, Some(1), HttpVersion::Http2).contains("(PROTOCOL_ERROR)")
        );
        assert!(said(FailurePhase::Tls, None, HttpVersion::Http2).contains("does not support"));
        assert!(said(FailurePhase::Wait, None, HttpVersion::Http1).contains("does not support"));
    }

    #[test]
    fn states_the_validity_date_of_an_expired_or_early_certificate() {
        let failure = Failure::new(Outcome::Tls, FailurePhase::Tls);
        let said = |cause: Cause| {
            let tls = tls(HttpVersion::Http1);
            let case = case(&failure, Some(cause), http(HttpVersion::Http1), Some(&tls));
            case.certificate().unwrap().0
        };
        let date = Cause::new(Reason::CertificateDate, Some(45));
        let expired = said(Cause { expired_s: Some(978_307_200), ..date });
        assert!(expired.starts_with("one expired at 2001-01-01T00:00:00Z"), "{expired}");
        let early = said(Cause { valid_from_s: Some(4_102_444_800), ..date });
        assert!(early.starts_with("one is not valid before 2100-01-01T00:"), "{early}");
    }

    #[test]
    fn names_the_known_violation_or_the_unsupported_http_version() {
        let said = |version, code, breach| {
            let transfer = Failure::new(Outcome::Protocol, FailurePhase::Transfer);
            let failure = Failure { code, ..transfer };
            Case { breach: Some(breach), ..case(&failure, None, http(version), None) }.advice()
        };
        let length = said(HttpVersion::Http1, None, "invalid Content-Length");
        assert_eq!(length, "the server's response is malformed: invalid Content-Length");
        let of_stream = said(HttpVersion::Http3, Some(0x10e), "no status in the head");
        assert_eq!(of_stream, "the server's response is malformed: no status in the head");
        let other = said(HttpVersion::Http1, None, Http1Violation::NotHttp.text());
        assert_eq!(
            other,
            "the server does not support the requested version of HTTP: the peer's answer is not \
             HTTP"
        );
        let greeting = said(HttpVersion::Http2, Some(1), Http2Violation::NotHttp2.text());
        assert!(greeting.contains("(PROTOCOL_ERROR)"), "{greeting}");
    }

    #[test]
    fn names_the_local_error_of_a_failed_connect() {
        let said = |errno| {
            let failure = Failure { errno, ..Failure::new(Outcome::Local, FailurePhase::Connect) };
            let http = http(HttpVersion::Http1);
            case(&failure, None, http, None).advice()
        };
        let files = said(Some(EMFILE));
        assert!(files.contains("Too many open files") && files.contains("ulimit -n"), "{files}");
        assert!(said(Some(13)).contains("Permission denied"));
        assert_eq!(said(None), "no reason is known");
    }
}

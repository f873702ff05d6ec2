//! Advice on what to do about a failure.

use sixmark_http::HttpVersion;
use sixmark_record::outcome::{Failure, FailurePhase, LocalCause, Outcome};
use sixmark_record::plan::http::Http;
use sixmark_record::plan::tls::{PlanTls, TlsVersion};
use sixmark_record::tls::Reason;

/// The most frequent failure of a family, and the settings of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) failure: &'a Failure,
    /// The reason of a TLS failure. `None` if it was an alert from the server.
    pub(super) reason: Option<Reason>,
    pub(super) http: Http,
    pub(super) tls: Option<&'a PlanTls>,
    /// True if a signal ended the run.
    pub(super) interrupted: bool,
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
            Outcome::Content => "the response failed a check".into(),
            Outcome::Reset | Outcome::Truncated => self.broken_off().to_owned(),
            Outcome::Unanswered | Outcome::Abandoned | Outcome::Normal if self.interrupted => {
                "a signal ended the run first".into()
            }
            Outcome::Unanswered | Outcome::Abandoned | Outcome::Normal => {
                "the run ended first: use a longer -d".into()
            }
        }
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
        let Some(errno) = self.failure.errno else { return "this host refused".to_owned() };
        let why = std::io::Error::from_raw_os_error(errno);
        let way = match errno {
            libc::EMFILE => "; raise the limit on open files (ulimit -n), or lower -c",
            libc::ENFILE => "; raise this host's limit on open files (fs.file-max), or lower -c",
            _ => "",
        };
        format!("this host refused: {why}{way}")
    }

    fn broken_off(self) -> &'static str {
        match self.failure.code_name(self.http.version) {
            Some("HTTP_1_1_REQUIRED") => "the server requires HTTP/1.1: omit --http2",
            Some("H3_VERSION_FALLBACK") => "the server requires HTTP/1.1: omit --http3",
            _ if self.failure.phase == FailurePhase::Transfer => "the server ends responses early",
            Some(_) => "the server resets requests: its log may say why",
            None => "the server closes connections without answering",
        }
    }

    fn timeout(self) -> &'static str {
        match self.failure.phase {
            FailurePhase::Connect | FailurePhase::Tls if self.over_quic() => {
                "a firewall may drop UDP, or the server may not support HTTP/3"
            }
            FailurePhase::Connect => "check for a firewall in between, or raise --timeout",
            FailurePhase::Tls => {
                "the server accepted the connection, but did not finish the TLS handshake within \
                 --timeout"
            }
            FailurePhase::Send => "the server did not accept the whole request within --timeout",
            FailurePhase::Wait => {
                "the server accepted the request, but did not answer within \
                 --timeout"
            }
            FailurePhase::Transfer => {
                "the response did not end within --timeout: raise it, or use \
                 a smaller response"
            }
        }
    }

    fn protocol(self) -> String {
        let name = self.http.version.name();
        let spoken = matches!(self.failure.phase, FailurePhase::Wait | FailurePhase::Transfer);
        match self.failure.code_name(self.http.version) {
            // Data that is not HTTP at all causes the same code as a violation of the protocol.
            Some(code) if spoken && self.http.prior_knowledge => {
                format!(
                    "the response is not valid {name} ({code}): check that the server supports \
                     it"
                )
            }
            Some(code) if spoken => format!("the server's response is malformed ({code})"),
            _ => "the server does not support the requested version of HTTP".to_owned(),
        }
    }

    fn tls_failed(self) -> String {
        let text = match self.reason {
            Some(Reason::CertificateIssuer) => {
                "give the issuer's certificate with --cacert, or accept any with --insecure"
            }
            Some(Reason::CertificateName) => {
                "the certificate is for another name: set it with --sni"
            }
            Some(Reason::CertificateDate) => "check the certificate's dates and this host's clock",
            Some(Reason::CertificateNameless) => {
                "the certificate has no subjectAltName, the only name that counts: reissue it with \
                 one, or accept any with --insecure"
            }
            Some(Reason::CertificateVersion) => {
                "the certificate is older than X.509 version 3, so it can't name a server: reissue \
                 it, or accept any with --insecure"
            }
            Some(Reason::CertificateAuthority) => {
                "the server presents a CA certificate (CA:TRUE) as its own: give that certificate \
                 with --cacert, or accept any with --insecure"
            }
            Some(Reason::CertificatePurpose) => {
                "the certificate is not for servers (extended key usage): accept any with --insecure"
            }
            Some(Reason::Certificate) if self.tls.is_some_and(|tls| tls.insecure) => {
                "the server does not prove possession of the certificate's key"
            }
            Some(Reason::Certificate) => "the certificate is bad: accept any with --insecure",
            Some(Reason::Incompatible) => {
                "the server supports nothing that --tls, --ciphers, --groups and --alpn allow"
            }
            None if self.failure.code.is_some() => return self.alert(),
            _ => "see tls.failures in the result: perhaps that port does not use TLS",
        };
        text.to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn http(version: HttpVersion) -> Http {
        Http { version, ..Http::default() }
    }

    fn tls(version: HttpVersion) -> PlanTls {
        PlanTls { alpn: vec![version.alpn().to_owned()], ..PlanTls::default() }
    }

    fn advice(failure: Failure, version: HttpVersion, tls: &PlanTls) -> String {
        let (http, tls) = (http(version), Some(tls));
        Case { failure: &failure, reason: None, http, tls, interrupted: false }.advice()
    }

    fn alert(code: u64, version: HttpVersion, tls: &PlanTls) -> String {
        let failure = Failure { code: Some(code), ..Failure::new(Outcome::Tls, FailurePhase::Tls) };
        advice(failure, version, tls)
    }

    #[test]
    fn an_alert_has_the_option_that_it_is_about() {
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
    fn each_fault_of_a_certificate_has_advice_of_its_own() {
        let failure = Failure::new(Outcome::Tls, FailurePhase::Tls);
        let said = |reason, insecure| {
            let tls = PlanTls { insecure, ..tls(HttpVersion::Http1) };
            let (http, tls) = (http(HttpVersion::Http1), Some(&tls));
            Case { failure: &failure, reason: Some(reason), http, tls, interrupted: false }.advice()
        };
        for (reason, part) in [
            (Reason::CertificateIssuer, "--cacert"),
            (Reason::CertificateName, "--sni"),
            (Reason::CertificateNameless, "no subjectAltName"),
            (Reason::CertificateVersion, "X.509 version 3"),
            (Reason::CertificateAuthority, "CA:TRUE"),
            (Reason::CertificatePurpose, "not for servers"),
            (Reason::Certificate, "--insecure"),
            (Reason::Incompatible, "--groups"),
        ] {
            let said = said(reason, false);
            assert!(said.contains(part) && !said.contains("does not use TLS"), "{said}");
            assert_eq!(said.contains("--sni"), reason == Reason::CertificateName, "{said}");
        }
        assert!(!said(Reason::Certificate, true).contains("--insecure"));
        assert!(said(Reason::Protocol, false).contains("does not use TLS"));
    }

    #[test]
    fn a_protocol_that_is_not_offered_names_the_option_that_asked_for_it() {
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
    fn another_version_of_tls_is_not_advised_where_it_was_given_or_can_not_be() {
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
    fn a_timeout_is_a_firewalls_only_before_the_server_was_reached() {
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
    fn what_is_broken_off_is_told_from_connections_that_end() {
        let said = |phase, code| {
            let failure = Failure { code, ..Failure::new(Outcome::Reset, phase) };
            advice(failure, HttpVersion::Http2, &tls(HttpVersion::Http2))
        };
        assert!(said(FailurePhase::Wait, None).contains("closes connections"));
        assert!(said(FailurePhase::Transfer, Some(2)).contains("ends responses early"));
        assert!(said(FailurePhase::Wait, Some(7)).contains("resets requests"));
        assert!(said(FailurePhase::Wait, Some(13)).contains("omit --http2"));
    }

    #[test]
    fn a_breach_of_the_rules_is_not_taken_for_another_protocol() {
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
    fn what_this_host_refused_is_named() {
        let said = |errno| {
            let failure = Failure { errno, ..Failure::new(Outcome::Local, FailurePhase::Connect) };
            let http = http(HttpVersion::Http1);
            Case { failure: &failure, reason: None, http, tls: None, interrupted: false }.advice()
        };
        let files = said(Some(libc::EMFILE));
        assert!(files.contains("Too many open files") && files.contains("ulimit -n"), "{files}");
        assert!(said(Some(libc::EACCES)).contains("Permission denied"));
        assert_eq!(said(None), "this host refused");
    }
}

//! What changed at a site, as the document has it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::site_finding::SiteCheck;
use crate::site_verdict::SiteVerdict;

/// What changed since an earlier check of the same site with the same options. Only checks of which both
/// have a finding are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteSince {
    /// When the earlier check began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// Its verdict.
    pub verdict: SiteVerdict,
    /// In what the families differ now and did not then.
    pub appeared: Vec<SiteCheck>,
    /// In what they differed then and are alike now.
    pub vanished: Vec<SiteCheck>,
    /// In what they differed then and differ now, with another weight or otherwise than in numbers.
    pub differs_otherwise: Vec<SiteCheck>,
    /// In what they differ now, and it was not known then whether they did.
    pub newly_known: Vec<SiteCheck>,
    /// In what they differed then, and it is not known now whether they do.
    pub no_longer_known: Vec<SiteCheck>,
    /// The addresses that are new.
    pub addresses_added: Vec<IpAddr>,
    /// The addresses that are gone.
    pub addresses_removed: Vec<IpAddr>,
    /// The certificates that no address had then.
    pub certificates_added: Vec<AddedCertificate>,
}

/// A certificate that no address of the site had in the earlier check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddedCertificate {
    /// The SHA-256 of the certificate in hexadecimal digits.
    pub sha256: String,
    /// The end of its validity, RFC 3339 in UTC; null if it can't be read.
    pub not_after: Option<String>,
}

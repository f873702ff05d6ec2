//! Address list files: the ratio of a cell's requests as the ratio of a file's entries.

use std::str::FromStr;

use sixmark_http::url::{Host, Url};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_units::family::Family;

/// The setting that has a cell read an address list file.
pub(super) const ADDRESS_LIST: &str = "address-list";

/// The maximum number of entries of each family.
const MOST_ENTRIES: u64 = 1_000;

/// The number of entries of each family in an address list file, written `4:1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressList(PlanRatio);

impl FromStr for AddressList {
    type Err = String;

    fn from_str(text: &str) -> Result<AddressList, String> {
        let ratio: PlanRatio = text.parse()?;
        if ratio.v6().max(ratio.v4()) <= MOST_ENTRIES {
            Ok(AddressList(ratio))
        } else {
            Err(format!("has more than {MOST_ENTRIES} entries of a family"))
        }
    }
}

impl AddressList {
    /// Returns the ratio of its entries.
    pub fn ratio(self) -> PlanRatio {
        self.0
    }

    /// Returns the text of the file. Each URL has an address as its host; URLs of a family without
    /// entries are omitted.
    pub fn text(self, urls: &[String]) -> String {
        let entries = |url: &String| match url.parse::<Url>().map(|url| url.host) {
            Ok(Host::Address(address, _)) => match Family::of(address) {
                Family::Ipv6 => self.0.v6(),
                Family::Ipv4 => self.0.v4(),
            },
            _ => 0,
        };
        urls.iter().map(|url| format!("{url}\n").repeat(entries(url) as usize)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_as_many_entries_of_each_family_as_the_ratio_says() {
        let urls = ["http://[::1]:80/4k".to_owned(), "http://127.0.0.1:80/4k".to_owned()];
        let list: AddressList = "2:1".parse().unwrap();
        assert_eq!(
            list.text(&urls),
            "http://[::1]:80/4k\nhttp://[::1]:80/4k\nhttp://127.0.0.1:80/4k\n"
        );
        assert!("1001:1".parse::<AddressList>().unwrap_err().contains("more than 1000"));
        assert!("0:0".parse::<AddressList>().is_err());
    }
}

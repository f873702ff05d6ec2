//! Wording for traffic: rates and senders.

use crate::traffic_result::OfferedTraffic;
use crate::{Basis, TrafficSide};

/// Returns the basis on which rates count bytes; for a script, the payload.
pub(crate) fn basis_of(asked: &OfferedTraffic) -> Basis {
    match asked {
        OfferedTraffic::Mix { mix, .. } => mix.basis,
        OfferedTraffic::Script { .. } => Basis::Payload,
    }
}

/// Returns the name of the sending side, or "elsewhere" if neither side sent it.
pub fn sender(side: Option<TrafficSide>) -> String {
    side.map_or("elsewhere".to_owned(), |side| side.to_string())
}

/// Describes the bytes that rates count.
pub(crate) fn counted_bytes(basis: Basis) -> &'static str {
    match basis {
        Basis::Payload => "payload",
        Basis::Wire => "all headers from Ethernet up",
    }
}

/// Formats a bit rate with a suitable unit.
pub fn write_bit_rate(bits_per_s: f64) -> String {
    match bits_per_s {
        r if r < 999.5 => format!("{r:.0} bit/s"),
        r if r < 999.95e3 => format!("{:.1} kb/s", r / 1e3),
        r if r < 999.95e6 => format!("{:.2} Mb/s", r / 1e6),
        r => format!("{:.3} Gb/s", r / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_bit_rates_with_a_suitable_unit() {
        let shown = [0.0, 1_500.0, 75e6, 1e9].map(write_bit_rate);
        assert_eq!(shown, ["0 bit/s", "1.5 kb/s", "75.00 Mb/s", "1.000 Gb/s"]);
    }
}

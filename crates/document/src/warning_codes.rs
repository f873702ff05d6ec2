//! The codes of warnings, most serious first.

/// All codes, from the most to the least serious: nothing was measured, a family did not take part,
/// figures are incomplete or biased, the generator or a host was at its limit, the path or the
/// traffic is unusual, there are few samples, the options of the run were unusual. docs/result.md
/// explains each code.
pub const WARNING_CODES: &[&str] = &[
    "hopeless",
    "family_fell_away",
    "given_up",
    "interrupted",
    "search_stopped",
    "dead_address",
    "unroutable",
    "agent_lost",
    "agent_disagrees",
    "certificates_differ",
    "status",
    "unanswered",
    "failures",
    "content",
    "malformed",
    "unsolicited",
    "local",
    "no_port",
    "redirects_cut",
    "redirects_unfollowed",
    "unchecked",
    "file_incomplete",
    "interface_lost",
    "capture_dropped",
    "capture_gaps",
    "capture_cut",
    "capture_clock",
    "capture_untimed",
    "flows_evicted",
    "fragments_unjoined",
    "packets_malformed",
    "packets_unreadable",
    "packets_cut",
    "http_unparsed",
    "exchanges_hidden",
    "truth_apart",
    "truth_incomplete",
    "generator_saturated",
    "agents_apart",
    "agent_slow",
    "fleet_server_restarted",
    "generator_stalled",
    "generator_limited",
    "connections_limited",
    "client_delay",
    "delays_apart",
    "clock_stepped",
    "missing_stamps",
    "slow_checks",
    "begun_late",
    "unsent",
    "dropped",
    "overloaded",
    "connections_awaited",
    "unopened",
    "linger",
    "datagrams_dropped",
    "cpu_full",
    "steal",
    "softnet_drops",
    "interface_drops",
    "listen_overflows",
    "conntrack_full",
    "retransmissions",
    "family_retransmissions",
    "below_noise_floor",
    "autocorrelated_blocks",
    "too_few_blocks",
    "blocks_lengthened",
    "short_trials",
    "few_samples",
    "few_ports",
    "begun_before",
    "packets_coalesced",
    "truth_connect_only",
    "vitals_apart",
    "certificate_expires",
    "insecure",
    "close_rst",
    "single_family",
    "lookup_failed",
    "left_out",
    "requests_left_out",
    "requests_changed",
    "no_io_uring",
    "scheme_assumed",
    "insecure_unused",
];

/// Codes of remarks: they are about how options were read, and don't put the figures in doubt.
const REMARKS: [&str; 3] = ["no_io_uring", "scheme_assumed", "insecure_unused"];

/// Returns true if a warning with this code is a remark.
pub fn is_remark(code: &str) -> bool {
    REMARKS.contains(&code)
}

/// Returns the word before the message of a warning with this code: `warning`, or `note` for a
/// remark.
pub fn word_of(code: &str) -> &'static str {
    if is_remark(code) { "note" } else { "warning" }
}

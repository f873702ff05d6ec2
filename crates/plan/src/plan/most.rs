//! Limits of a plan.

/// The highest number of an endpoint, and the most endpoints, that a peer may count. Lists are
/// indexed by such numbers, and grow up to them.
pub const MOST_ENDPOINTS: usize = 65_536;

//! The part of sixmark that speaks to Linux. The only place for unsafe code.

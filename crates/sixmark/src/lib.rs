//! sixmark: is this web service as good over IPv6 as over IPv4, under load, and if not, why?

pub mod origin;

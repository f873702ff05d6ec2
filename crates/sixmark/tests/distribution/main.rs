//! What is handed out: the static binary, the Debian package, the container image.
//!
//! `scripts/package` makes them (`make test` with `--quick`, `make dist-check` as they are released), and
//! `SIXMARK_DIST` names their folder. `SIXMARK_SKIP=distribution` omits all of them; `podman` those that need podman
//! and runc, `debian` those that need lintian, systemd-analyze and root.
#![cfg(test)]

mod debian;
mod files;
mod image;
mod installer;
mod nats_server;
mod repacked;
mod static_binary;

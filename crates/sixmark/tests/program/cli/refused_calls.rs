//! Kernels and containers that refuse system calls: each is reported once, and the run is measured
//! without them.

use std::process::Output;

use serde_json::Value;
use sixmark_sys::refusal::{RefusedCall, refuse_calls};
use sixmark_testkit::{Origin, Server, complaint, sixmark};

/// IORING_REGISTER_PBUF_RING (Linux 5.19): buffers, without which no receive is multishot.
const REGISTER_BUFFERS: u32 = 22;

fn refused(number: libc::c_long, only: Option<(u8, u32)>, errno: i32) -> RefusedCall {
    RefusedCall { number, only, errno: errno.try_into().unwrap() }
}

/// Runs the program in a thread to which these calls are refused.
fn sixmark_without(calls: &[RefusedCall], arguments: &[&str]) -> Output {
    std::thread::scope(|scope| {
        let work = || {
            refuse_calls(calls).unwrap();
            sixmark(arguments)
        };
        scope.spawn(work).join().unwrap()
    })
}

#[test]
fn a_run_falls_back_to_epoll_without_io_uring_and_notes_it_once() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let (setup, register) = (libc::SYS_io_uring_setup, libc::SYS_io_uring_register);
    let cases = [
        // Docker's and podman's default profiles.
        (refused(setup, None, libc::EPERM), "a ring of Linux 6.1: Operation not permitted"),
        // A kernel without it, and Linux 5.10, which knows fewer flags.
        (refused(setup, None, libc::ENOSYS), "a ring of Linux 6.1: Function not implemented"),
        (refused(setup, None, libc::EINVAL), "a ring of Linux 6.1: Invalid argument"),
        (
            refused(register, Some((1, REGISTER_BUFFERS)), libc::EINVAL),
            "buffers for multishot receives: Invalid argument",
        ),
    ];
    for (call, cause) in cases {
        let output = sixmark_without(&[call], &["run", "-n", "40", "-c", "4", &v6, &v4]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &said;
        assert_eq!(text.matches("more CPU time").count(), 1, "{text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(cause) && text.contains("up to 15 % more CPU time"), "{text}");
        assert!(text.contains("epoll"), "{text}");

        let line = complaint(
            &sixmark_without(&[call], &["run", "-n", "4", "--driver", "uring", &v6, &v4]),
            3,
        );
        assert!(line.contains(cause) && line.contains("use --driver epoll"), "{line}");
    }
}

#[test]
fn a_comparison_notes_the_epoll_fallback_once_and_in_its_document() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let call = refused(libc::SYS_io_uring_setup, None, libc::EPERM);
    let options = ["compare", "-n", "20", "--blocks", "6", &v6, &v4];
    let output = sixmark_without(&[call], &options);
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &said;
    assert_eq!(text.matches("more CPU time").count(), 1, "{text}");

    let output = sixmark_without(&[call], &[&options[..], &["--json", "-"]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let noted = document.to_string().matches("\"no_io_uring\"").count();
    assert!(noted >= 1, "{document}");
}

#[test]
fn refuses_kernel_timestamps_without_kernel_support() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let option = Some((2, libc::SO_TIMESTAMPING as u32));
    let call = refused(libc::SYS_setsockopt, option, libc::ENOPROTOOPT);
    let line = complaint(
        &sixmark_without(&[call], &["run", "-n", "4", "--timestamps", "kernel", &v6, &v4]),
        3,
    );
    assert!(line.contains("--timestamps kernel: "), "{line}");
    // Without the option the run needs none.
    assert!(sixmark_without(&[call], &["run", "-n", "4", &v6, &v4]).status.success());
}

/// Linux 5.10 has neither this driver's io_uring nor epoll_pwait2 (5.11).
#[test]
fn all_versions_of_http_run_on_linux_5_10() {
    let calls = [
        refused(libc::SYS_io_uring_setup, None, libc::EINVAL),
        refused(libc::SYS_epoll_pwait2, None, libc::ENOSYS),
    ];
    let origin = Origin::secure();
    let [v6, v4] = origin.urls("/bytes/1000");
    for version in [&[][..], &["--http2"], &["--http3"]] {
        let options = [&["run", "-n", "40", "-c", "4", "-k", &v6, &v4], version].concat();
        let output = sixmark_without(&calls, &options);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("no request failed"), "{version:?}: {text}");
    }
}

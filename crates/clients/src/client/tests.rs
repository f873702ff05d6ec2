#![cfg(test)]

use super::*;

fn job(client: &str) -> Job {
    Job {
        url: "http://[::1]:80/x".to_owned(),
        family: Family::Ipv6,
        count: (client != "wrk").then_some(2),
        duration: (client == "wrk").then_some(Duration::from_secs(1)),
        connections: 1,
        streams: 1,
        threads: 1,
        timeout: Duration::from_secs(5),
        keep_alive: true,
        protocol: None,
        headers: Vec::new(),
        insecure: false,
        save: false,
        save_to: None,
        blocks: Blocks::default(),
    }
}

fn said<'a>(out: &'a str, err: &'a str) -> ProgramOutput<'a> {
    ProgramOutput { out, err, wall_s: 0.5, cpu_s: 0.25 }
}

fn figure(answer: &Answer, name: &str) -> f64 {
    *answer.figures.get(name).unwrap_or_else(|| panic!("no {name}: {answer:?}"))
}

/// Parses the output of a program, and checks that wrong and truncated output is handled.
fn read(client: Client, out: &str, err: &str) -> Answer {
    let job = job(client.name());
    let answer = client.read(&job, &said(out, err)).unwrap();
    for (name, value) in &answer.figures {
        name.parse::<Metric>().unwrap();
        assert!(value.is_finite() && *value >= 0.0, "{name} {value}");
    }
    assert_eq!(figure(&answer, "cpu"), 0.25);
    for broken in ["", "hello\n", "0 1 2\n", "\u{0}"] {
        assert!(client.read(&job, &said(broken, broken)).is_err(), "{broken:?}");
    }
    // Truncated output is parsed or refused, but never causes a panic.
    for end in (0..out.len()).filter(|&end| out.is_char_boundary(end)) {
        let _ = client.read(&job, &said(&out[..end], err));
    }
    for end in (0..err.len()).filter(|&end| err.is_char_boundary(end)) {
        let _ = client.read(&job, &said(out, &err[..end]));
    }
    answer
}

#[test]
fn reads_the_figures_of_each_curl_transfer() {
    let out = "0 200 5879824 121 0.000130 0.000000 0.000180 0.002015 0.010000 1\n\
               7 000 0 0 0.000000 0.000000 0.000000 0.000000 0.000090 0\n";
    let answer = read(Client::Curl, out, "");
    assert_eq!((figure(&answer, "sent"), figure(&answer, "completed")), (2.0, 1.0));
    assert_eq!(figure(&answer, "failures"), 0.5);
    assert!((figure(&answer, "connect.mean") - 130.0).abs() < 1e-6);
    assert!((figure(&answer, "wait.mean") - 1_835.0).abs() < 1e-6);
    assert!((figure(&answer, "goodput") - 5_879_824.0 / 0.01009).abs() < 1.0);
    assert!(Client::Curl.read(&job("curl"), &said(&out[..66], "")).is_err(), "one is missing");
}

#[test]
fn reads_the_figures_of_each_wget_transfer() {
    let err = "--2026-11-21 17:41:25--  http://[::1]:18080/bytes/5879824
Connecting to [::1]:18080... connected.
HTTP request sent, awaiting response... 200 OK
Length: 5879824 (5.6M) [application/octet-stream]
Saving to: '/dev/null'

     0K .....                              100% 1.56G=0.004s

2026-11-21 17:41:25 (1.50 GB/s) - '/dev/null' saved [5879824/5879824]

--2026-11-21 17:41:25--  http://[::1]:18080/status/404
Reusing existing connection to [::1]:18080.
HTTP request sent, awaiting response... 404 Not Found
2026-11-21 17:41:25 ERROR 404: Not Found.

FINISHED --2026-11-21 17:41:25--
Total wall clock time: 0.01s
Downloaded: 1 files, 5.6M in 0.004s (1.56 GB/s)
";
    let answer = read(Client::Wget, "", err);
    assert_eq!(
        (figure(&answer, "sent"), figure(&answer, "completed"), answer.refused),
        (2.0, 1.0, 1)
    );
    assert!((figure(&answer, "goodput") - 1.5 * 1_073_741_824.0).abs() < 1.0);
    assert_eq!(figure(&answer, "elapsed"), 0.5);
}

#[test]
fn reads_the_report_of_ab() {
    let out = "Document Length:        4096 bytes

Concurrency Level:      10
Time taken for tests:   0.009 seconds
Complete requests:      1000
Failed requests:        3
   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)
Write errors:           2
Keep-Alive requests:    1000
Total transferred:      4238000 bytes
HTML transferred:       4096000 bytes
Requests per second:    100000.00 [#/sec] (mean)
Time per request:       0.100 [ms] (mean)
Time per request:       0.010 [ms] (mean, across all concurrent requests)
Transfer rate:          400000.00 [Kbytes/sec] received
";
    let answer = read(Client::Ab, out, "");
    assert_eq!((figure(&answer, "completed"), figure(&answer, "failed")), (997.0, 3.0));
    assert_eq!(figure(&answer, "write_errors"), 2.0);
    assert_eq!(figure(&answer, "transfer_rate"), 409.6e6);
    assert!((figure(&answer, "response.mean") - 100.0).abs() < 1e-9);
    assert!((figure(&answer, "goodput") - 409.6e6).abs() < 1.0);
}

#[test]
fn reads_the_report_of_wrk() {
    let out = "Running 1s test @ http://[::1]:18080/bytes/4096
  1 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   252.42us    0.93ms  15.91ms   95.32%
    Req/Sec   101.48k    18.30k  111.77k    90.91%
  Latency Distribution
     50%   71.00us
     75%   77.00us
     90%  103.00us
     99%    5.41ms
  111043 requests in 1.10s, 446.26MB read
  Socket errors: connect 0, read 3, write 1, timeout 2
  Non-2xx or 3xx responses: 4
Requests/sec: 100950.75
Transfer/sec:    405.70MB
";
    let answer = read(Client::Wrk, out, "");
    assert_eq!((figure(&answer, "sent"), figure(&answer, "completed")), (111_049.0, 111_043.0));
    assert_eq!((figure(&answer, "write_errors"), answer.refused), (1.0, 4));
    assert_eq!((figure(&answer, "response.p99"), figure(&answer, "response.p50")), (5_410.0, 71.0));
    assert_eq!(figure(&answer, "transfer_rate"), 405.70 * 1_048_576.0);
}

#[test]
fn reads_the_report_of_h2load() {
    let out = "finished in 18.34ms, 54513.74 req/s, 219.08MB/s
requests: 1000 total, 1000 started, 1000 done, 990 succeeded, 10 failed, 2 errored, 0 timeout
status codes: 990 2xx, 0 3xx, 5 4xx, 3 5xx
traffic: 4.02MB (4214000) total, 84.96KB (87000) headers (space savings 0.00%), 3.91MB (4096000) data
                     min         max         mean         sd        +/- sd
time for request:       28us      4.10ms       174us       443us    98.00%
time for connect:       50us       398us       190us       105us    70.00%
time to 1st byte:      359us       677us       481us        96us    70.00%
";
    let answer = read(Client::H2load, out, "");
    assert_eq!(
        (figure(&answer, "sent"), figure(&answer, "completed"), answer.refused),
        (1_000.0, 998.0, 8)
    );
    assert_eq!((figure(&answer, "failed"), figure(&answer, "failures")), (10.0, 0.01));
    assert_eq!((figure(&answer, "response.mean"), figure(&answer, "connect.max")), (174.0, 398.0));
    assert!((figure(&answer, "goodput") - 4_096_000.0 / 0.01834).abs() < 1.0);
}

#[test]
fn builds_the_client_arguments_from_the_job() {
    let all = |client: Client| client.arguments(&job(client.name())).unwrap().join(" ");
    assert_eq!(all(Client::Ab), "-q -d -n 2 -c 1 -s 5 -k http://[::1]:80/x");
    assert_eq!(all(Client::Wrk), "-t1 -c1 -d1s --timeout=5s --latency http://[::1]:80/x");
    assert_eq!(all(Client::H2load), "-c1 -t1 -n2 -m1 -N5 http://[::1]:80/x");
    assert!(all(Client::Wget).ends_with("-6 --timeout=5 http://[::1]:80/x http://[::1]:80/x"));
    assert_eq!(all(Client::Curl).matches("-o /dev/null http://[::1]:80/x").count(), 2);
    let closing = Job { keep_alive: false, family: Family::Ipv4, ..job("curl") };
    let words = Client::Curl.arguments(&closing).unwrap();
    assert!(words.contains(&"Connection: close".to_owned()) && words.contains(&"-4".to_owned()));
    let named = Job { url: "http://localhost/".to_owned(), ..job("ab") };
    assert!(Client::Ab.arguments(&named).unwrap_err().contains("needs an address"));
}

fn blocks(url: &str, change: impl FnOnce(&mut Job)) -> Job {
    let text = |text: &str| Some(text.to_owned());
    let mut job = job("wrk");
    job.url = url.to_owned();
    (job.blocks.operation, job.blocks.block) = (text("read"), text("64k"));
    (job.blocks.depth, job.blocks.size) = (text("8"), text("16m"));
    change(&mut job);
    job
}

#[test]
fn builds_fio_arguments_for_each_storage_protocol() {
    for (url, engine, target) in [
        ("nbd://[::1]:10900/disk", "nbd", "--uri=nbd://[::1]:10900/disk"),
        ("nbd://127.0.0.1/disk", "nbd", "--uri=nbd://127.0.0.1:10809/disk"),
        ("nfs://[fd00::2]/a/b/file?version=3", "nfs", "--nfs_url=nfs://fd00::2/a/b?version=3"),
        ("nfs://10.0.0.2/a/file", "nfs", "--nfs_url=nfs://10.0.0.2/a"),
        (
            "iscsi://[::1]/iqn.a:b/1",
            "libiscsi",
            "--filename=iscsi\\://[\\:\\:1]\\:3260/iqn.a\\:b/1",
        ),
        ("nvme://[::1]/dev/disk/by-id/nvme-x", "libaio", "--filename=/dev/disk/by-id/nvme-x"),
    ] {
        let words = Client::Fio.arguments(&blocks(url, |_| {})).unwrap();
        for word in [
            &format!("--ioengine={engine}"),
            target,
            "--bs=65536",
            "--size=16777216",
            "--iodepth=8",
            "--runtime=1",
        ] {
            assert!(words.iter().any(|own| own == word), "{url}: no {word} in {words:?}");
        }
        assert_eq!(words.contains(&"--filename=file".to_owned()), engine == "nfs");
        assert_eq!(words.contains(&"--direct=1".to_owned()), engine == "libaio");
    }
}

#[test]
fn rejects_jobs_that_fio_can_not_run() {
    let text = |text: &str| Some(text.to_owned());
    let nbd = "nbd://[::1]/x";
    for (job, part) in [
        (blocks("http://[::1]/x", |_| {}), "nbd://, nfs://, iscsi:// or nvme://"),
        (blocks("nbd://host/x", |_| {}), "needs an address"),
        (blocks("nfs://[::1]/file", |_| {}), "/export/file"),
        (blocks("nvme://[::1]/disk", |_| {}), "needs the path of the kernel's block device"),
        (blocks("nfs://[::1]:1/export/file", |_| {}), "nfsport"),
        (blocks(nbd, |job| job.blocks.engine = text("nfs")), "no engine 'nfs' for nbd://"),
        (blocks(nbd, |job| job.blocks.operation = None), "needs an operation"),
        (blocks(nbd, |job| job.blocks.operation = text("trim")), "no operation 'trim'"),
        (blocks(nbd, |job| job.blocks.block = None), "needs a block"),
        (blocks(nbd, |job| job.blocks.block = text("64kb")), "block = '64kb'"),
        (blocks(nbd, |job| job.blocks.block = text("0")), "block = '0'"),
        (blocks(nbd, |job| job.blocks.depth = text("-1")), "depth = '-1'"),
        (blocks(nbd, |job| (job.blocks.size, job.duration) = (None, None)), "needs a size"),
        (blocks("nfs://[::1]/e/f", |job| job.blocks.size = None), "needs a size"),
        (blocks(nbd, |job| job.duration = Some(Duration::from_millis(1_500))), "whole seconds"),
        (blocks(nbd, |job| job.connections = 2), "depth is how many"),
        (blocks(nbd, |job| job.count = Some(1)), "depth is how many"),
    ] {
        let line = Client::Fio.arguments(&job).unwrap_err();
        assert!(line.starts_with("fio ") && line.contains(part), "{line}");
    }
}

#[test]
fn reads_the_report_of_fio() {
    let side = |ios: u64| {
        format!(
            "{{\"io_bytes\": {}, \"bw_bytes\": 33554432, \"iops\": 512.5, \"runtime\": 2000, \"total_ios\": {ios}, \
             \"short_ios\": 0, \"drop_ios\": 0, \"lat_ns\": {{\"min\": 1000, \"max\": 9000, \"mean\": 2500.5, \
             \"percentile\": {{\"50.000000\": 2000, \"90.000000\": 3000, \"99.000000\": 4000, \"99.900000\": 5000}}}}}}",
            ios * 65_536
        )
    };
    let document = |error: i32, read: u64, write: u64| {
        format!(
            "{{\"fio version\": \"fio-3.33\", \"jobs\": [{{\"jobname\": \"sixmark\", \"error\": {error}, \"read\": {}, \"write\": {}}}]}}",
            side(read),
            side(write)
        )
    };
    let answer = read(Client::Fio, &document(0, 1_024, 0), "");
    assert_eq!((figure(&answer, "iops"), figure(&answer, "goodput")), (512.5, 33_554_432.0));
    assert_eq!((figure(&answer, "completed"), figure(&answer, "elapsed")), (1_024.0, 2.0));
    assert_eq!((figure(&answer, "response.mean"), figure(&answer, "response.p99")), (2.5005, 4.0));
    let greeted = format!(
        "nbd:127.0.0.1: connected to TLS\n{}",
        document(0, 1_024, 0).replacen('{', "{\n", 1)
    );
    read(Client::Fio, &greeted, "");
    let job = job("fio");
    for wrong in [document(0, 0, 1_024), document(5, 1_024, 0), document(0, 0, 0)] {
        assert!(Client::Fio.read(&job, &said(&wrong, "")).is_err(), "{wrong}");
    }
    let lacking = Client::Fio
        .read(&job, &said("", "fio: engine nfs not loadable\nfio: failed to load engine\n"));
    assert!(lacking.unwrap_err().contains("SIXMARK_FIO"));
}

/// The reports of two loads, the second of which was refused.
const LOADS: &str = concat!(
    r#"{"error":null,"status":404,"protocol":"http/1.1","peer":"::1","reused":false,"#,
    r#""content_bytes":320000,"bytes":320120,"connect_us":100.0,"tls_us":null,"wait_us":1000.0,"#,
    r#""transfer_us":2000.0,"response_us":10000.0}"#,
    "\n",
    r#"{"error":"net::ERR_CONNECTION_REFUSED","status":0,"protocol":"","peer":null,"reused":false,"#,
    r#""content_bytes":0,"bytes":0,"connect_us":null,"tls_us":null,"wait_us":null,"#,
    r#""transfer_us":null,"response_us":10000.0}"#,
    "\n",
);

#[test]
fn reads_the_figures_of_each_browser_load() {
    for client in [Client::Chromium, Client::Firefox] {
        let answer = read(client, LOADS, "");
        assert_eq!((figure(&answer, "sent"), figure(&answer, "completed")), (2.0, 1.0));
        assert_eq!(answer.refused, 1);
        assert!((figure(&answer, "elapsed") - 0.02).abs() < 1e-9);
        assert!((figure(&answer, "goodput") - 16_000_000.0).abs() < 1e-3);
        for (name, us) in [("connect", 100.0), ("wait", 1e3), ("transfer", 2e3), ("response", 1e4)]
        {
            assert_eq!(figure(&answer, &format!("{name}.mean")), us);
        }
        assert!(!answer.figures.contains_key("tls.mean"));
    }
}

#[test]
fn rejects_a_browser_load_over_the_wrong_family_or_protocol() {
    let refused = |change: fn(&mut Job), word: (&str, &str)| {
        let mut job = job("chromium");
        change(&mut job);
        Client::Chromium.read(&job, &said(&LOADS.replace(word.0, word.1), "")).unwrap_err()
    };
    let none = ("", "");
    assert_eq!(refused(|job| job.family = Family::Ipv4, none), "it went to ::1, which is not IPv4");
    let again = ("\"reused\":false", "\"reused\":true");
    let line = refused(|job| job.keep_alive = false, again);
    assert_eq!(line, "it used a connection again, which it should not");
    let line = refused(|job| job.protocol = Some("http/2".into()), none);
    assert_eq!(line, "it spoke http/1.1 instead of http/2");
    assert!(refused(|_| {}, ("10000.0", "-1.0")).contains("below 0"));
}

#[test]
fn rejects_jobs_that_browsers_can_not_run() {
    let refused = |client: Client, change: fn(&mut Job)| {
        let mut job = job(client.name());
        change(&mut job);
        client.arguments(&job).unwrap_err()
    };
    for client in [Client::Chromium, Client::Firefox] {
        assert!(client.arguments(&job(client.name())).is_ok());
        assert!(refused(client, |job| job.connections = 2).contains("one at a time"));
        assert!(refused(client, |job| job.headers = vec!["A: b".into()]).contains("header"));
        assert!(refused(client, |job| job.count = None).contains("count = N"));
    }
    let named = refused(Client::Firefox, |job| job.url = "http://host/".into());
    assert!(named.contains("no option for the family"), "{named}");
}

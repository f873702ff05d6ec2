#![cfg(test)]

use super::*;

fn read(text: &str) -> ToolOutput {
    let found = read_output(text.as_bytes(), None).unwrap_or_else(|why| panic!("{why}\n{text}"));
    // Truncated output is parsed or refused, but never causes a panic.
    for end in 0..text.len() {
        for tool in [None, Some(found.tool)] {
            if let Err(why) = read_output(&text.as_bytes()[..end], tool) {
                assert!(!why.contains('\n') && why.len() < 2_000, "{why:?}");
            }
        }
    }
    for name in found.figures.keys() {
        name.parse::<Metric>().unwrap();
    }
    found
}

fn refused(text: &str) -> String {
    read_output(text.as_bytes(), None).unwrap_err()
}

fn figure(of: &ToolOutput, name: &str) -> f64 {
    *of.figures.get(name).unwrap_or_else(|| panic!("no {name}: {of:?}"))
}

const MIB: f64 = 1_048_576.0;

/// Wget 1.21 on Linux, `-o`: two transfers and an error.
const WGET: &str = "--2026-11-26 00:11:43--  http://[2001:db8::1]:8000/5879824
Connecting to [2001:db8::1]:8000... connected.
HTTP request sent, awaiting response... 200 OK
Length: 5879824 (5.6M) [application/octet-stream]
Saving to: ‘/dev/null’

     0K .......... .......... .......... .......... ..........  0% 1.69G 0s
  5700K .......... .......... .......... .......... ..        100% 2.17G=0.5s

2026-11-26 00:11:43 (11.2 MB/s) - ‘/dev/null’ saved [5879824/5879824]

--2026-11-26 00:11:43--  http://[2001:db8::1]:8000/5879824
Reusing existing connection to [2001:db8::1]:8000.
HTTP request sent, awaiting response... 200 OK
Length: 5879824 (5.6M) [application/octet-stream]
Saving to: ‘/dev/null’

2026-11-26 00:11:43 (11.2 MB/s) - ‘/dev/null’ saved [5879824/5879824]

--2026-11-26 00:11:43--  http://[2001:db8::1]:8000/missing
Reusing existing connection to [2001:db8::1]:8000.
HTTP request sent, awaiting response... 404 Not Found
2026-11-26 00:11:43 ERROR 404: Not Found.

FINISHED --2026-11-26 00:11:43--
Total wall clock time: 1m 1.5s
Downloaded: 2 files, 11M in 1.0s (11.2 MB/s)
";

/// Wget 1.11 on Windows, `-d -o`: carriage returns, a progress bar, a redirect, a name.
const WGET_WINDOWS: &str = "DEBUG output created by Wget 1.11.4 on Windows-MSVC.\r
\r
--2026-11-26 10:00:01--  http://www.example.net/\r
Resolving www.example.net... 192.0.2.1\r
Connecting to www.example.net|192.0.2.1|:80... connected.\r
HTTP request sent, awaiting response... 302 Found\r
Location: http://192.0.2.1/file [following]\r
--2026-11-26 10:00:01--  http://192.0.2.1/file\r
Connecting to 192.0.2.1:80... connected.\r
HTTP request sent, awaiting response... 200 OK\r
Length: 1048576 (1.0M) [text/plain]\r
Saving to: `file'\r
\r
\r 0% [                  ] 0           --.-K/s  \r100%[=====================>] 1,048,576   2.00M/s   in 0.5s\r
\r
2026-11-26 10:00:02 (2.00 MB/s) - `file' saved [1048576/1048576]\r
\r
";

/// Wget 1.7, as FH Regensburg used it: no date.
const WGET_1_7: &str = "--12:15:23--  http://[3ffe:400:430::1]:8000/5879824
           => `/dev/null'
Connecting to host[3ffe:400:430::1]:8000... connected!
HTTP request sent, awaiting response... 200 OK
Length: 5,879,824 [text/plain]

    0K .......... .......... .......... .......... ..........  0% @ 9.50 MB/s

12:15:24 (9.49 MB/s) - `/dev/null' saved [5879824/5879824]

";

#[test]
fn reads_logs_of_several_wget_versions() {
    let of = read(WGET);
    assert_eq!((of.tool, of.family, of.refused), (ImportTool::Wget, Some(Family::Ipv6), 1));
    assert_eq!((figure(&of, "sent"), figure(&of, "completed")), (3.0, 2.0));
    assert!((figure(&of, "goodput") - 11.2 * MIB).abs() < 1.0);
    assert_eq!((figure(&of, "elapsed"), of.took_s), (61.5, 61.5));

    let of = read(WGET_WINDOWS);
    assert_eq!(of.version.as_deref(), Some("Wget 1.11.4 on Windows-MSVC."));
    assert_eq!((of.family, figure(&of, "sent")), (Some(Family::Ipv4), 1.0), "one redirect");
    assert!((figure(&of, "goodput") - 2.0 * MIB).abs() < 1.0);
    assert!(!of.figures.contains_key("elapsed"));

    let of = read(WGET_1_7);
    assert_eq!((of.family, of.refused), (Some(Family::Ipv6), 0));
    assert!((figure(&of, "goodput") - 9.49 * MIB).abs() < 1.0);
}

#[test]
fn reads_logs_in_utf_16_and_code_page_1252() {
    let units = WGET_WINDOWS.encode_utf16().flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(units).collect();
    assert_eq!(read_output(&bytes, None).unwrap(), read(WGET_WINDOWS));
    // Quotes of the code page 1252 are not UTF-8.
    let bytes: Vec<u8> = WGET_1_7.bytes().map(|b| if b == b'`' { 0x91 } else { b }).collect();
    assert_eq!(read_output(&bytes, None).unwrap(), read(WGET_1_7));
}

#[test]
fn reads_the_units_and_forms_of_wget_rates() {
    let with = |line: &str| {
        let text = format!("--2026-11-26 00:11:43--  ftp://192.0.2.1/f\n{line}\n");
        read_output(text.as_bytes(), None)
    };
    let goodput = |line: &str| figure(&with(line).unwrap(), "goodput");
    assert_eq!(goodput("x (512 KB/s) - ‘f’ saved [1024]"), 524_288.0);
    assert_eq!(goodput("x (1,5 KB/s) - ‘f’ saved [1024]"), 1_536.0);
    assert_eq!(goodput("x (8.00 Mb/s) - written to stdout [1024/1024]"), 1e6);
    for line in
        ["x (fast) - ‘f’ saved [1024]", "x (0.00 B/s) - ‘f’ saved [1]", "saved [", " saved [x]"]
    {
        assert!(with(line).is_err(), "{line}");
    }
}

#[test]
fn rejects_wget_logs_without_a_usable_rate() {
    let again = WGET.replacen("--  http", "--  (try: 2)  http", 1);
    assert!(refused(&again).contains("line 1: a transfer was tried again"), "{}", refused(&again));
    let mixed = WGET.replacen("[2001:db8::1]", "192.0.2.1", 2);
    assert!(refused(&mixed).contains("over IPv6 and over IPv4"), "{}", refused(&mixed));
    let other = WGET.replace("(11.2 MB/s)", "(11.2 furlongs)");
    assert!(refused(&other).starts_with("is not understood as the output of wget: line 10: "));
    let german = WGET.replace(" saved [", " gespeichert [");
    assert!(refused(&german).contains("no complete transfer"));
}

/// curl 7.88 with `-w '%{json}'`.
const CURL: &str = r#"{"certs":"","content_type":"application/octet-stream","errormsg":null,"exitcode":0,"http_code":200,"num_connects":1,"remote_ip":"2001:db8::1","remote_port":80,"response_code":200,"scheme":"HTTP","size_download":1000000,"size_header":121,"speed_download":100000000,"time_appconnect":0.000000,"time_connect":0.001000,"time_namelookup":0.000017,"time_pretransfer":0.001500,"time_starttransfer":0.003500,"time_total":0.010000,"urlnum":0,"curl_version":"libcurl/7.88.1 OpenSSL/3.0.19"}"#;

#[test]
fn reads_curl_json_objects_with_or_without_line_breaks() {
    let of = read(CURL);
    assert_eq!((of.tool, of.family, of.took_s), (ImportTool::Curl, Some(Family::Ipv6), 0.01));
    assert_eq!(of.version.as_deref(), Some("libcurl/7.88.1 OpenSSL/3.0.19"));
    assert!((figure(&of, "goodput") - 1e8).abs() < 1.0);
    assert!((figure(&of, "connect.mean") - 1_000.0).abs() < 1e-6);
    assert!((figure(&of, "wait.mean") - 2_000.0).abs() < 1e-6);
    let failed = CURL.replace("\"exitcode\":0", "\"exitcode\":7").replace("2001:db8::1", "");
    for text in [format!("{CURL}\n{failed}\n"), format!("{CURL}{failed}")] {
        let of = read_output(text.as_bytes(), None).unwrap();
        assert_eq!((figure(&of, "sent"), figure(&of, "completed")), (2.0, 1.0));
    }
    // curl 7.70 has neither exitcode nor curl_version in some builds.
    let old = CURL.replace("\"exitcode\":0,", "").replace("curl_version", "x");
    assert_eq!(figure(&read(&old), "completed"), 1.0);
    assert!(refused(&failed).contains("no complete transfer"));
    for (from, to, why) in [
        ("\"time_total\":0.010000", "\"x\":1", "transfer 1 has no time_total"),
        ("\"time_total\":0.010000", "\"time_total\":\"0\"", "line 1: invalid type"),
        ("\"time_total\":0.010000", "\"time_total\":0.001", "do not follow each other"),
        ("\"size_download\":1000000", "\"size_download\":-1", "negative"),
    ] {
        let wrong = refused(&CURL.replace(from, to));
        assert!(wrong.contains(why), "{wrong}");
    }
    let mixed = format!("{CURL}{}", CURL.replace("2001:db8::1", "::ffff:192.0.2.1"));
    assert!(refused(&mixed).contains("over IPv6 and over IPv4"));
}

/// ab 2.3 of Apache 2.4.
const AB: &str = "This is ApacheBench, Version 2.3 <$Revision: 1903618 $>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/

Benchmarking ::1 (be patient).....done

Server Hostname:        ::1
Server Port:            45171

Document Path:          /bytes/1000

Concurrency Level:      2
Time taken for tests:   0.002 seconds
Complete requests:      20
Failed requests:        0
Total transferred:      22360 bytes
HTML transferred:       20000 bytes
Requests per second:    10000.00 [#/sec] (mean)
Time per request:       0.174 [ms] (mean)
Time per request:       0.087 [ms] (mean, across all concurrent requests)
Transfer rate:          12520.61 [Kbytes/sec] received
";

/// h2load of nghttp2 1.52 with `--h1`.
const H2LOAD: &str = "starting benchmark...
spawning thread #0: 2 total client(s). 20 total requests
Application protocol: http/1.1
progress: 100% done

finished in 2.00ms, 15760.44 req/s, 16.80MB/s
requests: 20 total, 20 started, 20 done, 20 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 20 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 21.84KB (22360) total, 1.70KB (1740) headers (space savings 0.00%), 19.53KB (20000) data
                     min         max         mean         sd        +/- sd
time for request:       33us       478us        88us       128us    90.00%
time for connect:       45us       207us       126us       114us   100.00%
time to 1st byte:      534us       655us       595us        85us   100.00%
req/s           :    8839.02     9998.78     9418.90      820.07   100.00%
";

#[test]
fn reports_of_load_generators_are_read() {
    let of = read(AB);
    assert_eq!((of.tool, of.family), (ImportTool::Ab, Some(Family::Ipv6)));
    assert_eq!(of.version.as_deref(), Some("ApacheBench, Version 2.3 <$Revision: 1903618 $>"));
    assert_eq!((figure(&of, "requests_per_s"), figure(&of, "goodput")), (10_000.0, 1e7));
    assert!(refused(&format!("{AB}{AB}")).contains("several reports"));
    assert!(refused(&AB.replace("HTML transferred:", "x")).contains("no line 'HTML transferred:'"));
    assert!(refused(&AB.replace("requests:      20", "requests: 0")).contains("no complete"));

    let of = read(H2LOAD);
    assert_eq!((of.tool, of.family, of.took_s), (ImportTool::H2load, None, 0.002));
    assert_eq!((figure(&of, "completed"), figure(&of, "goodput")), (20.0, 1e7));
    let failed = H2LOAD.replace("20 succeeded", "0 succeeded");
    assert!(refused(&failed).contains("no complete transfer"), "{}", refused(&failed));
}

/// iperf 3.12 with `-J`, without its intervals.
const IPERF3: &str = r#"{
 "start": {
  "connected": [{"socket": 5, "local_host": "::1", "local_port": 1, "remote_host": "::1", "remote_port": 2}],
  "version": "iperf 3.12",
  "test_start": {"protocol": "TCP", "num_streams": 1, "omit": 0, "duration": 1, "reverse": 0}
 },
 "intervals": [],
 "end": {
  "sum_sent": {"start": 0, "end": 1.0, "seconds": 1.0, "bytes": 1001, "bits_per_second": 8008.0, "retransmits": 6, "sender": true},
  "sum_received": {"start": 0, "end": 1.0, "seconds": 1.0, "bytes": 1000, "bits_per_second": 8000.0, "sender": true}
 }
}"#;

#[test]
fn a_test_of_iperf3_is_one_transfer() {
    let of = read(IPERF3);
    assert_eq!((of.tool, of.family), (ImportTool::Iperf3, Some(Family::Ipv6)));
    assert_eq!(of.version.as_deref(), Some("iperf 3.12"));
    assert_eq!((figure(&of, "goodput"), figure(&of, "elapsed")), (1_000.0, 1.0));
    assert!(!of.figures.contains_key("retransmitted"), "the client sent");
    let of = read(&IPERF3.replace("\"reverse\": 0", "\"reverse\": 1"));
    assert_eq!(figure(&of, "retransmitted"), 6.0);
    let failed = r#"{"start":{}, "end":{}, "error":"unable to connect\nto server"}"#;
    assert!(refused(failed).contains("the test failed: unable to connect"));
    assert!(refused(&IPERF3.replace("TCP", "UDP")).contains("a test over UDP"));
    assert!(refused(&IPERF3.replace("sum_received", "x")).contains("no end.sum_received"));
    assert!(refused(&IPERF3.replace("8000.0", "0")).contains("no complete transfer"));
    assert!(!refused(&IPERF3.replace("8000.0", "-8000.0")).is_empty(), "a rate below 0");
}

#[test]
fn rejects_output_of_unknown_tools_with_a_reason() {
    for (text, why) in [
        ("", "is empty"),
        (" \n\u{feff}", "is not the output"),
        ("hello\n", "is not the output of a known tool (wget, curl, ab, h2load, iperf3)"),
        ("{}", "is not the output of a known tool"),
        ("\u{0}\u{1}", "is not the output of a known tool"),
    ] {
        assert!(refused(text).starts_with(why), "{text:?}: {}", refused(text));
    }
    let forced = read_output(CURL.as_bytes(), Some(ImportTool::Ab)).unwrap_err();
    assert!(forced.contains("output of ab: its output has no line"), "{forced}");
}

#[test]
fn transfers_through_a_proxy_are_refused_in_one_line() {
    let through = |text: &str| {
        let why = refused(text);
        assert!(why.contains("through a proxy") && why.contains("without the proxy"), "{why}");
        assert!(!why.contains('\n'), "{why}");
    };
    let sent = "HTTP request sent, awaiting response... 200 OK\n";
    through(&WGET.replace(sent, &sent.replace("HTTP", "Proxy")));
    let connected = "Connecting to [2001:db8::1]:8000... connected.";
    for other in [
        "Connecting to [2001:db8::1]:3128... connected.",
        "Connecting to [2001:db8::9]:8000... connected.",
        "Connecting to proxy.example (proxy.example)|2001:db8::9|:8000... connected.",
    ] {
        through(&WGET.replace(connected, other));
    }
    let with = |members: &str| CURL.replacen('{', &format!("{{{members},"), 1);
    through(&with("\"proxy_used\":1"));
    through(&with("\"http_connect\":200"));
    let url = "\"url_effective\":\"http://www.example.net/x\"";
    through(&with(url).replace("\"remote_port\":80", "\"remote_port\":3128"));
    read(&with(&format!("{url},\"proxy_used\":0,\"http_connect\":0")));
    let ab = "Benchmarking www.example.net [through 192.0.2.9:3128] (be patient).....done\n";
    through(&format!("{ab}{AB}"));
    read(&format!("{}{AB}", ab.replace(" [through 192.0.2.9:3128]", "")));
}

#[test]
fn a_test_of_both_directions_is_refused_in_one_line() {
    let said = "\"reverse\": 0, \"bidir\": 1";
    for text in [
        IPERF3.replace("\"reverse\": 0", said),
        IPERF3.replace("\"sum_received\"", "\"sum_sent_bidir_reverse\": {}, \"sum_received\""),
    ] {
        let why = refused(&text);
        assert!(why.contains("(--bidir)") && why.contains("each direction"), "{why}");
    }
    read(&IPERF3.replace("\"reverse\": 0", &said.replace("bidir\": 1", "bidir\": 0")));
}

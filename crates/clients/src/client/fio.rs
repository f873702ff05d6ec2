//! fio: reads and writes blocks over NBD, NFS or iSCSI, with user-space libraries instead of the
//! kernel's clients, or over NVMe/TCP, with the kernel's.

use serde::Deserialize;

use super::{Answer, ClientFigures, Job, ProgramOutput, Quantity, TimePoint, TimedPhase};
use sixmark_http::url::Host;
use sixmark_lab::plan::storage::{Storage, StorageProtocol};

/// fio's engines, each with the protocol that it speaks.
const ENGINES: [(&str, StorageProtocol); 4] = [
    ("nbd", StorageProtocol::Nbd),
    ("nfs", StorageProtocol::Nfs),
    ("libiscsi", StorageProtocol::Iscsi),
    ("libaio", StorageProtocol::Nvme),
];

/// Returns fio's engine for the URL of a storage service; `None` for other URLs.
pub fn engine_for(url: &str) -> Option<&'static str> {
    let scheme = url.split_once("://")?.0;
    let fits = |(_, protocol): &&(&str, StorageProtocol)| protocol.to_string() == scheme;
    ENGINES.iter().find(fits).map(|(name, _)| *name)
}

/// The values of `operation`, which are those of fio's option `--rw`.
const OPERATIONS: [&str; 4] = ["read", "write", "randread", "randwrite"];

/// The quantiles that are read from fio's output, by the names that fio gives them.
const POINTS: [(&str, TimePoint); 4] = [
    ("50.000000", TimePoint::P50),
    ("90.000000", TimePoint::P90),
    ("99.000000", TimePoint::P99),
    ("99.900000", TimePoint::P999),
];

/// The maximum block size in bytes, and the maximum number of operations in flight.
const LARGEST: u64 = 1 << 30;
const DEEPEST: u64 = 65_536;
/// The most operations a second that a cell may ask for.
const MOST_IOPS: u64 = 100_000_000;

/// The settings of a cell for fio, as written in the study's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// fio's engine; if absent, that of the URL's protocol.
    pub engine: Option<String>,
    /// The operation, such as `randread`.
    pub operation: Option<String>,
    /// The size of a block, such as `64k`.
    pub block: Option<String>,
    /// The number of blocks in flight; 1 if absent.
    pub depth: Option<String>,
    /// The total size, such as `256m`.
    pub size: Option<String>,
    /// How many operations begin in a second; as many as possible if absent.
    pub iops: Option<String>,
}

impl Blocks {
    /// The keys of settings that apply only to fio.
    pub const KEYS: [&str; 5] = ["engine", "operation", "block", "depth", "iops"];

    /// Returns the field for the setting of this key; `None` if it is not a setting of fio.
    pub(super) fn place(&mut self, key: &str) -> Option<&mut Option<String>> {
        match key {
            "engine" => Some(&mut self.engine),
            "operation" => Some(&mut self.operation),
            "block" => Some(&mut self.block),
            "depth" => Some(&mut self.depth),
            "size" => Some(&mut self.size),
            "iops" => Some(&mut self.iops),
            _ => None,
        }
    }
}

pub(super) fn fio_arguments(job: &Job) -> Result<Vec<String>, String> {
    let storage: Storage =
        job.url.parse().map_err(|why| format!("can't load {}: {why}", job.url))?;
    refuse_others(job)?;
    if let Host::Name(_) = storage.host {
        return Err(format!(
            "has no option for the family: {} needs an address as its host",
            job.url
        ));
    }
    let blocks = &job.blocks;
    let mut words = vec!["--name=sixmark".to_owned(), "--thread=1".to_owned()];
    words.extend(engine(blocks, &storage)?);
    words.push(format!("--rw={}", operation(blocks)?));
    words.push(format!(
        "--bs={}",
        parse_bounded(
            "block",
            blocks.block.as_deref().ok_or("needs a block, as in \"64k\"")?,
            LARGEST
        )?
    ));
    words.push(format!(
        "--iodepth={}",
        parse_bounded("depth", blocks.depth.as_deref().unwrap_or("1"), DEEPEST)?
    ));
    if let Some(iops) = &blocks.iops {
        words.push(format!("--rate_iops={}", parse_bounded("iops", iops, MOST_IOPS)?));
    }
    words.extend(extent(job, &storage)?);
    // The random order is repeatable, so that it is the same for each family. Latencies are from
    // submission to completion.
    words.extend(
        ["--randrepeat=1", "--lat_percentiles=1", "--clat_percentiles=0"].map(str::to_owned),
    );
    words.extend(
        ["--percentile_list=50:90:99:99.9", "--eta=never", "--output-format=json+"]
            .map(str::to_owned),
    );
    Ok(words)
}

/// Returns the arguments for the amount of work: a total size, a duration, or both.
fn extent(job: &Job, storage: &Storage) -> Result<Vec<String>, String> {
    let size =
        job.blocks.size.as_deref().map(|size| parse_bounded("size", size, u64::MAX)).transpose()?;
    if size.is_none() && (job.duration.is_none() || storage.protocol == StorageProtocol::Nfs) {
        return Err("needs a size, as in \"256m\"; without a duration it is done once".into());
    }
    let mut words: Vec<String> = size.map(|size| format!("--size={size}")).into_iter().collect();
    if let Some(time) = job.duration {
        if time.subsec_nanos() > 0 {
            return Err("takes its duration in whole seconds".into());
        }
        words.extend(["--time_based=1".to_owned(), format!("--runtime={}", time.as_secs())]);
    }
    Ok(words)
}

/// Fails if the job has settings of other clients that do not apply to fio.
fn refuse_others(job: &Job) -> Result<(), String> {
    let one = job.connections == 1 && job.streams == 1 && job.threads == 1;
    let plain = job.protocol.is_none() && job.headers.is_empty() && job.keep_alive && !job.insecure;
    if one && plain && job.count.is_none() {
        Ok(())
    } else {
        Err("knows engine, operation, block, depth, iops, size and duration, nothing of HTTP's; depth is how \
                      many it has in flight"
            .into())
    }
}

fn engine(blocks: &Blocks, storage: &Storage) -> Result<Vec<String>, String> {
    let fits = |(_, protocol): &&(&str, StorageProtocol)| *protocol == storage.protocol;
    let own = ENGINES.iter().find(fits).map_or("", |(name, _)| name);
    if let Some(asked) = blocks.engine.as_deref().filter(|asked| *asked != own) {
        return Err(format!("has no engine '{asked}' for {}://, but {own}", storage.protocol));
    }
    let mut words = vec![format!("--ioengine={own}")];
    words.extend(target(storage)?);
    Ok(words)
}

fn target(storage: &Storage) -> Result<Vec<String>, String> {
    let Storage { port, path, .. } = storage;
    let host = storage.bracketed();
    Ok(match storage.protocol {
        StorageProtocol::Nbd => vec![format!("--uri=nbd://{host}:{port}{path}")],
        // fio separates file names by colons, so those of the URL are escaped.
        StorageProtocol::Iscsi => {
            let url = format!("iscsi://{host}:{port}{path}").replace(':', "\\:");
            vec![format!("--filename={url}")]
        }
        StorageProtocol::Nfs => nfs(storage)?,
        StorageProtocol::Nvme => nvme(storage)?,
    })
}

/// Returns the arguments for NFS. libnfs expects an IPv6 address without brackets, and fio expects
/// the file separately from the folder that is mounted.
fn nfs(storage: &Storage) -> Result<Vec<String>, String> {
    let (path, query) = storage.path.split_once('?').unwrap_or((&storage.path, ""));
    let (folder, file) = path.rsplit_once('/').unwrap_or_default();
    if folder.is_empty() || file.is_empty() || file.contains(':') {
        return Err(format!(
            "needs a path of an export and a file in it, as in /export/file, not '{path}'"
        ));
    }
    if storage.port != StorageProtocol::Nfs.port() {
        return Err("finds the port of NFS by itself: write it as ?nfsport=N&mountport=N, not behind the host".into());
    }
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    let url = format!("--nfs_url=nfs://{}{folder}{query}", storage.plain());
    Ok(vec![url, format!("--filename={file}")])
}

/// Returns the arguments for NVMe/TCP: the block device that the kernel has made of the namespace, past
/// the page cache.
fn nvme(storage: &Storage) -> Result<Vec<String>, String> {
    let path = &storage.path;
    if !path.starts_with("/dev/") || path.contains(':') {
        return Err(format!(
            "needs the path of the kernel's block device, as in /dev/disk/by-id/nvme-uuid.X, not '{path}'"
        ));
    }
    Ok(vec![format!("--filename={path}"), "--direct=1".to_owned()])
}

fn operation(blocks: &Blocks) -> Result<&str, String> {
    let names = OPERATIONS.join(", ");
    let asked =
        blocks.operation.as_deref().ok_or_else(|| format!("needs an operation: {names}"))?;
    let known = OPERATIONS.contains(&asked);
    known.then_some(asked).ok_or_else(|| format!("has no operation '{asked}', but {names}"))
}

/// Parses a number from 1 to `most`, with an optional suffix k, m or g for powers of 1,024.
fn parse_bounded(key: &str, text: &str, most: u64) -> Result<u64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match text[end..].to_ascii_lowercase().as_str() {
        "" => Some(0),
        "k" => Some(10),
        "m" => Some(20),
        "g" => Some(30),
        _ => None,
    };
    let number =
        text[..end].parse::<u64>().ok().zip(shift).and_then(|(n, shift)| n.checked_mul(1 << shift));
    number.filter(|n| (1..=most).contains(n)).ok_or_else(|| {
        format!("can't have {key} = '{text}': a whole number from 1 to {most}, with k, m or g for powers of 1024")
    })
}

/// The parts of fio's JSON output that are used.
#[derive(Deserialize)]
struct FioOutput {
    jobs: Vec<Done>,
}

#[derive(Deserialize)]
struct Done {
    error: i64,
    read: FioSide,
    write: FioSide,
}

#[derive(Deserialize)]
struct FioSide {
    io_bytes: u64,
    bw_bytes: f64,
    iops: f64,
    /// The run time in milliseconds.
    runtime: f64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    lat_ns: Latency,
}

#[derive(Deserialize)]
struct Latency {
    min: f64,
    mean: f64,
    max: f64,
    #[serde(default)]
    percentile: std::collections::BTreeMap<String, f64>,
}

pub(super) fn read_fio(job: &Job, said: &ProgramOutput<'_>) -> Result<Answer, String> {
    if let Some(engine) = lacking(said.err) {
        return Err(format!(
            "it lacks the engine {engine}, which scripts/install-fio builds; SIXMARK_FIO=FILE says which fio to use"
        ));
    }
    let document: FioOutput = serde_json::from_str(json_part(said.out))
        .map_err(|error| format!("its output is not fio's JSON: {error}"))?;
    let [done] = &document.jobs[..] else {
        return Err(format!("reported {} jobs, 1 was requested", document.jobs.len()));
    };
    if done.error != 0 {
        return Err(format!("its job ended with error {}", done.error));
    }
    let writes =
        job.blocks.operation.as_deref().is_some_and(|operation| operation.ends_with("write"));
    let (side, other) = if writes { (&done.write, &done.read) } else { (&done.read, &done.write) };
    if side.total_ios == 0 || side.io_bytes == 0 || other.total_ios != 0 {
        return Err("did not do the operation that was asked for".into());
    }
    Ok(figures_of_side(side)?.answer(said, 0))
}

fn figures_of_side(side: &FioSide) -> Result<ClientFigures, String> {
    let mut figures = ClientFigures::default();
    let bad = side.short_ios.saturating_add(side.drop_ios);
    figures.counts(side.total_ios, side.total_ios.saturating_sub(bad), side.runtime / 1e3);
    figures.quantity(Quantity::Iops, side.iops);
    figures.quantity(Quantity::Goodput, side.bw_bytes);
    figures.quantity(Quantity::ContentRate, side.bw_bytes);
    let latency = &side.lat_ns;
    for (point, ns) in [
        (TimePoint::Min, latency.min),
        (TimePoint::Mean, latency.mean),
        (TimePoint::Max, latency.max),
    ] {
        figures.time_us(TimedPhase::Response, point, ns / 1e3);
    }
    for (name, point) in POINTS {
        let ns = latency
            .percentile
            .get(name)
            .ok_or_else(|| format!("its document lacks the percentile {name}"))?;
        figures.time_us(TimedPhase::Response, point, ns / 1e3);
    }
    Ok(figures)
}

/// Returns the JSON document, without the lines that an engine printed before it, as that of NBD
/// does.
fn json_part(out: &str) -> &str {
    let start = if out.starts_with("{\n") { Some(0) } else { out.find("\n{\n").map(|at| at + 1) };
    start.map_or(out, |start| &out[start..])
}

/// Returns the engine that fio could not load, according to its standard error.
fn lacking(err: &str) -> Option<&str> {
    err.lines().find_map(|line| {
        let rest = line.strip_prefix("fio: engine ")?;
        rest.strip_suffix(" not loadable")
    })
}

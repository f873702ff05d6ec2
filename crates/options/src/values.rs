//! Parsing the values of options.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sixmark_http::http1::request::check_method;
use sixmark_plan::import::LogFormat;
use sixmark_plan::pace::{ArrivalProcess, Overload, RateStage, RequestRate, Speed};
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_plan::plan::{Close, Driver};

use crate::times::{parse_time, positive_time};

/// Parses `FROM:TO:DURATION`.
pub(crate) fn ramp(text: &str) -> Result<RateStage, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let [from, to, duration] = parts[..] else {
        return Err(format!("'{text}' is not FROM:TO:DURATION, as in 0:1000/s:1m"));
    };
    let duration = Some(positive_time(duration)?);
    Ok(RateStage { from: from.parse()?, to: to.parse()?, duration })
}

/// Parses `RATE:DURATION`.
pub(crate) fn step(text: &str) -> Result<RateStage, String> {
    let wrong = || format!("'{text}' is not RATE:DURATION, as in 100:10s,200:10s");
    let (rate, duration) = text.split_once(':').ok_or_else(wrong)?;
    Ok(RateStage::level(rate.parse::<RequestRate>()?, positive_time(duration)?))
}

pub(crate) fn process(text: &str) -> Result<ArrivalProcess, String> {
    match text {
        "constant" => Ok(ArrivalProcess::Constant),
        "poisson" => Ok(ArrivalProcess::Poisson),
        _ => Err("expected constant or poisson".to_owned()),
    }
}

pub(crate) fn overload(text: &str) -> Result<Overload, String> {
    match text {
        "wait" => Ok(Overload::Wait),
        "drop" => Ok(Overload::Drop),
        _ => Err("expected wait or drop".to_owned()),
    }
}

/// The format of a file of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFormat {
    Toml,
    Har,
    Log,
}

/// Parses the value of `--requests`. A number is refused: it is probably meant for `-n`.
pub(crate) fn file(text: &str) -> Result<PathBuf, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        Err(format!("expected a file; for a number of requests use -n {text}"))
    } else {
        Ok(text.into())
    }
}

pub(crate) fn format(text: &str) -> Result<RequestFormat, String> {
    match text {
        "toml" => Ok(RequestFormat::Toml),
        "har" => Ok(RequestFormat::Har),
        "log" => Ok(RequestFormat::Log),
        _ => Err("expected toml, har or log".to_owned()),
    }
}

/// Parses the value of `--log-format`.
pub(crate) fn log_format(text: &str) -> Result<&'static LogFormat, String> {
    LogFormat::named(text).ok_or_else(|| format!("expected one of {}", LogFormat::names()))
}

/// Parses the value of `--replay`: `2x`, `0.5`.
pub(crate) fn speed(text: &str) -> Result<Speed, String> {
    let number = text.strip_suffix('x').unwrap_or(text);
    let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let speed = number.parse().ok().filter(|speed| plain && (0.001..=1_000.0).contains(speed));
    speed.ok_or_else(|| "expected a speed from 0.001x to 1000x, as in --replay=2x".to_owned())
}

/// Parses a count of at least 1: `500`, `10k`, `2M`. Rust's own error message for zero would speak
/// of its types.
pub fn positive<T: FromStr>(text: &str) -> Result<T, String> {
    let zeros = [('k', "000"), ('M', "000000")];
    let with_zeros =
        |(letter, zeros)| text.strip_suffix(letter).map(|digits| digits.to_owned() + zeros);
    let digits = zeros.into_iter().find_map(with_zeros).unwrap_or_else(|| text.to_owned());
    let wrong = "not a whole number of 1 or more, as in 500, 10k or 2M, or too large";
    digits.parse().map_err(|_| wrong.to_owned())
}

pub(crate) fn linger(text: &str) -> Result<Duration, String> {
    let bounds = Duration::from_micros(1)..=Duration::from_secs(1);
    parse_time(text).and_then(|linger| {
        if linger.is_zero() || bounds.contains(&linger) {
            Ok(linger)
        } else {
            Err("expected 0 or a time from 1us to 1s".to_owned())
        }
    })
}

pub(crate) fn close(text: &str) -> Result<Close, String> {
    match text {
        "fin" => Ok(Close::Fin),
        "rst" => Ok(Close::Rst),
        _ => Err("expected fin or rst".to_owned()),
    }
}

pub(crate) fn driver(text: &str) -> Result<Driver, String> {
    match text {
        "auto" => Ok(Driver::Auto),
        "uring" => Ok(Driver::Uring),
        "epoll" => Ok(Driver::Epoll),
        _ => Err("expected auto, uring or epoll".to_owned()),
    }
}

pub(crate) fn timestamps(text: &str) -> Result<Timestamps, String> {
    match text {
        "user" => Ok(Timestamps::User),
        "kernel" => Ok(Timestamps::Kernel),
        _ => Err("expected user or kernel".to_owned()),
    }
}

/// Checks the value of `--user`: a user name and a password, separated by the first colon, without
/// control characters (RFC 7617, 2).
pub(crate) fn credentials(text: &str) -> Result<String, String> {
    match text.contains(':') {
        _ if text.chars().any(char::is_control) => {
            Err("a user name or password can't contain control characters".to_owned())
        }
        true => Ok(text.to_owned()),
        // clap repeats the value, which may be a password alone.
        false => Err("write USER:PASSWORD, or USER: without a password".to_owned()),
    }
}

pub(crate) fn method(text: &str) -> Result<String, String> {
    check_method(text).map(|()| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::positive;
    use std::num::{NonZeroU32, NonZeroU64};

    #[test]
    fn counts_take_thousands_and_millions() {
        let counts =
            ["1", "500", "10k", "2M"].map(|text| positive::<NonZeroU64>(text).unwrap().get());
        assert_eq!(counts, [1, 500, 10_000, 2_000_000]);
        for wrong in ["0", "k", "0k", "", "1.5k", "10K", "-1", "5000M"] {
            assert!(positive::<NonZeroU32>(wrong).is_err(), "{wrong}");
        }
    }
}

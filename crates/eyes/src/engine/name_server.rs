//! The name server of a case: it answers each type of query as the case says.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::svcb::{Alpn, IpHint, SvcParamKey, SvcParamValue};
use hickory_proto::rr::rdata::{HTTPS, SVCB};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::poll::readable;
use sixmark_units::family::Family;

use crate::case_lab::{SITE, hinted_address, names_address, site_addresses};
use crate::eyes_case::{EyesCase, QueryFate, ServiceRecord};

/// The port of name servers.
const PORT: u16 = 53;
/// The longest wait for a query before the server looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// The largest query that is read, in bytes.
const LONGEST: usize = 4_096;
/// The most answers that wait for their time: a client that asks more often gets none.
const MOST_WAITING: usize = 1_000;
/// The time to live of records, in seconds: nothing is remembered from start to start.
const TTL: u32 = 0;

/// A name server, until it is dropped.
#[derive(Debug)]
pub(super) struct CaseNameServer {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// An answer that waits for its time.
type WaitingAnswer = Reverse<(Instant, SocketAddr, Vec<u8>)>;

impl CaseNameServer {
    /// Starts the name server of a case in a host of its lab.
    ///
    /// # Errors
    /// Returns an error if it can't listen there.
    pub(super) fn start(
        host: &Host,
        case: &'static EyesCase,
    ) -> Result<CaseNameServer, CommandError> {
        let listen = || {
            let socket = UdpSocket::bind((names_address(), PORT))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let cannot = |error: io::Error| {
            CommandError::Measure(format!("the name server of the lab can't listen: {error}"))
        };
        let socket = host.net().within(listen).map_err(cannot)?;
        let ends = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&ends);
        let serve = move || serve_names(&socket, case, &over);
        let thread = thread::Builder::new().name("names".into()).spawn(serve).map_err(cannot)?;
        Ok(CaseNameServer { ends, thread: Some(thread) })
    }
}

impl Drop for CaseNameServer {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // A thread that panicked has reported it.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn serve_names(socket: &UdpSocket, case: &EyesCase, ends: &AtomicBool) {
    let mut waiting: BinaryHeap<WaitingAnswer> = BinaryHeap::new();
    let mut query = [0; LONGEST];
    while !ends.load(Ordering::Relaxed) {
        let now = Instant::now();
        while let Some(Reverse((due, to, answer))) = waiting.peek() {
            if *due > now {
                break;
            }
            // A client that has gone needs no answer.
            let _ = socket.send_to(answer, to);
            waiting.pop();
        }
        let next = waiting.peek().map_or(LOOK, |of| of.0.0.saturating_duration_since(now));
        // The timeout of a socket counts ticks of the kernel, by which answers would be late.
        if readable([socket.as_fd()], Some(next.min(LOOK))).is_err() {
            return;
        }
        let Ok((length, from)) = socket.recv_from(&mut query) else { continue };
        let answered = answer_query(&query[..length], case);
        if let Some((delay, answer)) = answered.filter(|_| waiting.len() < MOST_WAITING) {
            waiting.push(Reverse((Instant::now() + delay, from, answer)));
        }
    }
}

/// Returns the answer to a query, and after how long it is sent; `None` if there is none.
fn answer_query(query: &[u8], case: &EyesCase) -> Option<(Duration, Vec<u8>)> {
    let message = Message::from_vec(query).ok()?;
    let question = message.queries.first()?.clone();
    let name = question.name().to_ascii().trim_end_matches('.').to_ascii_lowercase();
    let (fate, family) = match question.query_type() {
        RecordType::AAAA => (case.aaaa, Some(Family::Ipv6)),
        RecordType::A => (case.a, Some(Family::Ipv4)),
        RecordType::HTTPS => (case.https, None),
        _ => (QueryFate::NoRecord, None),
    };
    let mut response =
        Message::new(message.metadata.id, MessageType::Response, message.metadata.op_code);
    response.metadata.recursion_desired = message.metadata.recursion_desired;
    response.metadata.recursion_available = true;
    response.add_query(question.clone());
    let mut delay = Duration::ZERO;
    if name != SITE {
        response.metadata.response_code = ResponseCode::NXDomain;
        return Some((delay, response.to_vec().ok()?));
    }
    match fate {
        QueryFate::Silent => return None,
        QueryFate::Fails => response.metadata.response_code = ResponseCode::ServFail,
        QueryFate::NoRecord => {}
        QueryFate::Answers(ms) => {
            delay = Duration::from_millis(ms.into());
            let addresses = family.map_or(Vec::new(), |family| site_addresses(case, family));
            if family.is_none()
                && let Some(service) = service_record(case)
            {
                response.add_answer(Record::from_rdata(question.name().clone(), TTL, service));
            }
            for (address, _) in addresses {
                let data = match address {
                    IpAddr::V6(address) => RData::AAAA(address.into()),
                    IpAddr::V4(address) => RData::A(address.into()),
                };
                response.add_answer(Record::from_rdata(question.name().clone(), TTL, data));
            }
        }
    }
    Some((delay, response.to_vec().ok()?))
}

/// Returns the HTTPS record of a case.
fn service_record(case: &EyesCase) -> Option<RData> {
    let protocols: &[&str] = match case.record {
        ServiceRecord::Absent => return None,
        ServiceRecord::OffersHttp3 => &["h3", "h2"],
        ServiceRecord::HintsDeadAddresses => &["h2"],
    };
    let protocols = protocols.iter().map(|of| (*of).to_owned()).collect();
    let mut parameters = vec![(SvcParamKey::Alpn, SvcParamValue::Alpn(Alpn(protocols)))];
    if let Some(IpAddr::V4(address)) = hinted_address(case, Family::Ipv4) {
        let hint = SvcParamValue::Ipv4Hint(IpHint(vec![address.into()]));
        parameters.push((SvcParamKey::Ipv4Hint, hint));
    }
    if let Some(IpAddr::V6(address)) = hinted_address(case, Family::Ipv6) {
        let hint = SvcParamValue::Ipv6Hint(IpHint(vec![address.into()]));
        parameters.push((SvcParamKey::Ipv6Hint, hint));
    }
    // The site itself, under its own name (RFC 9460, 2.5).
    Some(RData::HTTPS(HTTPS(SVCB::new(1, Name::root(), parameters))))
}

#[cfg(test)]
mod tests {
    use hickory_proto::op::{OpCode, Query};

    use super::*;

    fn answer(case: &str, kind: RecordType) -> Option<(Duration, Message)> {
        let mut query = Message::new(7, MessageType::Query, OpCode::Query);
        query.add_query(Query::query(Name::from_ascii("www.test.").unwrap(), kind));
        let case = EyesCase::named(case).unwrap();
        let (delay, bytes) = answer_query(&query.to_vec().unwrap(), case)?;
        Some((delay, Message::from_vec(&bytes).unwrap()))
    }

    #[test]
    fn answers_as_the_case_says() {
        let (delay, all) = answer("last-alive", RecordType::AAAA).unwrap();
        assert_eq!((delay, all.answers.len(), all.metadata.id), (Duration::ZERO, 4, 7));
        let (delay, _) = answer("aaaa-late-1000", RecordType::AAAA).unwrap();
        assert_eq!(delay, Duration::from_secs(1));
        assert!(answer("aaaa-dropped", RecordType::AAAA).is_none());
        let (_, failed) = answer("aaaa-servfail", RecordType::AAAA).unwrap();
        assert_eq!(failed.metadata.response_code, ResponseCode::ServFail);
        let (_, none) = answer("healthy", RecordType::HTTPS).unwrap();
        assert_eq!(none.answers.len(), 0);
    }
}

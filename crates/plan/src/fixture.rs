//! Plans for tests.
#![allow(clippy::unwrap_used, missing_docs)]

use std::num::NonZeroU32;
use std::time::Duration;

use crate::pace::Pace;
use crate::plan::http::Http;
use crate::plan::ratio::PlanRatio;
use crate::plan::timestamps::Timestamps;
use crate::plan::tls::PlanTls;
use crate::plan::{Close, Connection, Driver, LoadPlan, Plan, PlanRequests, Request, Target};
use sixmark_http::HttpVersion;

const ONE: NonZeroU32 = NonZeroU32::MIN;

/// Returns a plan of one target over HTTP/1.1.
pub fn plan() -> Plan {
    let target = Target {
        url: "http://localhost/?a&b".to_owned(),
        authority: "localhost".to_owned(),
        server_name: None,
        path: "/?a&b".to_owned(),
        weight: 1,
        addresses: Vec::new(),
    };
    Plan {
        targets: vec![target],
        ratio: PlanRatio::EVEN,
        load: load(),
        requests: PlanRequests::one(Request::plain("GET")),
        location: false,
        accept_status: Default::default(),
        cookies: false,
        http: Http { version: HttpVersion::Http1, prior_knowledge: false, streams: ONE },
        connection: Connection {
            keep_alive: true,
            requests: None,
            close: Close::Fin,
            most_open: ONE,
            preopen: false,
            resend: false,
        },
        tls: None,
        sources: Default::default(),
        seed: 7,
    }
}

fn load() -> LoadPlan {
    LoadPlan {
        requests: None,
        duration: Some(Duration::from_secs(1)),
        warmup: Duration::ZERO,
        pace: Pace::default(),
        connections: ONE,
        threads: ONE,
        timeout: Duration::from_secs(10),
        drain: Duration::ZERO,
        driver: Driver::Auto,
        timestamps: Timestamps::default(),
        linger: None,
    }
}

/// Returns a plan over TLS with one address of each family.
pub fn secure_plan(tls: PlanTls) -> Plan {
    let target = Target {
        url: "https://a.example/".into(),
        authority: "a.example".into(),
        server_name: Some(tls.sni.clone().unwrap_or("a.example".into())),
        path: "/".into(),
        weight: 1,
        addresses: ["[::1]:443", "127.0.0.1:443"].map(|a| a.parse().unwrap()).to_vec(),
    };
    Plan {
        targets: vec![target],
        ratio: PlanRatio::EVEN,
        load: LoadPlan {
            requests: None,
            duration: Some(Duration::from_secs(1)),
            warmup: Duration::ZERO,
            pace: Pace::Closed,
            connections: NonZeroU32::MIN,
            threads: NonZeroU32::MIN,
            timeout: Duration::from_secs(5),
            drain: Duration::ZERO,
            driver: Driver::Auto,
            timestamps: Timestamps::User,
            linger: None,
        },
        requests: PlanRequests::one(Request::plain("GET")),
        location: false,
        accept_status: Default::default(),
        cookies: false,
        http: Default::default(),
        connection: Connection {
            keep_alive: true,
            requests: None,
            close: Close::Fin,
            most_open: NonZeroU32::MIN,
            preopen: false,
            resend: false,
        },
        tls: Some(tls),
        sources: Default::default(),
        seed: 0,
    }
}

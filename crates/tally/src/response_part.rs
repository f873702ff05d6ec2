//! The parts of a response time, which add up to it: the single list that the account of a run, its
//! document and its reports use.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

use crate::tally_part::TallyPart;

/// Declares the parts: the enum, their texts, and a value for each part.
macro_rules! declare_parts {
    ($($variant:ident $name:ident { noun: $noun:literal, definition: $definition:literal, })+) => {
        /// A part of the response time of an exchange. The variants are in the order of an exchange;
        /// they do not overlap and leave nothing out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "lowercase")]
        pub enum ResponsePart {
            $(#[doc = $definition] $variant,)+
        }

        impl ResponsePart {
            /// All parts, in the order of an exchange.
            pub const ALL: [ResponsePart; [$(ResponsePart::$variant),+].len()] =
                [$(ResponsePart::$variant),+];

            /// Returns the name used in documents.
            pub fn name(self) -> &'static str {
                match self {
                    $(ResponsePart::$variant => stringify!($name),)+
                }
            }

            /// Returns the name within a sentence.
            pub fn noun(self) -> &'static str {
                match self {
                    $(ResponsePart::$variant => $noun,)+
                }
            }

            /// Returns the definition as a sentence.
            pub fn definition(self) -> &'static str {
                match self {
                    $(ResponsePart::$variant => $definition,)+
                }
            }
        }

        /// A value for each part of a response time.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct PerPart<T> {
            $(#[doc = $definition] pub $name: T,)+
        }

        impl<T> PerPart<T> {
            /// Makes the value of each part.
            pub fn from_fn(mut of: impl FnMut(ResponsePart) -> T) -> PerPart<T> {
                PerPart { $($name: of(ResponsePart::$variant),)+ }
            }
        }

        impl<T> Index<ResponsePart> for PerPart<T> {
            type Output = T;

            fn index(&self, part: ResponsePart) -> &T {
                match part {
                    $(ResponsePart::$variant => &self.$name,)+
                }
            }
        }

        impl<T> IndexMut<ResponsePart> for PerPart<T> {
            fn index_mut(&mut self, part: ResponsePart) -> &mut T {
                match part {
                    $(ResponsePart::$variant => &mut self.$name,)+
                }
            }
        }
    };
}

declare_parts! {
    Queue queue {
        noun: "waiting to start",
        definition: "From when an exchange was due to its start; in a closed loop, none.",
    }
    Connect connect {
        noun: "connect",
        definition: "From the start to connected, of an exchange that had to wait for its connection.",
    }
    Tls tls {
        noun: "TLS handshake",
        definition: "From connected to the end of the TLS or QUIC handshake, of an exchange that had to \
             wait for it.",
    }
    Send send {
        noun: "sending the request",
        definition: "From when the connection could carry the request to its last byte handed to the \
             kernel.",
    }
    Wait wait {
        noun: "wait",
        definition: "From the request’s last byte handed to the kernel to the first byte of the response, \
             not of an interim (1xx) one.",
    }
    Flights flights {
        noun: "round trips of the window",
        definition: "Pauses of at most a round trip and a half between the response’s first byte and its last: the \
             sender waited for acknowledgements before its next flight.",
    }
    Recovery recovery {
        noun: "retransmission",
        definition: "Pauses within the response during which segments arrived out of order: one was lost \
             or overtaken.",
    }
    Pauses pauses {
        noun: "longer pauses",
        definition: "Other pauses within the response, longer than a round trip and a half: the server’s \
             application, or a timeout of its TCP.",
    }
    Transfer transfer {
        noun: "receiving",
        definition: "The rest of the time from the response’s first byte to its last.",
    }
}

impl<T> PerPart<T> {
    /// Returns each value with its part, in the order of an exchange.
    pub fn iter(&self) -> impl Iterator<Item = (ResponsePart, &T)> {
        ResponsePart::ALL.into_iter().map(|part| (part, &self[part]))
    }
}

impl PerPart<u64> {
    /// Returns the response time.
    #[inline]
    pub fn sum(&self) -> u64 {
        let PerPart { queue, connect, tls, send, wait, flights, recovery, pauses, transfer } =
            *self;
        queue + connect + tls + send + wait + flights + recovery + pauses + transfer
    }
}

impl PerPart<f64> {
    /// Returns the sum of all parts.
    pub fn total(&self) -> f64 {
        self.iter().map(|(_, value)| value).sum()
    }
}

impl<T: TallyPart> TallyPart for PerPart<T> {
    fn merge(&mut self, other: &PerPart<T>) {
        ResponsePart::ALL.into_iter().for_each(|part| self[part].merge(&other[part]));
    }

    fn since(&self, earlier: &PerPart<T>) -> PerPart<T> {
        PerPart::from_fn(|part| self[part].since(&earlier[part]))
    }
}

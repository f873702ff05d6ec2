//! Value formats that a Rust type does not express, for the JSON Schemas of documents.
//!
//! A field refers to one of them by `schemars(with = "...")`. Two rules apply without it: an
//! unsigned number is never negative, and neither is a floating-point number unless it is
//! [`Signed`].

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The pattern of a time: RFC 3339 in UTC with milliseconds.
pub const TIME: &str = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$";

/// The pattern of a time in UTC with any fraction of a second, or none.
pub const TIME_OR_SECOND: &str =
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$";

/// The pattern of a SHA-256 digest in hexadecimal.
pub const SHA256: &str = "^[0-9a-f]{64}$";

/// The pattern of the name of a study or of a part of one.
pub const STUDY_NAME: &str = "^[a-z][a-z0-9._-]*$";

/// Defines a type that exists only for schemas, and the JSON Schema that it stands for.
macro_rules! form {
    ($(#[$about:meta])* $name:ident: $($schema:tt)+) => {
        $(#[$about])*
        #[derive(Debug)]
        pub enum $name {}

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($($schema)+)
            }
        }
    };
}

form! {
    /// A number that may be negative.
    Signed: { "type": "number" }
}
form! {
    /// A number from 0 to 1.
    Part: { "type": "number", "minimum": 0, "maximum": 1 }
}
form! {
    /// Text that is not empty.
    Text: { "type": "string", "minLength": 1 }
}
form! {
    /// An HTTP status code as the name of a property.
    StatusCode: { "type": "string", "pattern": "^[1-9][0-9]{2}$" }
}
form! {
    /// An IPv6 or IPv4 address.
    AddressText: { "type": "string", "pattern": r"^([0-9a-f.]*:[0-9a-f:.]*|[0-9.]+)$" }
}
form! {
    /// Address and port: `192.0.2.1:80`, `[2001:db8::1]:80`, or `[fe80::1%2]:80` with the zone's
    /// number.
    SocketText: { "type": "string", "pattern": r"^(\[[0-9a-f:.]+(%[0-9]+)?\]|[0-9.]+):[0-9]+$" }
}

/// An object whose property names have the format `K` and whose values have the format `V`.
#[derive(Debug)]
pub struct Entries<K, V>(PhantomData<(K, V)>);

impl<K: JsonSchema, V: JsonSchema> JsonSchema for Entries<K, V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}By{}", V::schema_name(), K::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (names, values) = (generator.subschema_for::<K>(), generator.subschema_for::<V>());
        json_schema!({ "type": "object", "propertyNames": names, "additionalProperties": values })
    }
}

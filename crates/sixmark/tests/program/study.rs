//! `sixmark study`: what is kept, what goes on, what is refused, and the studies that come with it.

mod built_in;
mod clients;
mod dead;
mod decided;
mod document;
mod elsewhere;
mod files;
mod imports;
mod inspection;
mod interrupted;
mod optional;
mod page;
mod published;
mod tiny;

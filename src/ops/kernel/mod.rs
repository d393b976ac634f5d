//! What each rank computes on its own elements: arrays in, arrays out, no layout and no rank.

mod convert;
mod gelu;
mod number;
mod product;

pub(super) use convert::{Convert, Value, with_element};
pub(super) use gelu::Gelu;
pub(super) use number::{Number, with_number};
pub(super) use product::Multiply;

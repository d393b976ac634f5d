//! Nouns that every room shares: element types, reductions, intervals and regions.
//!
//! Nothing here knows of ranks, layouts or memory.

mod dtype;
mod element;
mod hash;
mod interval;
mod recent;
mod reduction;
mod region;
pub(crate) mod sync;

pub use dtype::{DType, ParseDTypeError};
pub use element::Element;
pub use hash::StableHash;
pub use interval::{Interval, Intervals};
pub(crate) use recent::Recent;
pub use reduction::{ParseReductionError, Reduction};
pub use region::Region;

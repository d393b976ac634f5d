//! Placement and redistribution of distributed tensors.

pub mod base;
pub mod mem;
pub mod mesh;
pub mod layout;
pub mod plan;
pub mod comm;
pub mod exec;
pub mod dist;
pub mod ops;
pub mod nn;

pub use base::{DType, Element, Interval, Intervals, Reduction, Region};
pub use dist::{
    DistTensor, Error, ErrorClass, HostArray, On, Redistribution, Source, World, WorldBuilder,
};
pub use layout::{IntoLayout, Layout, LayoutError, Placement, Placements};
pub use mesh::{Axis, Group, Mesh, MeshError, Rank};
pub use nn::LayerError;
pub use ops::OpError;

#[cfg(doctest)]
mod book {
    #[doc = include_str!("../docs/src/tutorial/first-redistribution.md")]
    mod first_redistribution {}
}

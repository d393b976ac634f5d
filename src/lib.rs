//! Placement and redistribution of distributed tensors.
//!
//! A layer says which [`Layout`] it needs. [`DistTensor::redistribute`] finds the collectives that lead there,
//! and runs them on every rank:
//!
//! ```
//! use reshard::{Mesh, World};
//!
//! let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
//! let held = World::run(4, |world| {
//!     let x = world.on(&mesh).from_fn([2, 2], "dp=S(0), tp=S(1)", |index| {
//!         (10 * index[0] + index[1]) as i32
//!     })?;
//!     let plan = x.plan_to("dp=S(1), tp=S(0)")?; // nothing has moved yet
//!     assert_eq!(plan.launches(), 1);
//!     assert_eq!(plan.ratio(), Some(1.0)); // and no plan moves less
//!     let y = x.redistribute("dp=S(1), tp=S(0)")?;
//!     Ok(y.to_local_vec::<i32>()?)
//! })?;
//! // Ranks 1 and 2 have sent each other their element.
//! assert_eq!(held, [[0], [10], [1], [11]]);
//! # Ok::<(), reshard::Error>(())
//! ```
//!
//! Where to read on, in this order:
//!
//! 1. [`Mesh`]: ranks along named axes, a plain value.
//! 2. [`Layout`] and [`layout`]: which axes cut which dim, and along which the tensor is partial. The texts above
//!    are one way to write a layout; placements in code are another.
//! 3. [`World`] and [`DistTensor`]: tensors on live ranks, made in any layout and carried to any other.
//! 4. [`ops`] and [`nn`]: operations and layers that say what layouts they take, and never gather by
//!    themselves.
//! 5. [`plan`]: transitions, plans and what they cost, for programs that plan without ranks.
//! 6. [`Error`]: what can fail, and whether bytes may have moved by then.
//!
//! The rooms below these, [`exec`], [`comm`], [`mem`] and [`base`], are for those who write a communicator or
//! change the library; the book's chapter on the architecture leads through them.

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
    #[doc = include_str!("../README.md")]
    mod readme {}

    #[doc = include_str!("../docs/src/tutorial/first-redistribution.md")]
    mod first_redistribution {}

    #[doc = include_str!("../docs/src/how-to/see-where-the-time-goes.md")]
    mod see_where_the_time_goes {}

    #[doc = include_str!("../docs/src/how-to/use-your-own-memory.md")]
    mod use_your_own_memory {}
}

//! Layers that several ranks compute together, written only with distributed tensors and operations on
//! them.
//!
//! A layer holds its own parameters, each cut by its layout. It gathers its input only if it was told to:
//! an input in another layout than the layer needs is an error that says which redistribution is missing.
//! The one communication of a layer, if it has one, is what its `plan` shows.
//!
//! ```
//! use ndarray::arr2;
//! use reshard::dist::Source::Everywhere;
//! use reshard::nn::{ColumnParallelLinear, RowParallelLinear};
//! use reshard::{Mesh, World, ops};
//!
//! let mesh = Mesh::new([("tp", 2)])?;
//! let outputs = World::run(2, |world| {
//!     let on = world.on(&mesh);
//!     let up = || arr2(&[[1.0f32, 0.0], [0.0, 1.0], [1.0, 1.0]]);
//!     let down = || arr2(&[[1.0f32, 1.0, 1.0]]);
//!     let up = ColumnParallelLinear::distribute(&on, "tp", Everywhere, up)?;
//!     let down = RowParallelLinear::distribute(&on, "tp", Everywhere, down)?;
//!     let x = on.from_local("R", [1, 2], vec![2.0f32, 3.0])?;
//!     let y = down.forward(&up.forward(&x)?)?;
//!     Ok(y.to_local_vec::<f32>()?)
//! })?;
//! assert_eq!(outputs, [[10.0], [10.0]]);
//! # Ok::<(), reshard::Error>(())
//! ```

mod column;
mod error;
mod parameter;
mod row;

pub use column::{ColumnParallelLinear, Input};
pub use error::LayerError;
pub use row::{Output, RowParallelLinear};

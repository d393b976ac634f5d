//! Operations on distributed tensors: each a rule on layouts and a kernel on local elements.
//!
//! The rule is a pure function of its own, such as [`matmul_layout`] for [`matmul`]: layouts in, the
//! layout of the result out, or an error that says which redistribution is missing. No operation
//! communicates: nothing is gathered unless the caller says so by
//! [`redistribute`](crate::dist::DistTensor::redistribute), or names the layout in which an operand or the
//! result is needed, as in [`gathered_matmul`] and [`scattered_matmul`].
//!
//! On a rank outside the mesh, an operation gives the handle of the result.

mod add;
mod chunks;
mod einsum;
mod elementwise;
mod error;
mod kernel;
mod local;
mod matmul;
mod mul;
mod overlapped;
mod pair;
mod pipeline;
mod role;

pub use add::{add, add_layout, add_scalar};
pub use chunks::Chunks;
pub use einsum::einsum_layout;
pub use elementwise::{Elementwise, cast, cast_layout, elementwise, elementwise_layout, gelu};
pub use error::{OpError, Remedy};
pub use matmul::{linear, linear_layout, matmul, matmul_layout};
pub use mul::{mul, mul_layout};
pub use overlapped::{gathered_linear, gathered_matmul, scattered_linear, scattered_matmul};

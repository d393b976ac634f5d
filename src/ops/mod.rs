//! Operations on distributed tensors: each a rule on layouts and a kernel on local elements.
//!
//! The rule is a pure function of its own, such as [`matmul_layout`] for [`matmul`]: layouts in, the
//! layout of the result out, or an error that says which redistribution is missing. No operation
//! communicates: nothing is gathered unless the caller says so by
//! [`redistribute`](crate::dist::DistTensor::redistribute).
//!
//! On a rank outside the mesh, an operation gives the handle of the result.

mod add;
mod einsum;
mod elementwise;
mod error;
mod kernel;
mod local;
mod matmul;
mod mul;
mod pair;
mod role;

pub use add::{add, add_layout, add_scalar};
pub use einsum::einsum_layout;
pub use elementwise::{Elementwise, cast, cast_layout, elementwise, elementwise_layout, gelu};
pub use error::{OpError, Remedy};
pub use matmul::{linear, linear_layout, matmul, matmul_layout};
pub use mul::{mul, mul_layout};

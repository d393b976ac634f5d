//! From a distributed tensor to what this rank holds of it, and back.

use ndarray::{ArrayD, ArrayViewD};

use crate::base::{DType, Element};
use crate::dist::DistTensor;
use crate::layout::Layout;

use super::OpError;

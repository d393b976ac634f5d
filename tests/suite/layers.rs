//! Operations and layers: layout rules by table, numbers by plain loops over whole arrays.

mod elementwise;
mod errors;
mod modules;
mod overlapped;
mod products;
mod rules;
mod run;
mod sums;

//! Worlds of ranks, and tensors that live on them.
//!
//! A [`World`] is what one rank holds. On it and a mesh ([`World::on`]) tensors are made, and
//! [`DistTensor::redistribute`] carries them from layout to layout.

mod builder;
mod create;
mod data;
mod distribute;
mod error;
mod failures;
mod host;
mod launch;
mod local;
mod on;
mod pending;
mod queue;
mod random;
mod ready;
mod redistribute;
mod tensor;
mod turns;
mod view;
mod wire;
mod world;

pub use builder::WorldBuilder;
pub use data::DataError;
pub use distribute::Source;
pub use error::{Error, ErrorClass};
pub use host::{HostArray, IntoHostArray, Loaded};
pub use launch::{LaunchError, Launcher, TIMEOUT_VARIABLE};
pub use on::On;
pub use pending::Redistribution;
pub use tensor::DistTensor;
pub use world::World;

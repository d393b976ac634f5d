//! What every communicator must do: one list of cases for each operation, judged by a model that
//! shares no code with the crate. Every case is run in each way to make a call. A new engine adds one
//! line at the end of this file.

mod values;
mod model;
pub(crate) mod placing;
pub(crate) mod case;
pub(crate) mod list;
mod large;
mod special;
mod random;

use std::sync::Arc;

use reshard::comm::{Communicator, threads};

/// Makes a world of so many ranks.
pub(crate) type Engine = fn(usize) -> Vec<Arc<dyn Communicator>>;

fn connect_threads(world_len: usize) -> Vec<Arc<dyn Communicator>> {
    let endpoints = threads::connect(world_len, threads::Options::default());
    endpoints.into_iter().map(|endpoint| Arc::new(endpoint) as Arc<dyn Communicator>).collect()
}

macro_rules! conformance {
    ($engine:ident, $connect:path) => {
        mod $engine {
            use super::list::Kind;

            #[test]
            fn all_gather() {
                super::list::check($connect, Kind::AllGather);
            }
            #[test]
            fn all_reduce() {
                super::list::check($connect, Kind::AllReduce);
            }
            #[test]
            fn reduce_scatter() {
                super::list::check($connect, Kind::ReduceScatter);
            }
            #[test]
            fn all_to_all() {
                super::list::check($connect, Kind::AllToAll);
            }
            #[test]
            fn broadcast() {
                super::list::check($connect, Kind::Broadcast);
            }
            #[test]
            fn scatter() {
                super::list::check($connect, Kind::Scatter);
            }
            #[test]
            fn gather() {
                super::list::check($connect, Kind::Gather);
            }
            #[test]
            fn reduce() {
                super::list::check($connect, Kind::Reduce);
            }
            #[test]
            fn exchange() {
                super::list::check($connect, Kind::Exchange);
            }
            #[test]
            fn barrier() {
                super::list::check($connect, Kind::Barrier);
            }
            #[test]
            fn long_reductions() {
                super::large::check($connect);
            }
            #[test]
            fn long_reductions_that_not_all_wait_for() {
                super::large::check_odd($connect);
            }
            #[test]
            fn special_values() {
                super::special::check($connect);
            }
            #[test]
            fn random_calls() {
                super::random::check($connect);
            }
        }
    };
}

conformance!(threads_engine, super::connect_threads);

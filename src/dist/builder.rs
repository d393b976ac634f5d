//! Running a closure on every rank of a world of threads.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use super::failures::Failures;
use super::launch::{Launcher, timeout, variable};
use super::world::Settings;
use super::{Error, LaunchError, World};
use crate::comm::{CommError, Communicator, Departure, threads};
use crate::mem::Pool;
use crate::mesh::Rank;
use crate::plan::PlanCache;

type Wrap = dyn Fn(Arc<dyn Communicator>) -> Arc<dyn Communicator> + Send + Sync;

/// A world to be run, with its settings.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use reshard::World;
/// let ranks = World::builder(3)
///     .timeout(Duration::from_secs(20))
///     .warn_after(Duration::from_secs(2))
///     .plan_cache(16)
///     .run(|world| Ok(world.rank()))?;
/// assert_eq!(ranks, [0, 1, 2]);
/// # Ok::<(), reshard::Error>(())
/// ```
#[must_use = "a world does nothing until it is run"]
pub struct WorldBuilder {
    len: usize,
    timeout: Option<Duration>,
    warn_after: Duration,
    plans_capacity: usize,
    pool_bytes: usize,
    wrap: Option<Box<Wrap>>,
}

impl WorldBuilder {
    pub(super) fn new(len: usize) -> Self {
        let warn_after = threads::Options::default().warn_after;
        let (plans_capacity, pool_bytes) = (PlanCache::CAPACITY, Pool::CAPACITY_BYTES);
        Self { len, timeout: None, warn_after, plans_capacity, pool_bytes, wrap: None }
    }

    /// After this long a wait for other ranks fails. Unless it is set, `RESHARD_TIMEOUT` (in seconds)
    /// counts, or else 300 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// After this long a rank that waits warns, through `tracing`, which ranks it misses; 10 s unless
    /// set.
    pub fn warn_after(self, warn_after: Duration) -> Self {
        Self { warn_after, ..self }
    }

    /// How many plans the world remembers; [`PlanCache::CAPACITY`] unless set.
    pub fn plan_cache(self, capacity: usize) -> Self {
        Self { plans_capacity: capacity, ..self }
    }

    /// How many bytes of idle memory the ranks keep for further tensors, all together and in equal
    /// shares; [`Pool::CAPACITY_BYTES`] unless set. Tensors larger than a share are not kept.
    pub fn pool_bytes(self, pool_bytes: usize) -> Self {
        Self { pool_bytes, ..self }
    }

    /// Puts something between every rank and its communicator, to watch, count or disturb calls.
    pub fn wrap(
        self,
        wrap: impl Fn(Arc<dyn Communicator>) -> Arc<dyn Communicator> + Send + Sync + 'static,
    ) -> Self {
        Self { wrap: Some(Box::new(wrap)), ..self }
    }

    /// Runs a closure on every rank; see [`World::run`].
    ///
    /// # Errors
    ///
    /// The first cause, as [`World::run`].
    pub fn run<T: Send>(
        self,
        closure: impl Fn(&World) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let Ended { results, failed } = self.run_all(closure)?;
        if let Some(error) = first_cause(&results, &failed) {
            return Err(error);
        }
        results.into_iter().collect()
    }

    /// Runs a closure on every rank and gives every rank's own result, by rank. A rank that panicked has
    /// [`Error::Panicked`]. A rank that returned early while others needed it has an error that names
    /// what they waited for.
    ///
    /// # Errors
    ///
    /// [`Error::Launch`] if no rank could be started.
    pub fn run_each<T: Send>(
        self,
        closure: impl Fn(&World) -> Result<T, Error> + Sync,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        Ok(self.run_all(closure)?.results)
    }

    /// Runs a closure on every rank unless a launcher has started this process; see
    /// [`World::run_or_env`].
    ///
    /// # Errors
    ///
    /// As [`World::run_or_env`].
    pub fn run_or_env<T: Send>(
        self,
        closure: impl Fn(&World) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        match Launcher::detect(variable) {
            Some(launcher) => Err(launcher.missing(variable).into()),
            None => self.run(closure),
        }
    }

    fn run_all<T: Send>(
        self,
        closure: impl Fn(&World) -> Result<T, Error> + Sync,
    ) -> Result<Ended<T>, Error> {
        let options = self.options(variable)?;
        let failures = Arc::new(Failures::default());
        let worlds = self.connect(options, &failures);
        let failed = Mutex::new(Vec::new());
        let mut results = thread::scope(|scope| {
            let (ended, watched) = mpsc::channel();
            let start = |world: &World| {
                let (rank, world, ended) = (world.rank(), world.clone(), ended.clone());
                let (closure, failed) = (&closure, &failed);
                let run = move || {
                    let result = run_rank(&world, closure, failed);
                    // The watcher may be gone, which is no loss.
                    let _ = ended.send(rank);
                    result
                };
                thread::Builder::new().name(format!("rank {rank}")).spawn_scoped(scope, run)
            };
            let started: Vec<_> = worlds.iter().map(|world| (world, start(world))).collect();
            drop(ended);
            // Peers hear of ranks that could not be started before any rank is waited for.
            let threads = started.into_iter().map(|(world, thread)| {
                (world.rank(), thread.map_err(|error| not_started(world, &error, &failed)))
            });
            let threads: Vec<_> = threads.collect();
            let running = threads.iter().filter(|(_, thread)| thread.is_ok());
            watch(&watched, options.warn_after, running.map(|&(rank, _)| rank).collect(), &failed);
            let join = |(rank, thread): (Rank, Result<ScopedJoinHandle<'_, _>, Error>)| {
                thread?.join().unwrap_or_else(|payload| Err(panicked(rank, &*payload)))
            };
            threads.into_iter().map(join).collect::<Vec<_>>()
        });
        for (rank, result) in results.iter_mut().enumerate() {
            if result.is_ok()
                && let Some(error) = failures.caused_unnoticed(rank)
            {
                *result = Err(Error::Comm(error));
            }
        }
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Ended { results, failed })
    }

    fn connect(&self, options: threads::Options, failures: &Arc<Failures>) -> Vec<World> {
        let plans = Arc::new(PlanCache::new(self.plans_capacity));
        let world = |endpoint: threads::Endpoint| {
            let endpoint: Arc<dyn Communicator> = Arc::new(endpoint);
            let communicator = match &self.wrap {
                Some(wrap) => wrap(endpoint),
                None => endpoint,
            };
            let (plans, failures) = (Arc::clone(&plans), Arc::clone(failures));
            let pool = Pool::new(self.pool_bytes / self.len.max(1));
            World::with_settings(communicator, Settings { plans, failures, pool })
        };
        threads::connect(self.len, options).into_iter().map(world).collect()
    }

    fn options(
        &self,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<threads::Options, LaunchError> {
        let set = match self.timeout {
            Some(time) => Some(time),
            None => timeout(lookup)?,
        };
        let timeout = set.unwrap_or(threads::Options::default().timeout);
        Ok(threads::Options { timeout, warn_after: self.warn_after })
    }
}

impl fmt::Debug for WorldBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldBuilder")
            .field("len", &self.len)
            .field("timeout", &self.timeout)
            .field("warn_after", &self.warn_after)
            .field("plans_capacity", &self.plans_capacity)
            .field("pool_bytes", &self.pool_bytes)
            .finish_non_exhaustive()
    }
}

/// How the ranks of a world ended.
struct Ended<T> {
    /// By rank.
    results: Vec<Result<T, Error>>,
    /// The ranks that failed, in the order of time.
    failed: Vec<Rank>,
}

/// Runs one rank's closure and tells the peers how it ended.
fn run_rank<T>(
    world: &World,
    closure: impl Fn(&World) -> Result<T, Error>,
    failed: &Mutex<Vec<Rank>>,
) -> Result<T, Error> {
    let rank = world.rank();
    let result = catch_unwind(AssertUnwindSafe(|| closure(world)));
    let (result, departure) = match result {
        Ok(Ok(value)) => (Ok(value), Departure::Returned),
        Ok(Err(error)) => {
            let departure = Departure::failed(&error);
            (Err(error), departure)
        }
        Err(payload) => (Err(panicked(rank, &*payload)), Departure::panicked(&*payload)),
    };
    if result.is_err() {
        note(failed, rank);
    }
    match world.leave(departure) {
        Err(lost) if result.is_ok() => {
            note(failed, rank);
            Err(lost)
        }
        Ok(()) | Err(_) => result,
    }
}

fn not_started(world: &World, error: &std::io::Error, failed: &Mutex<Vec<Rank>>) -> Error {
    let rank = world.rank();
    let error = LaunchError::Thread { rank, cause: error.to_string() };
    note(failed, rank);
    // Nothing was begun in the background, so nothing is lost.
    let _ = world.leave(Departure::failed(&error));
    error.into()
}

fn note(failed: &Mutex<Vec<Rank>>, rank: Rank) {
    failed.lock().unwrap_or_else(PoisonError::into_inner).push(rank);
}

fn panicked(rank: Rank, payload: &(dyn Any + Send)) -> Error {
    let message = match Departure::panicked(payload) {
        Departure::Panicked { cause } | Departure::Failed { cause } => cause,
        Departure::Returned => "".into(),
    };
    Error::Panicked { rank, message }
}

/// Waits until all ranks have ended; names those that stay in the caller's code after one has failed.
fn watch(
    ended: &mpsc::Receiver<Rank>,
    patience: Duration,
    mut running: BTreeSet<Rank>,
    failed: &Mutex<Vec<Rank>>,
) {
    let mut warned = false;
    while !running.is_empty() {
        match ended.recv_timeout(patience) {
            Ok(rank) => {
                running.remove(&rank);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let failed = failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if !failed.is_empty() && !std::mem::replace(&mut warned, true) {
                    tracing::warn!(
                        "the ranks {running:?} have not returned, although the ranks {failed:?} have failed"
                    );
                }
            }
        }
    }
}

/// The error of the rank at fault: of those that failed, the first whose error does not follow from
/// another rank's.
fn first_cause<T>(results: &[Result<T, Error>], failed: &[Rank]) -> Option<Error> {
    let unnoticed = (0..results.len()).filter(|rank| !failed.contains(rank));
    let order = failed.iter().copied().chain(unnoticed);
    let first = order.filter_map(|rank| results[rank].as_ref().err()).next()?;
    let Error::Comm(error) = first else { return Some(first.clone()) };
    let cause = error.root_cause();
    let own = match cause {
        CommError::Departed { rank, departure, .. } if *departure != Departure::Returned => {
            results.get(*rank).and_then(|result| result.as_ref().err())
        }
        CommError::Departed { .. }
        | CommError::Invalid { .. }
        | CommError::Mismatch { .. }
        | CommError::Timeout { .. }
        | CommError::Unread { .. }
        | CommError::Deadlock { .. }
        | CommError::Poisoned { .. } => None,
    };
    Some(own.cloned().unwrap_or_else(|| Error::Comm(cause.clone())))
}

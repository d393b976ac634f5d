//! What one rank holds.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::failures::Failures;
use super::queue::{Job, Queue};
use super::ready::{Key, Ready};
use super::{Error, On, WorldBuilder};
use crate::base::{Recent, StableHash};
use crate::comm::{Communicator, Departure};
use crate::layout::{IntoLayout, Layout};
use crate::mem::Pool;
use crate::mesh::{Mesh, Rank};
use crate::plan::{PlanCache, PlanOptions};

/// What one rank holds: its number, its communicator and the plan cache that the ranks of its process
/// share. Cloning is cheap.
///
/// # Example
///
/// ```
/// use reshard::{Mesh, World};
/// let mesh = Mesh::new([("tp", 2)])?;
/// let sums = World::run(2, |world| {
///     let terms = world.on(&mesh).from_local("P(sum)", [1], vec![world.rank() as f32 + 1.0])?;
///     Ok(terms.redistribute("R")?.to_local_vec::<f32>()?)
/// })?;
/// assert_eq!(sums, [[3.0], [3.0]]);
/// # Ok::<(), reshard::Error>(())
/// ```
#[derive(Clone)]
pub struct World(Arc<Inner>);

struct Inner {
    communicator: Arc<dyn Communicator>,
    plans: Arc<PlanCache>,
    queue: Queue,
    failures: Arc<Failures>,
    pool: Pool,
    /// Redistributions of this rank that were made ready.
    ready: Mutex<Recent<Arc<Ready>>>,
    /// Layouts that were named by text.
    named: Mutex<Recent<Named>>,
}

/// A layout and what it was named by.
struct Named {
    mesh: Mesh,
    text: String,
    layout: Layout,
}

impl World {
    /// Runs a closure on `n` ranks, each a thread of this process; what they returned, by rank.
    ///
    /// Returns when every closure has ended.
    ///
    /// # Errors
    ///
    /// The first cause, if a rank returned an error, panicked, or left while others needed it: the error
    /// of the rank at fault, not those that follow from it. See [`WorldBuilder::run_each`] for every
    /// rank's own.
    pub fn run<T: Send>(
        n: usize,
        closure: impl Fn(&World) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        Self::builder(n).run(closure)
    }

    /// Runs a closure on `n` ranks as [`World::run`] does, and gives every rank's own result, by rank.
    ///
    /// # Errors
    ///
    /// [`Error::Launch`] if no rank could be started.
    pub fn run_each<T: Send>(
        n: usize,
        closure: impl Fn(&World) -> Result<T, Error> + Sync,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        Self::builder(n).run_each(closure)
    }

    /// Runs a closure on `n` ranks as [`World::run`] does, unless a launcher has started this process as
    /// one rank of many.
    ///
    /// # Errors
    ///
    /// As [`World::run`]; [`LaunchError::MissingFeature`](super::LaunchError::MissingFeature) under a
    /// launcher whose processes this build cannot join.
    pub fn run_or_env<T: Send>(
        n: usize,
        closure: impl Fn(&World) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        Self::builder(n).run_or_env(closure)
    }

    /// A world of `n` ranks to be run with other settings than the usual ones.
    pub fn builder(n: usize) -> WorldBuilder {
        WorldBuilder::new(n)
    }

    /// The world of a rank that runs already, over its communicator; `plans` is for all ranks of the
    /// process.
    ///
    /// Whoever runs the rank says how it ended: [`World::leave`].
    #[must_use]
    pub fn over(communicator: Arc<dyn Communicator>, plans: Arc<PlanCache>) -> Self {
        Self::with_settings(communicator, Settings { plans, ..Settings::default() })
    }

    pub(super) fn with_settings(communicator: Arc<dyn Communicator>, settings: Settings) -> Self {
        let Settings { plans, failures, pool } = settings;
        let queue = Queue::new(communicator.rank());
        let ready = Mutex::new(Recent::new(plans.capacity()));
        let named = Mutex::new(Recent::new(plans.capacity()));
        Self(Arc::new(Inner { communicator, plans, queue, failures, pool, ready, named }))
    }

    /// This rank's number.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.0.communicator.rank()
    }

    /// How many ranks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.communicator.world_len()
    }

    /// Never: a world has the rank that asks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// This rank's endpoint. Calls made on it directly count like any other, so every rank of a group
    /// makes them.
    #[must_use]
    pub fn communicator(&self) -> &dyn Communicator {
        &*self.0.communicator
    }

    /// The plans made so far by the ranks of this process.
    #[must_use]
    pub fn plans(&self) -> &PlanCache {
        &self.0.plans
    }

    /// The memory that this rank's redistributed tensors come from, and go back to when they are
    /// dropped.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// A place to make tensors on.
    #[must_use]
    pub fn on(&self, mesh: &Mesh) -> On {
        On::new(self.clone(), mesh.clone())
    }

    /// Waits for what was begun in the background, then tells the peers how this rank ended; it can make
    /// no calls after that. Worlds that run closures do this by themselves.
    ///
    /// # Errors
    ///
    /// The first error of a redistribution in the background whose handle was dropped.
    pub fn leave(&self, departure: Departure) -> Result<(), Error> {
        // A rank that returned finishes what it has begun; any other end makes it fail at once.
        let lost = match departure {
            Departure::Returned => self.0.queue.close(),
            Departure::Failed { .. } | Departure::Panicked { .. } => None,
        };
        match &lost {
            None => self.0.communicator.leave(departure),
            Some(error) => self.0.communicator.leave(Departure::failed(error)),
        }
        lost.or(self.0.queue.close()).map_or(Ok(()), Err)
    }

    /// What carries out a redistribution, made now unless it was made before.
    pub(super) fn ready(&self, key: &Key<'_>) -> Result<Arc<Ready>, Error> {
        let hash = key.hash();
        if let Some(ready) = lock(&self.0.ready).find(hash, |ready| ready.is_of(key)) {
            return Ok(Arc::clone(ready));
        }
        let (from, to) = (key.source, key.target);
        let span = tracing::debug_span!("prepare", rank = self.rank(), %from, %to);
        let _preparing = span.enter();
        let transition = self.transition(from, to, key.shape, key.dtype)?;
        let ready = Arc::new(Ready::new(self, &transition)?);
        lock(&self.0.ready).keep(hash, Arc::clone(&ready));
        Ok(ready)
    }

    /// The layout that something names, of a tensor of `ndim` dims on `mesh`.
    pub(super) fn layout(
        &self,
        name: impl IntoLayout,
        mesh: &Mesh,
        ndim: usize,
    ) -> Result<Layout, Error> {
        let Some(text) = name.text() else { return Ok(name.into_layout(mesh, ndim)?) };
        let words = text.as_bytes().chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        });
        let hash =
            words.fold(StableHash::new().word(mesh.stable_hash()).len(ndim), StableHash::word);
        let hash = hash.finish();
        let is_it = |it: &Named| it.text == text && it.mesh == *mesh && it.layout.ndim() == ndim;
        if let Some(named) = lock(&self.0.named).find(hash, is_it) {
            return Ok(named.layout.clone());
        }
        let text = text.to_owned();
        let layout = name.into_layout(mesh, ndim)?;
        let named = Named { mesh: mesh.clone(), text, layout: layout.clone() };
        lock(&self.0.named).keep(hash, named);
        Ok(layout)
    }

    pub(super) fn options(&self) -> PlanOptions {
        PlanOptions::default()
    }

    /// Whether both are what one rank of one world holds.
    pub(crate) fn is(&self, other: &World) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Makes calls, after all that were begun before.
    pub(super) fn in_turn<T>(
        &self,
        call: impl FnOnce(&dyn Communicator) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.0.queue.in_turn(|| self.noted(call(&*self.0.communicator)))
    }

    /// Makes calls in the background, after all that were begun before.
    pub(super) fn push(&self, job: Job) -> Result<(), Error> {
        self.0.queue.push(job)
    }

    /// Notes that this rank has met an error.
    pub(super) fn noted<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(Error::Comm(error)) = &result {
            self.0.failures.record(self.rank(), error);
        }
        result
    }

    /// Notes an error that nobody can take any more.
    pub(super) fn lose(&self, error: Error) {
        self.0.queue.lose(error);
    }
}

/// What a world is made with, beside its communicator.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) plans: Arc<PlanCache>,
    pub(super) failures: Arc<Failures>,
    pub(super) pool: Pool,
}

/// The lock's content; nothing panics under it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World({}, rank {} of {})", self.communicator().name(), self.rank(), self.len())
    }
}

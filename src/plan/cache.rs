//! Plans that were made before.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::base::Recent;
use crate::mesh::{Group, Rank};

use super::{Plan, PlanError, PlanOptions, Program, Transition, plan};

/// A bounded cache of plans and of the programs made from them, by value: source layout, target layout,
/// shape, element type and options. The least recently used plan goes out first.
///
/// Ranks of one process share a cache; when several ask for the same plan at once, one plans and the
/// others wait for it.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use reshard::plan::{PlanCache, PlanOptions, Transition};
/// use reshard::{DType, Layout, Mesh};
/// let mesh = Mesh::new([("tp", 2)])?;
/// let transition = || {
///     let (from, to) = (Layout::parse(&mesh, 1, "S(0)")?, Layout::parse(&mesh, 1, "R")?);
///     Ok::<_, Box<dyn std::error::Error>>(Transition::new(from, to, [8], DType::F32)?)
/// };
/// let cache = PlanCache::new(16);
/// let first = cache.plan(&transition()?, PlanOptions::default())?;
/// let again = cache.plan(&transition()?, PlanOptions::default())?;
/// assert!(Arc::ptr_eq(&first, &again));
/// assert_eq!(cache.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PlanCache {
    /// Nothing is planned under the lock.
    entries: Mutex<Recent<Arc<Entry>>>,
}

/// A transition and what was made of it.
struct Entry {
    transition: Transition,
    options: PlanOptions,
    planned: OnceLock<Result<Planned, PlanError>>,
    programs: Mutex<BTreeMap<Rank, Arc<OnceLock<Arc<Program>>>>>,
}

struct Planned {
    plan: Arc<Plan>,
    scope: Group,
    what: Arc<str>,
}

/// All that a rank needs to carry a plan out.
#[derive(Clone, Debug)]
pub(crate) struct Lowered {
    pub(crate) plan: Arc<Plan>,
    pub(crate) program: Arc<Program>,
    /// The ranks that take part, in the order of the plan.
    pub(crate) scope: Group,
    /// The transition, for messages.
    pub(crate) what: Arc<str>,
}

impl PlanCache {
    /// How many plans a cache keeps unless told otherwise.
    pub const CAPACITY: usize = 1024;

    /// An empty cache that keeps at most `capacity` plans; 0 keeps none.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { entries: Mutex::new(Recent::new(capacity)) }
    }

    /// How many plans it keeps at most.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.entries().capacity()
    }

    /// How many plans it keeps now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether it keeps no plan.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The plan for a transition, made now unless the cache has it.
    ///
    /// # Errors
    ///
    /// As [`plan()`].
    pub fn plan(
        &self,
        transition: &Transition,
        options: PlanOptions,
    ) -> Result<Arc<Plan>, PlanError> {
        let entry = self.entry(transition, options);
        entry.planned().map(|planned| Arc::clone(&planned.plan))
    }

    /// The plan for a transition and a rank's program for it, made now unless the cache has them.
    pub(crate) fn lowered(
        &self,
        transition: &Transition,
        options: PlanOptions,
        rank: Rank,
    ) -> Result<Lowered, PlanError> {
        let entry = self.entry(transition, options);
        let Planned { plan, scope, what } = entry.planned()?;
        Ok(Lowered {
            plan: Arc::clone(plan),
            program: entry.program(plan, rank),
            scope: scope.clone(),
            what: Arc::clone(what),
        })
    }

    /// The entry of a transition, new unless there is one.
    fn entry(&self, transition: &Transition, options: PlanOptions) -> Arc<Entry> {
        let mut entries = self.entries();
        let hash = transition.hash();
        if let Some(entry) = entries.find(hash, |entry| entry.is_of(transition, options)) {
            return Arc::clone(entry);
        }
        let entry = Arc::new(Entry {
            transition: transition.clone(),
            options,
            planned: OnceLock::new(),
            programs: Mutex::default(),
        });
        entries.keep(hash, Arc::clone(&entry));
        entry
    }

    /// The entries; a panic leaves them whole, for nothing that panics runs under the lock.
    fn entries(&self) -> MutexGuard<'_, Recent<Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// [`PlanCache::CAPACITY`] plans.
impl Default for PlanCache {
    fn default() -> Self {
        Self::new(Self::CAPACITY)
    }
}

impl fmt::Debug for PlanCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlanCache({} of {} plans)", self.len(), self.capacity())
    }
}

impl Entry {
    fn is_of(&self, transition: &Transition, options: PlanOptions) -> bool {
        self.options == options && self.transition == *transition
    }

    fn planned(&self) -> Result<&Planned, PlanError> {
        let planned = self.planned.get_or_init(|| {
            let plan = plan(&self.transition, &self.options)?;
            let scope = Group::new(plan.ranks().iter().copied())
                .expect("the ranks of a plan are listed once each");
            let what = format!("redistribute {}", self.transition);
            Ok(Planned { plan: Arc::new(plan), scope, what: what.into() })
        });
        planned.as_ref().map_err(PlanError::clone)
    }

    fn program(&self, plan: &Plan, rank: Rank) -> Arc<Program> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let program = Arc::clone(programs.entry(rank).or_default());
        drop(programs);
        Arc::clone(program.get_or_init(|| Arc::new(plan.program(rank))))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests {
    use super::*;
    use crate::base::DType;
    use crate::layout::Layout;
    use crate::mesh::Mesh;

    fn transition(to: &str, len: usize) -> Transition {
        let mesh = Mesh::new([("a", 2), ("b", 2)]).unwrap();
        let layout = |text| Layout::parse(&mesh, 1, text).unwrap();
        Transition::new(layout("a=S(0)"), layout(to), [len], DType::F32).unwrap()
    }

    fn plan_of(cache: &PlanCache, to: &str, len: usize) -> Arc<Plan> {
        cache.plan(&transition(to, len), PlanOptions::default()).unwrap()
    }

    #[test]
    fn the_least_recently_used_plan_goes_out() {
        let cache = PlanCache::new(2);
        let (first, second) = (plan_of(&cache, "R, R", 4), plan_of(&cache, "R, R", 5));
        assert!(Arc::ptr_eq(&first, &plan_of(&cache, "R, R", 4)));
        let _third = plan_of(&cache, "b=S(0)", 4);
        assert_eq!(cache.len(), 2);
        assert!(Arc::ptr_eq(&first, &plan_of(&cache, "R, R", 4)));
        assert!(!Arc::ptr_eq(&second, &plan_of(&cache, "R, R", 5)));
    }

    #[test]
    fn a_cache_without_room_keeps_nothing() {
        let cache = PlanCache::new(0);
        let first = plan_of(&cache, "R, R", 4);
        assert!(cache.is_empty());
        assert!(!Arc::ptr_eq(&first, &plan_of(&cache, "R, R", 4)));
    }

    #[test]
    fn programs_are_made_once_for_each_rank() {
        let cache = PlanCache::default();
        let lowered = |rank| {
            cache.lowered(&transition("R, R", 6), PlanOptions::default(), rank).unwrap().program
        };
        let (zero, one) = (lowered(0), lowered(1));
        assert!(Arc::ptr_eq(&zero, &lowered(0)));
        assert!(Arc::ptr_eq(&one, &lowered(1)));
        assert!(!Arc::ptr_eq(&zero, &one));
    }

    #[test]
    fn ranks_that_race_get_one_plan() {
        let cache = PlanCache::default();
        let plans: Vec<Arc<Plan>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| plan_of(&cache, "R, R", 64))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(plans.iter().all(|plan| Arc::ptr_eq(plan, &plans[0])));
    }
}

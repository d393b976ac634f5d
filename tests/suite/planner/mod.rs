//! What the planner finds: bytes against bounds, kinds of steps, purity, faults that others had.

mod cases;
mod even;
mod kinds;
mod layouts;
mod pure;
mod random;
mod table;
mod uneven;

use reshard::plan::{Plan, PlanOptions, Transition, plan};
use reshard::{DType, Layout, Mesh};

/// Axes `a`, `b`, … of these lengths over the ranks from 0.
fn mesh(shape: &[usize]) -> Mesh {
    let names = ["a", "b", "c", "d"];
    Mesh::new(names.into_iter().zip(shape.iter().copied())).unwrap()
}

fn planned(from: &Layout, to: &Layout, shape: &[usize]) -> Plan {
    let transition = Transition::new(from.clone(), to.clone(), shape, DType::F32).unwrap();
    plan(&transition, &PlanOptions::default()).unwrap()
}

fn kinds(plan: &Plan) -> Vec<&'static str> {
    plan.steps().iter().map(|step| step.kind().name()).collect()
}

/// Bytes over bound of many plans that move something.
#[derive(Debug, Default)]
struct Ratios {
    count: usize,
    log_sum: f64,
    most: f64,
    worst: String,
    launches: usize,
}

impl Ratios {
    /// Over every pair of layouts; a plan's bound is what its busiest rank must move.
    fn of(from: &[Layout], to: &[Layout], shape: &[usize], mut look: impl FnMut(&Plan)) -> Self {
        let mut ratios = Self::default();
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
            let plan = planned(from, to, shape);
            look(&plan);
            ratios.add(&plan);
        }
        ratios
    }

    fn add(&mut self, plan: &Plan) {
        if plan.busiest_bytes() == 0 {
            assert!(plan.is_local(), "{}", plan.transition());
            return;
        }
        let ratio = plan.ratio().unwrap();
        assert!(ratio >= 1.0, "below the bound: {}", plan.transition());
        self.count += 1;
        self.log_sum += ratio.ln();
        self.launches = self.launches.max(plan.launches());
        if ratio > self.most {
            self.most = ratio;
            self.worst = format!("{} by {:?}", plan.transition(), kinds(plan));
        }
    }

    fn geometric_mean(&self) -> f64 {
        (self.log_sum / self.count as f64).exp()
    }

    /// Means over few ratios that are mostly 1 differ little, so limits are compared with room for
    /// rounding only.
    #[track_caller]
    fn at_most(&self, mean: f64, most: f64, launches: usize) {
        let found = (self.geometric_mean(), self.most, self.launches);
        assert!(
            found.0 <= mean + 1e-9 && found.1 <= most + 1e-9 && found.2 <= launches,
            "mean, most and launches {found:?} of {} plans, worst {}",
            self.count,
            self.worst
        );
    }
}

//! Random groups, counts, types and windows.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use reshard::{DType, Group, Reduction};

use super::Engine;
use super::case::{Case, run};
use super::list::{Kind, given};
use super::placing::Style;

/// What a case is made of.
#[derive(Clone, Debug)]
struct Drawn {
    kind: Kind,
    dtype: DType,
    reduction: Reduction,
    root: usize,
    styles: (usize, usize),
    counts: Vec<usize>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let kind = proptest::sample::select(&Kind::ALL[..]);
    let terms = proptest::sample::select(&DType::ALL[..]).prop_flat_map(|dtype| {
        let fit = Reduction::ALL.into_iter().filter(|reduction| reduction.supports(dtype));
        (Just(dtype), proptest::sample::select(fit.collect::<Vec<_>>()))
    });
    let counts = vec(prop_oneof![3 => 0usize..6, 1 => 0usize..700], 36);
    (kind, terms, 0usize..6, (0usize..3, 0usize..3), counts).prop_map(
        |(kind, (dtype, reduction), root, styles, counts)| Drawn {
            kind,
            dtype,
            reduction,
            root,
            styles,
            counts,
        },
    )
}

impl Drawn {
    fn case(&self, group: &Group) -> Case {
        let len = group.len();
        let divisor = if self.reduction == Reduction::Avg { len } else { 1 };
        let operation = self.kind.operation(self.root % len, self.reduction, divisor);
        let counts = |from: usize, to: usize| self.counts[from * 6 + to];
        let given = given(operation, self.dtype, len, &counts);
        let styles = (Style::ALL[self.styles.0], Style::ALL[self.styles.1]);
        Case::new(operation, group, self.dtype, &given, styles)
    }
}

pub(crate) fn check(engine: Engine) {
    let config = ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    // Up to six of the ranks 0..6 in any order, and up to eight calls, on one or the other group.
    let ranks = || {
        let all: Vec<usize> = (0..6).collect();
        proptest::sample::subsequence(all, 1..=6).prop_shuffle()
    };
    let strategy = (ranks(), ranks(), vec((any::<bool>(), drawn()), 1..8));
    let held = TestRunner::new_with_rng(config, rng).run(&strategy, |(one, other, drawn)| {
        let groups = [Group::new(one).unwrap(), Group::new(other).unwrap()];
        let cases: Vec<Case> =
            drawn.iter().map(|(which, drawn)| drawn.case(&groups[usize::from(*which)])).collect();
        run(engine, 6, &cases);
        Ok(())
    });
    held.unwrap();
}

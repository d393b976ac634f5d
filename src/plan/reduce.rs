//! Routes whose source is partial: slices, then a reduce-scatter or all-reduce or both, then one
//! exchange.

use crate::mesh::{Axis, Mesh};

use super::arrange::{Holes, Place, arrange, opened, places};
use super::collective;
use super::route::{Cost, End, Move, Route, Scene};
use super::spread::{Cuts, Division, Spread};
use super::traffic::Traffic;

/// A source whose terms along `reduced` must be combined on the way to a goal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partial<'a> {
    pub(crate) from: End<'a>,
    pub(crate) reduced: &'a [Axis],
    pub(crate) to: End<'a>,
    /// A load that no route can be below.
    pub(crate) floor: usize,
    /// The most launches a route may have.
    pub(crate) launches: usize,
}

/// Where each free axis goes before the exchange: replicated axes by slicing, partial ones by
/// reduce-scatter, or nowhere, which for partial ones means all-reduce.
#[derive(Debug, Default)]
struct Choice {
    placed: Vec<(Axis, Place)>,
    scattered: Vec<Axis>,
    summed: Vec<Axis>,
    sliced: Vec<Axis>,
}

/// More ways to combine than these are not tried.
const MOST_CHOICES: usize = 16_384;

impl Scene<'_> {
    /// The best route that combines terms, if any has few enough launches.
    pub(crate) fn reduce(&self, partial: Partial<'_>) -> Option<Route> {
        let empty: Cuts = partial.from.cuts.iter().map(|_| smallvec::SmallVec::new()).collect();
        let goal = if partial.from.mesh == partial.to.mesh { partial.to.cuts } else { &empty };
        let mut best: Option<(Cost, Route)> = None;
        self.for_each_choice(partial, goal, |choice| {
            let limit = best.as_ref().map_or(usize::MAX, |(cost, _)| cost.0);
            if limit <= partial.floor && best.as_ref().is_some_and(|(cost, _)| cost.1 == 1) {
                return;
            }
            for holes in [Holes::Kept, Holes::Left] {
                let Some(route) = self.try_choice(partial, goal, (choice, holes), limit) else {
                    continue;
                };
                let cost = route.cost();
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, route));
                }
            }
        });
        best.map(|(_, route)| route)
    }

    fn for_each_choice(&self, partial: Partial<'_>, goal: &Cuts, mut visit: impl FnMut(&Choice)) {
        let free = collective::long_axes(partial.from.mesh, |axis| {
            !partial.from.spread.holds(axis) && !self.carried.contains(&axis)
        });
        let options: Vec<Vec<Place>> =
            free.iter().map(|&axis| places(axis, partial.from.cuts, goal, self.shape)).collect();
        let options = within_reason(options);
        let mut turn = vec![0; free.len()];
        loop {
            let mut choice = Choice::default();
            for ((&axis, places), &at) in free.iter().zip(&options).zip(&turn) {
                let (place, reduced) = (places[at], partial.reduced.contains(&axis));
                match (place, reduced) {
                    (Place::Nowhere, true) => choice.summed.push(axis),
                    (Place::Nowhere, false) => {}
                    (_, true) => choice.scattered.push(axis),
                    (_, false) => choice.sliced.push(axis),
                }
                if place != Place::Nowhere {
                    choice.placed.push((axis, place));
                }
            }
            visit(&choice);
            let Some(next) = (0..turn.len()).rev().find(|&at| turn[at] + 1 < options[at].len())
            else {
                // Shortened lists may lack the one choice that always works.
                return visit(&Choice { summed: partial.reduced.to_vec(), ..Choice::default() });
            };
            turn[next] += 1;
            turn[next + 1..].fill(0);
        }
    }

    fn try_choice(
        &self,
        partial: Partial<'_>,
        goal: &Cuts,
        (choice, holes): (&Choice, Holes),
        limit: usize,
    ) -> Option<Route> {
        let has_minor = choice.placed.iter().any(|(_, place)| matches!(place, Place::Minor(_)));
        if (holes == Holes::Left && !has_minor) || self.least_load(partial, choice) > limit {
            return None;
        }
        let (from, to) = (partial.from, partial.to);
        let cuts = arrange(from.cuts, goal, &choice.placed, holes)?;
        if holes == Holes::Left && arrange(from.cuts, goal, &choice.placed, Holes::Kept)? == cuts {
            return None;
        }
        let reducing =
            usize::from(!choice.scattered.is_empty()) + usize::from(!choice.summed.is_empty());
        let arrived = from.mesh == to.mesh && cuts == *to.cuts;
        if reducing + usize::from(!arrived) > partial.launches {
            return None;
        }
        let after = Division::new(from.mesh, &cuts, self.shape).ok()?;
        let sliced = opened(&cuts, &choice.scattered);
        let before = Division::new(from.mesh, &sliced, self.shape).ok()?;
        if largest_load(from.mesh, choice, (&before, &after)) > limit {
            return None;
        }
        let spread = Spread::of(from.mesh, after);
        let route = self.combine(from.mesh, choice, (&sliced, before), (&cuts, &spread));
        if route.traffic.busiest_len() > limit {
            return None;
        }
        if arrived {
            return Some(route);
        }
        let end = End { mesh: from.mesh, cuts: &cuts, spread: &spread };
        let direct = self.direct(end, to);
        // What is received stays as it is, however the sending is evened out.
        let received = route.traffic.received_len.iter().zip(&direct.traffic.received_len);
        let least = received.map(|(first, second)| first + second).max().unwrap_or(0);
        if least > limit {
            return None;
        }
        if partial.launches > 2 && reducing == 1 && least < limit {
            return Some(route.then(self.relieved(direct, (end, to), 0)));
        }
        Some(route.then(direct))
    }

    /// What the busiest rank sends in the reductions at least: the mean over all ranks.
    fn least_load(&self, partial: Partial<'_>, choice: &Choice) -> usize {
        let mesh = partial.from.mesh;
        let held = collective::long_axes(mesh, |axis| partial.from.spread.holds(axis));
        let whole: f64 = self.shape.iter().map(|&len| len as f64).product();
        let sliced = whole / (mesh.group_len(&held) * mesh.group_len(&choice.sliced)) as f64;
        let scattered = sliced / mesh.group_len(&choice.scattered) as f64;
        let ways = mesh.group_len(&choice.summed) as f64;
        let mean = (sliced - scattered) + 2.0 * scattered * (ways - 1.0) / ways;
        // Rounded down by more than a product of floats can be off.
        (mean * (1.0 - 1e-9)).floor() as usize
    }

    /// Slices, then combines.
    fn combine(
        &self,
        mesh: &Mesh,
        choice: &Choice,
        (sliced, before): (&Cuts, Division),
        (cuts, spread): (&Cuts, &Spread),
    ) -> Route {
        let mut route = Route::nothing(self.parties.len());
        let nothing = || Traffic::none(self.parties.len());
        if !choice.sliced.is_empty() {
            route.push(Move::Slice(mesh.clone(), sliced.clone()), nothing());
        }
        if !choice.scattered.is_empty() {
            let (before, mut traffic) = (Spread::of(mesh, before), nothing());
            collective::reduce_scatter(&before, spread, &choice.scattered, &mut traffic);
            route.push(Move::ReduceScatter(choice.scattered.clone(), cuts.clone()), traffic);
        }
        if !choice.summed.is_empty() {
            let mut traffic = nothing();
            collective::all_reduce(spread, &choice.summed, &mut traffic);
            route.push(Move::AllReduce(choice.summed.clone()), traffic);
        }
        route
    }
}

/// What the rank with the largest part receives in the reductions at least.
fn largest_load(mesh: &Mesh, choice: &Choice, (before, after): (&Division, &Division)) -> usize {
    let part = after.largest_len();
    let ways = mesh.group_len(&choice.summed);
    let summed = 2 * (part - part.div_ceil(ways));
    let others = mesh.group_len(&choice.scattered) - 1;
    // Where one rank gets everything it is a reduce, in which it receives its part once.
    let to_one = others > 0 && before.largest_len() <= part;
    summed + if to_one { part } else { others * part }
}

/// With many axes, only the first places of each are tried beside none, so that planning ends.
fn within_reason(options: Vec<Vec<Place>>) -> Vec<Vec<Place>> {
    let count = |options: &[Vec<Place>]| {
        options.iter().fold(1usize, |count, places| count.saturating_mul(places.len()))
    };
    let shortened = |options: Vec<Vec<Place>>, len: usize| -> Vec<Vec<Place>> {
        let shorten = |places: Vec<Place>| match places.as_slice() {
            [first, second, .., last] if len == 3 => vec![*first, *second, *last],
            [first, .., last] if len >= 2 => vec![*first, *last],
            [first, ..] => vec![*first],
            [] => Vec::new(),
        };
        options.into_iter().map(shorten).collect()
    };
    let mut options = options;
    for len in [3, 2, 1] {
        if count(&options) > MOST_CHOICES {
            options = shortened(options, len);
        }
    }
    options
}

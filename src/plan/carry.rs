//! Routes without partial axes: one exchange, or an exchange and a gather where that relieves the
//! busiest rank.

use std::sync::Arc;

use crate::layout::Cut;

use super::exchange::Exchange;
use super::relay::Relay;
use super::route::{End, Move, Route, Scene};
use super::spread::Spread;
use super::traffic::Traffic;

impl Scene<'_> {
    /// The best route between two ends; `floor` is a load that no route can be below, so that one that
    /// comes to it needs no rival.
    pub(crate) fn carry(&self, from: End<'_>, to: End<'_>, floor: usize) -> Route {
        self.relieved(self.direct(from, to), (from, to), floor)
    }

    /// The direct route, or one that sends what it sends from more ranks.
    pub(crate) fn relieved(
        &self,
        direct: Route,
        (from, to): (End<'_>, End<'_>),
        floor: usize,
    ) -> Route {
        let mut best = direct;
        // One exchange receives no more than each rank lacks, so only what is sent can be relieved; a
        // second launch is not worth a sixteenth of it.
        let floor = best.traffic.received_len.iter().copied().max().unwrap_or(0).max(floor);
        if best.cost().0 <= floor + floor / 16 {
            return best;
        }
        // Where elements have many receivers, their sender is relieved if receivers pass them on.
        let free: Vec<_> = to
            .mesh
            .axes()
            .filter(|&axis| {
                to.mesh.axis_len(axis) > 1
                    && !to.spread.holds(axis)
                    && !(from.mesh == to.mesh && self.carried.contains(&axis))
            })
            .collect();
        for dim in 0..to.cuts.len() {
            for chosen in 1u32..(1 << free.len().min(6)) {
                let mut cuts = to.cuts.clone();
                let axes = free.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1);
                cuts[dim].extend(axes.map(|(_, &axis)| Cut::new(axis)));
                let Ok(spread) = Spread::new(to.mesh, &cuts, self.shape) else { continue };
                let relay = End { mesh: to.mesh, cuts: &cuts, spread: &spread };
                let mut first = self.direct(from, relay);
                if first.legs.is_empty() {
                    // Nothing moves, but the second leg starts from other cuts.
                    let nothing = Traffic::none(self.parties.len());
                    first.push(Move::Slice(to.mesh.clone(), cuts.clone()), nothing);
                }
                if first.traffic.busiest_len() >= best.cost().0 {
                    continue;
                }
                let route = first.then(self.direct(relay, to));
                if route.cost() < best.cost() {
                    best = route;
                }
            }
        }
        if best.cost().0 <= floor {
            return best;
        }
        match self.relayed(from, to) {
            Some(relayed) if relayed.cost() < best.cost() => relayed,
            Some(_) | None => best,
        }
    }

    /// The relayed exchange, if it sends otherwise than the direct one.
    fn relayed(&self, from: End<'_>, to: End<'_>) -> Option<Route> {
        let exchange = Exchange::new(from.spread, to.spread, self.parties, self.carried);
        let relay = Relay::new(&exchange)?;
        let mut route = Route::nothing(self.parties.len());
        let traffic = relay.traffic(&exchange);
        route.push(Move::Relay(to.mesh.clone(), to.cuts.clone(), Arc::new(relay)), traffic);
        Some(route)
    }
}

//! Routes without partial axes: one exchange, or an exchange and a gather where that relieves the
//! busiest rank.

use crate::layout::Cut;

use super::route::{End, Route, Scene};
use super::spread::Spread;

impl Scene<'_> {
    /// The best route between two ends; `floor` is a load that no route can be below, so that one that
    /// comes to it needs no rival.
    pub(crate) fn carry(&self, from: End<'_>, to: End<'_>, floor: usize) -> Route {
        let mut best = self.direct(from, to);
        if best.cost().0 <= floor {
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
            for chosen in 1u32..(1 << free.len().min(16)) {
                let mut cuts = to.cuts.clone();
                let axes = free.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1);
                cuts[dim].extend(axes.map(|(_, &axis)| Cut::new(axis)));
                let Ok(spread) = Spread::new(to.mesh, &cuts, self.shape) else { continue };
                let relay = End { mesh: to.mesh, cuts: &cuts, spread: &spread };
                let first = self.direct(from, relay);
                if first.traffic.busiest_len() >= best.cost().0 {
                    continue;
                }
                let route = first.then(self.direct(relay, to));
                if route.cost() < best.cost() {
                    best = route;
                }
            }
        }
        best
    }
}

//! Eight ranks, more than most machines have cores for, and ten thousand redistributions in every way
//! there is: what arrives is what the naive twin says.

mod carry;
mod draw;

use reshard::{Rank, World};

use carry::{carry, compare};
use draw::{Draw, Moved};

pub(crate) const RANKS: usize = 8;

/// Different redistributions, and how often each is made, with other data and in another way.
const DRAWN: usize = 2500;
const ROUNDS: usize = 4;

/// Runs the redistributions in one world: in each round all of them, so that a rank comes back to what it
/// has made ready before.
fn check(drawn: &[Moved]) {
    let starts: Vec<Vec<Vec<Vec<f64>>>> = (0..ROUNDS)
        .map(|round| drawn.iter().map(|moved| moved.locals(round as u64)).collect())
        .collect();
    let arrived = World::run(RANKS, |world| {
        let rounds = starts.iter().enumerate();
        rounds.map(|(round, starts)| carry(world, drawn, starts, round)).collect()
    });
    let arrived: Vec<Vec<Vec<Vec<u8>>>> = arrived.unwrap_or_else(|error| panic!("{error}"));
    for (round, starts) in starts.iter().enumerate() {
        for (index, (moved, start)) in drawn.iter().zip(starts).enumerate() {
            let of_rank = |&rank: &Rank| &arrived[rank][round][index][..];
            let locals: Vec<&[u8]> = moved.to.1.ranks().iter().map(of_rank).collect();
            compare(moved, start, &locals);
        }
    }
}

#[test]
fn ten_thousand_redistributions_on_eight_ranks() {
    let mut draw = Draw::new(8);
    for _ in 0..10 {
        let drawn: Vec<Moved> = (0..DRAWN / 10).map(|_| Moved::small(&mut draw)).collect();
        check(&drawn);
    }
}

#[test]
fn long_tensors_on_eight_ranks() {
    let mut draw = Draw::new(9);
    let drawn: Vec<Moved> = (0..6).map(|number| Moved::large(&mut draw, number)).collect();
    check(&drawn);
}

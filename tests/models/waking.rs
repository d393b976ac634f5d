//! No sleeper misses the bell.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::bell::{Bell, Patience};
use crate::{FOREVER, model};

fn wakes(sleepers: usize, patience: Patience) {
    model(move || {
        let state = Arc::new((Bell::new(), AtomicBool::new(false)));
        let spawn = |_| {
            let state = Arc::clone(&state);
            thread::spawn(move || {
                let (bell, rung) = &*state;
                let is_so = || rung.load(Ordering::Acquire);
                while !patience.spend(is_so) {
                    bell.sleep(FOREVER, is_so);
                }
            })
        };
        let threads: Vec<_> = (0..sleepers).map(spawn).collect();
        let (bell, rung) = &*state;
        bell.ring(|| rung.store(true, Ordering::Release));
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn one_who_sleeps_at_once() {
    wakes(1, Patience::Turn(0));
}

#[test]
fn two_who_sleep_at_once() {
    wakes(2, Patience::Turn(0));
}

#[test]
fn one_who_turns_and_one_who_yields_first() {
    wakes(1, Patience::Turn(1));
    wakes(1, Patience::Yield(1));
}

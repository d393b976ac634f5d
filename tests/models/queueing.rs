//! The order of one rank's calls: what is called directly comes after all that was promised before.

use loom::sync::Arc;
use loom::sync::mpsc::channel;
use loom::thread;

use crate::model;
use crate::tracked::Tracked;
use crate::turns::Turns;

#[test]
fn a_direct_call_comes_after_the_jobs_before_it() {
    model(|| {
        let (turns, done) = (Arc::new(Turns::new()), Arc::new(Tracked::new(0)));
        let (jobs, to_do) = channel::<u32>();
        let (their_turns, their_done) = (Arc::clone(&turns), Arc::clone(&done));
        let worker = thread::spawn(move || {
            for _ in 0..2 {
                let job = to_do.recv().unwrap();
                their_turns.keep(|| {
                    assert_eq!(their_done.read(), job);
                    their_done.write(job + 1);
                });
            }
        });
        for job in 0..2 {
            turns.promise();
            jobs.send(job).unwrap();
        }
        turns.run(|| {
            assert_eq!(done.read(), 2);
            done.write(7);
        });
        assert_eq!(turns.promised(), 0);
        worker.join().unwrap();
    });
}

#[test]
fn jobs_and_direct_calls_of_two_threads_exclude_each_other() {
    model(|| {
        let (turns, done) = (Arc::new(Turns::new()), Arc::new(Tracked::new(0)));
        let add = |done: &Tracked| done.write(done.read() + 1);
        let (their_turns, their_done) = (Arc::clone(&turns), Arc::clone(&done));
        turns.promise();
        let worker = thread::spawn(move || their_turns.keep(|| add(&their_done)));
        let (their_turns, their_done) = (Arc::clone(&turns), Arc::clone(&done));
        let caller = thread::spawn(move || their_turns.run(|| add(&their_done)));
        turns.run(|| add(&done));
        worker.join().unwrap();
        caller.join().unwrap();
        assert_eq!(done.read(), 3);
    });
}

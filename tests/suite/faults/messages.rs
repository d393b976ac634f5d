//! What the errors, the warning and the recorder say.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use reshard::comm::{CallState, Communicator, Operation, RECORDED_CALLS, Stamp};
use reshard::{DType, Group};
use tracing::field::{Field, Visit};

use super::world::{FAR, NEAR, call, perform, submit, world};

/// Collects the texts of events.
#[derive(Clone, Default)]
struct Texts(Arc<Mutex<Vec<String>>>);

impl Visit for Texts {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let mut text = String::new();
        write!(text, "{field}: {value:?}").unwrap();
        self.0.lock().unwrap().push(text);
    }
}

impl tracing::Subscriber for Texts {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// A rank that waits long warns once, and names whom it misses.
#[test]
fn a_long_wait_warns_and_names_the_missing() {
    let texts = Texts::default();
    // While there is but one subscriber, `tracing` may ask the subscriber of whichever thread comes
    // first, other tests' included, whether anybody wants the event; of two it asks both.
    let _second = tracing::Dispatch::new(Texts::default());
    let group = Group::world(2);
    let endpoints = reshard::comm::threads::connect(2, NEAR);
    let error = tracing::subscriber::with_default(texts.clone(), || {
        perform(&endpoints[0], Operation::AllGather, &group).unwrap_err()
    });
    let texts = texts.0.lock().unwrap();
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains("rank 0 in all-gather of u8 among {0, 1}"), "{}", texts[0]);
    assert!(texts[0].contains("for rank 1, which has made no call"), "{}", texts[0]);
    let text = error.to_string();
    assert!(
        text.starts_with(
            "rank 0 in all-gather of u8 among {0, 1} \
             (call 0, step 0; sends 1 B, receives 2 B; `all-gather`) waited "
        ) && text.ends_with(" for rank 1, which has made no call"),
        "{text}"
    );
}

#[test]
fn a_mismatch_states_both_calls() {
    let group = Group::world(2);
    let ends = world(2, FAR, |endpoint| {
        let dtype = if endpoint.rank() == 0 { DType::F32 } else { DType::I32 };
        submit(endpoint, call(Operation::AllGather, &group, dtype, endpoint.rank(), 2), "w")?.wait()
    });
    for end in ends {
        assert_eq!(
            end.unwrap().unwrap_err().to_string(),
            "calls differ in the element type: \
             rank 0 in all-gather of f32 among {0, 1} (call 0, step 0; sends 8 B, receives 16 B; `w`), \
             but rank 1 in all-gather of i32 among {0, 1} (call 0, step 0; sends 8 B, receives 16 B; `w`); \
             ranks of one group make the same calls in the same order"
        );
    }
}

/// The recorder keeps the last calls of each rank, those that move nothing included.
#[test]
fn the_recorder_keeps_the_last_calls() {
    let group = Group::world(2);
    let ends = world(2, FAR, |endpoint| {
        for _ in 0..RECORDED_CALLS {
            perform(endpoint, Operation::Barrier, &group)?;
        }
        endpoint.note(&Stamp::new(endpoint.next_sequence(&group), "slice"));
        perform(endpoint, Operation::AllGather, &group)?;
        Ok(endpoint.recorder().calls(endpoint.rank()).to_vec())
    });
    for end in ends {
        let calls = end.unwrap().unwrap();
        let numbers: Vec<u64> = calls.iter().map(|call| call.stamp.sequence).collect();
        assert_eq!(numbers, (2..18).collect::<Vec<_>>());
        assert_eq!(calls[14].state, CallState::Local);
        assert_eq!(calls[14].to_string(), "a call that moves nothing (call 16, step 0; `slice`)");
        assert!([&calls[..14], &calls[15..]].concat().iter().all(|it| it.state == CallState::Met));
    }
}

/// A call that nobody answers shows as failed once the world is closed.
#[test]
fn the_recorder_tells_what_failed() {
    let endpoints = reshard::comm::threads::connect(2, NEAR);
    let error = perform(&endpoints[0], Operation::Barrier, &Group::world(2)).unwrap_err();
    assert_eq!(error.recorder().unwrap().calls(0)[0].state, CallState::Waiting);
    let recording = endpoints[1].recorder();
    assert_eq!(recording.calls(0)[0].state, CallState::Failed);
    assert!(recording.calls(1).is_empty() && recording.ranks_len() == 2);
    assert!(recording.to_string().starts_with("rank 0  failed   barrier among {0, 1}"));
}

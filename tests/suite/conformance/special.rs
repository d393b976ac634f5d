//! Values at which arithmetic shows its manners.

use std::sync::Mutex;

use half::{bf16, f16};
use reshard::comm::Call;
use reshard::mem::{Buffer, BufferMut};
use reshard::{Element, Group, Reduction};

use super::Engine;

/// All-reduces one element of each rank over the world: the results by rank, which must be one.
fn all_reduced<T: Element>(engine: Engine, terms: &[T], reduction: Reduction) -> T {
    let group = Group::new((0..terms.len()).rev()).unwrap();
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for endpoint in engine(terms.len()) {
            let (group, results) = (&group, &results);
            scope.spawn(move || {
                let (rank, own) = (endpoint.rank(), group.position(endpoint.rank()).unwrap());
                let call = Call::all_reduce(group, T::DTYPE, reduction);
                let call = call.send_run(own, 1).recv_run(own, 1);
                // The group is in reverse: the first term is the last rank's.
                let source = Buffer::from_elements(&terms[own..=own]);
                let target = BufferMut::zeroed(size_of::<T>());
                let result = endpoint.submit(call, source, target).unwrap().wait().unwrap();
                results.lock().unwrap().push((rank, result.as_bytes().to_vec()));
            });
        }
    });
    let results = results.into_inner().unwrap();
    assert_eq!(results.len(), terms.len());
    assert!(results.iter().all(|(_, bytes)| *bytes == results[0].1), "replicas are bit-identical");
    Buffer::from_elements(&results[0].1).as_elements::<T>().unwrap()[0]
}

pub(crate) fn check(engine: Engine) {
    half_width_floats_accumulate_in_f32(engine);
    nan_reaches_the_result(engine);
    integers_wrap(engine);
    truth_values(engine);
    terms_combine_in_group_order(engine);
}

fn half_width_floats_accumulate_in_f32(engine: Engine) {
    // The sum, 160,000, is beyond f16; the mean is not.
    let mean = all_reduced(engine, &[f16::from_f32(40_000.0); 4], Reduction::Avg);
    assert_eq!(mean.to_f32(), 40_000.0);
    // Rounded at each step, 256 + 1 would stay 256 in bf16.
    let terms = [256.0, 1.0, 1.0].map(bf16::from_f32);
    assert_eq!(all_reduced(engine, &terms, Reduction::Sum).to_f32(), 258.0);
    let terms = [2048.0, 1.0, 1.0].map(f16::from_f32);
    assert_eq!(all_reduced(engine, &terms, Reduction::Sum).to_f32(), 2050.0);
}

fn nan_reaches_the_result(engine: Engine) {
    for reduction in [Reduction::Min, Reduction::Max, Reduction::Sum] {
        for position in 0..3 {
            let mut terms = [1.0f32, -7.0, 5.0];
            terms[position] = f32::NAN;
            assert!(all_reduced(engine, &terms, reduction).is_nan());
            let wide = terms.map(f64::from);
            assert!(all_reduced(engine, &wide, reduction).is_nan());
            assert!(all_reduced(engine, &terms.map(f16::from_f32), reduction).is_nan());
            assert!(all_reduced(engine, &terms.map(bf16::from_f32), reduction).is_nan());
        }
    }
    let infinite = [1.0, f32::NEG_INFINITY, f32::INFINITY];
    assert_eq!(all_reduced(engine, &infinite, Reduction::Min), f32::NEG_INFINITY);
    assert_eq!(all_reduced(engine, &infinite, Reduction::Max), f32::INFINITY);
    let zero = all_reduced(engine, &[-0.0f64, -0.0], Reduction::Sum);
    assert!(zero == 0.0 && zero.is_sign_negative());
}

fn integers_wrap(engine: Engine) {
    assert_eq!(all_reduced(engine, &[100i8, 100], Reduction::Sum), -56);
    assert_eq!(all_reduced(engine, &[200u8, 100], Reduction::Sum), 44);
    assert_eq!(all_reduced(engine, &[i32::MAX, 1], Reduction::Sum), i32::MIN);
    assert_eq!(all_reduced(engine, &[u64::MAX, 3], Reduction::Product), u64::MAX - 2);
    assert_eq!(all_reduced(engine, &[i64::MIN, -1], Reduction::Product), i64::MIN);
    assert_eq!(all_reduced(engine, &[u32::MAX, 0, 1], Reduction::Max), u32::MAX);
    assert_eq!(all_reduced(engine, &[i8::MIN, 0, 1], Reduction::Min), i8::MIN);
}

fn truth_values(engine: Engine) {
    for (terms, and, or) in [
        ([true, true], true, true),
        ([true, false], false, true),
        ([false, true], false, true),
        ([false, false], false, false),
    ] {
        assert_eq!(all_reduced(engine, &terms, Reduction::Min), and);
        assert_eq!(all_reduced(engine, &terms, Reduction::Max), or);
    }
}

fn terms_combine_in_group_order(engine: Engine) {
    // (1e8 + 1) - 1e8 loses the 1, (1e8 - 1e8) + 1 does not.
    assert_eq!(all_reduced(engine, &[1e8f32, 1.0, -1e8], Reduction::Sum), 0.0);
    assert_eq!(all_reduced(engine, &[1e8f32, -1e8, 1.0], Reduction::Sum), 1.0);
}

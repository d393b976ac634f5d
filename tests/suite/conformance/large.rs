//! Reductions long enough for an engine to divide them among the ranks, on each of which something else
//! may become of the result.

use reshard::comm::{Communicator, Work};
use reshard::{DType, Group, Reduction};

use super::Engine;
use super::case::{Case, Side, run};
use super::list::{Kind, given};
use super::placing::Style;

/// Bytes of the results: around the length from which the engine of threads shares a reduction, around
/// its pieces, and three of those with an odd rest.
const LENS_BYTES: [usize; 6] =
    [64 << 10, 128 << 10, (128 << 10) + 8, (256 << 10) - 8, 256 << 10, (384 << 10) + 5 * 8];

const TERMS: [(DType, Reduction); 8] = [
    (DType::F32, Reduction::Sum),
    (DType::F64, Reduction::Avg),
    (DType::F16, Reduction::Sum),
    (DType::Bf16, Reduction::Max),
    (DType::I32, Reduction::Product),
    (DType::I64, Reduction::Min),
    (DType::U8, Reduction::Sum),
    (DType::Bool, Reduction::Max),
];

/// Sources are runs, columns and boxes; targets are runs, which may be shared, and columns.
const STYLES: [(Style, Style); 4] = [
    (Style::Packed, Style::Packed),
    (Style::Columns, Style::Packed),
    (Style::Boxes, Style::Packed),
    (Style::Packed, Style::Columns),
];

/// An all-reduce of so many bytes; `number` tells how the parts lie.
fn all_reduce(
    group: &Group,
    (dtype, reduction): (DType, Reduction),
    len_bytes: usize,
    number: usize,
) -> Case {
    let divisor = if reduction == Reduction::Avg { group.len() } else { 1 };
    let operation = Kind::AllReduce.operation(0, reduction, divisor);
    let given = given(operation, dtype, group.len(), &|_, _| len_bytes / dtype.bytes());
    Case::new(operation, group, dtype, &given, STYLES[number % STYLES.len()])
}

/// All that a rank may do with a long reduction, and all that its parts may be.
pub(crate) fn check(engine: Engine) {
    let mut number = 0;
    for world_len in 2..=5 {
        let group = Group::new((0..world_len).rev()).unwrap();
        let mut cases = Vec::new();
        for terms in TERMS {
            number += 1;
            cases.push(all_reduce(&group, terms, LENS_BYTES[number % 6], number));
        }
        run(engine, world_len, &cases);
    }
}

/// What one rank does with its work while the others wait for theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odd {
    Drops,
    Leaks,
    WaitsLate,
}

/// One rank drops a long reduction, leaks it or waits for it after the next ones.
pub(crate) fn check_odd(engine: Engine) {
    for world_len in 2..=4 {
        let group = Group::world(world_len);
        let mut cases = Vec::new();
        for (number, terms) in TERMS.into_iter().enumerate().take(6) {
            cases.push(all_reduce(&group, terms, LENS_BYTES[5 - number % 6], number));
        }
        for odd in [Odd::Drops, Odd::Leaks, Odd::WaitsLate] {
            std::thread::scope(|scope| {
                for endpoint in engine(world_len) {
                    let cases = &cases;
                    scope.spawn(move || with_odd(&*endpoint, cases, odd));
                }
            });
        }
    }
}

/// Makes the calls; each time another rank is the odd one.
fn with_odd(endpoint: &dyn Communicator, cases: &[Case], odd: Odd) {
    let mut late: Vec<(Side<'_>, Work)> = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let side = case.side(endpoint).unwrap();
        let is_odd = number % endpoint.world_len() == endpoint.rank();
        // Whoever has only lent its memory waits for those that are late, so none lends here then.
        if !is_odd && odd == Odd::Drops && number.is_multiple_of(2) {
            side.perform(&side.prepare().unwrap(), &side.stamp()).unwrap();
            continue;
        }
        let work = side.submit().unwrap();
        match odd {
            _ if !is_odd => side.check(work.wait().unwrap().as_bytes()),
            Odd::Drops => drop(work),
            Odd::Leaks => std::mem::forget(work),
            Odd::WaitsLate => late.push((side, work)),
        }
    }
    for (side, work) in late {
        side.check(work.wait().unwrap().as_bytes());
    }
}

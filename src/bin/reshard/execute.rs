//! Carries the values of a line from layout to layout, each rank a thread.

use half::{bf16, f16};
use reshard::plan::{Plan, PlanOptions, plan};
use reshard::{DType, DistTensor, Error, Intervals, World};
use serde_json::{Map, Value, json};

use crate::elements::JsonElement;
use crate::failure::Failure;
use crate::line::{Case, Given};
use crate::output;

/// The answer to a line: what every rank holds at the end, the steps, and the bytes of every rank.
pub(crate) fn execute(case: &Case) -> Result<Value, Failure> {
    match case.transition.dtype() {
        DType::F32 => carry::<f32>(case),
        DType::F64 => carry::<f64>(case),
        DType::F16 => carry::<f16>(case),
        DType::Bf16 => carry::<bf16>(case),
        DType::I8 => carry::<i8>(case),
        DType::U8 => carry::<u8>(case),
        DType::I32 => carry::<i32>(case),
        DType::U32 => carry::<u32>(case),
        DType::I64 => carry::<i64>(case),
        DType::U64 => carry::<u64>(case),
        DType::Bool => carry::<bool>(case),
    }
}

fn carry<T: JsonElement>(case: &Case) -> Result<Value, Failure> {
    let values = Values::<T>::read(case)?;
    let plan = plan(&case.transition, &PlanOptions::default())?;
    let locals = World::run(case.world_len, |world| {
        let tensor = values.on(world, case)?.redistribute(case.transition.target())?;
        local::<T>(&tensor)
    })?;
    Ok(json!({
        "locals": locals,
        "steps": output::steps(&plan),
        "sent_bytes": by_rank(&plan, case.world_len, plan.sent_bytes()),
        "received_bytes": by_rank(&plan, case.world_len, plan.received_bytes()),
    }))
}

/// What the ranks begin with.
enum Values<T> {
    /// By rank; nothing outside the source's mesh.
    Locals(Vec<Vec<T>>),
    Full(Vec<T>),
}

impl<T: JsonElement> Values<T> {
    fn read(case: &Case) -> Result<Self, Failure> {
        match &case.given {
            Given::Locals(given) => {
                if given.len() != case.world_len {
                    let message = format!(
                        "`locals` has {} entries, but the world has {} ranks; give one for each, null for a \
                         rank outside the source's mesh",
                        given.len(),
                        case.world_len
                    );
                    return Err(Failure::new("data", message));
                }
                let local = |(rank, given)| Self::local(case, rank, given);
                Ok(Self::Locals(given.iter().enumerate().map(local).collect::<Result<_, _>>()?))
            }
            Given::Full(given) => {
                let (shape, needed) =
                    (case.transition.shape(), case.transition.shape().iter().product::<usize>());
                if given.len() != needed {
                    let message = format!(
                        "`full` has {} values, but a tensor of shape {shape:?} has {needed} elements",
                        given.len()
                    );
                    return Err(Failure::new("data", message));
                }
                Ok(Self::Full(elements(given, "full")?))
            }
        }
    }

    fn local(case: &Case, rank: usize, given: &Value) -> Result<Vec<T>, Failure> {
        let name = format!("locals[{rank}]");
        match (case.transition.source().mesh().contains(rank), given) {
            (false, Value::Null) => Ok(Vec::new()),
            (true, Value::Array(values)) => elements(values, &name),
            (true, _) => Err(Failure::new(
                "data",
                format!("`{name}` must be a list: rank {rank} is in the source's mesh"),
            )),
            (false, _) => Err(Failure::new(
                "data",
                format!("`{name}` must be null: rank {rank} is not in the source's mesh"),
            )),
        }
    }

    /// One rank's handle on the tensor.
    fn on(&self, world: &World, case: &Case) -> Result<DistTensor, Error> {
        let (source, shape) = (case.transition.source(), case.transition.shape());
        let on = world.on(source.mesh());
        match self {
            Self::Locals(locals) => on.from_local(source, shape, locals[world.rank()].clone()),
            Self::Full(full) => on.from_fn(shape, source, |index| {
                let flat = index.iter().zip(shape).fold(0, |flat, (&i, &len)| flat * len + i);
                full[flat]
            }),
        }
    }
}

fn elements<T: JsonElement>(values: &[Value], name: &str) -> Result<Vec<T>, Failure> {
    let element = |(index, value)| {
        let wrong = || {
            let message = format!("`{name}[{index}]` is {value}, which is not {}", T::FORM);
            Failure::new("data", message)
        };
        T::read(value).ok_or_else(wrong)
    };
    values.iter().enumerate().map(element).collect()
}

/// What a rank holds; null outside the mesh. Intervals are listed only where a dim has several.
fn local<T: JsonElement>(tensor: &DistTensor) -> Result<Value, Error> {
    if !tensor.is_here() {
        return Ok(Value::Null);
    }
    let region = tensor.region()?;
    let mut local = Map::new();
    local.insert("shape".to_owned(), tensor.local_shape()?.into());
    local.insert("offset".to_owned(), tensor.offset()?.into());
    if region.dims().iter().any(|dim| dim.as_slice().len() > 1) {
        local.insert("intervals".to_owned(), region.dims().iter().map(intervals).collect());
    }
    let values = tensor.to_local_vec::<T>()?;
    local.insert("values".to_owned(), values.into_iter().map(T::write).collect());
    Ok(local.into())
}

/// `[[start, end], ...]`, ends excluded.
fn intervals(dim: &Intervals) -> Value {
    dim.iter().map(|run| json!([run.start, run.end])).collect()
}

/// Counts by party as counts by rank number; 0 for ranks that take no part.
fn by_rank(plan: &Plan, world_len: usize, counts: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all = vec![0; world_len];
    for (&rank, count) in plan.ranks().iter().zip(counts) {
        all[rank] = count;
    }
    all
}

//! One line of `reshard run`: a JSON object with a transition and the values to carry.

use reshard::Rank;
use reshard::plan::Transition;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::input::{MeshText, Request};
use crate::limits;

/// What a line asks for.
pub(crate) struct Case {
    pub(crate) transition: Transition,
    /// How many ranks run.
    pub(crate) world_len: usize,
    pub(crate) given: Given,
}

/// The values, not yet read as elements.
pub(crate) enum Given {
    /// By rank: its local tensor, or `null` outside the source's mesh.
    Locals(Vec<Value>),
    /// The whole tensor, of which each rank cuts its own part.
    Full(Vec<Value>),
}

impl Case {
    /// Reads a line.
    pub(crate) fn read(line: &[u8]) -> Result<Self, Failure> {
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| Failure::new("json", format!("the line is no JSON: {error}")))?;
        let Value::Object(map) = value else {
            return Err(Failure::new("json", "the line is no JSON object; write {\"mesh\": ...}"));
        };
        let mut fields = Fields(map);
        let request = request(&mut fields)?;
        let world = fields.optional("world", "a whole number of ranks", whole)?;
        let given = given(&mut fields)?;
        fields.finish()?;
        let transition = request.transition(limits::RUN_RANKS)?;
        let world_len = world_len(&transition, world)?;
        limits::check_held(&transition)?;
        Ok(Self { transition, world_len, given })
    }
}

fn request(fields: &mut Fields) -> Result<Request, Failure> {
    const AXES: &str = "a list of axes, as in [[\"dp\", 2], [\"tp\", 4]]";
    const RANKS: &str = "a list of rank numbers, as in [3, 1, 0, 2]";
    const TEXT: &str = "a text";
    Ok(Request {
        mesh: MeshText {
            axes: Some(fields.required("mesh", AXES, axes)?),
            ranks: fields.optional("ranks", RANKS, numbers)?,
        },
        to_mesh: MeshText {
            axes: fields.optional("to_mesh", AXES, axes)?,
            ranks: fields.optional("to_ranks", RANKS, numbers)?,
        },
        shape: fields.required("shape", "a list of whole numbers, as in [7, 3]", numbers)?,
        dtype: fields.required("dtype", TEXT, text)?,
        from: fields.required("from", TEXT, text)?,
        to: fields.required("to", TEXT, text)?,
    })
}

fn given(fields: &mut Fields) -> Result<Given, Failure> {
    let form = "a list with one entry for each rank, as in [[1, 2], [3, 4]]";
    let locals = fields.optional("locals", form, list)?;
    let full = fields.optional("full", "a list of values, row major", list)?;
    match (locals, full) {
        (Some(locals), None) => Ok(Given::Locals(locals)),
        (None, Some(full)) => Ok(Given::Full(full)),
        (None, None) => {
            let message = "there are no values; give `locals`, one list for each rank, or `full`";
            Err(Failure::new("field", message))
        }
        (Some(_), Some(_)) => {
            Err(Failure::new("field", "both `locals` and `full` are given; give one of them"))
        }
    }
}

fn world_len(transition: &Transition, given: Option<usize>) -> Result<usize, Failure> {
    let layouts = [transition.source(), transition.target()];
    let ranks = layouts.iter().flat_map(|layout| layout.mesh().ranks());
    let last: Rank = ranks.copied().max().unwrap_or(0);
    let most = last.max(given.map_or(0, |len| len.saturating_sub(1)));
    limits::check_world(most).map_err(|failure| failure.of("world"))?;
    let len = given.unwrap_or(last + 1);
    if len <= last {
        let message = format!(
            "`world` is {len}, but the meshes have rank {last}; give `world` {} or leave it out",
            last + 1
        );
        return Err(Failure::new("mesh", message));
    }
    Ok(len)
}

/// The fields of an object that nobody has asked for yet.
struct Fields(Map<String, Value>);

impl Fields {
    fn optional<T>(
        &mut self,
        name: &str,
        form: &str,
        read: impl Fn(Value) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let value = self.0.remove(name).filter(|value| !value.is_null());
        let wrong = || Failure::new("field", format!("`{name}` must be {form}"));
        value.map(|value| read(value).ok_or_else(wrong)).transpose()
    }

    fn required<T>(
        &mut self,
        name: &str,
        form: &str,
        read: impl Fn(Value) -> Option<T>,
    ) -> Result<T, Failure> {
        let missing = || Failure::new("field", format!("`{name}` is missing; it must be {form}"));
        self.optional(name, form, read)?.ok_or_else(missing)
    }

    /// Checks that nothing is left over.
    fn finish(self) -> Result<(), Failure> {
        let Some(name) = self.0.keys().next() else { return Ok(()) };
        let known =
            "mesh, ranks, world, to_mesh, to_ranks, shape, dtype, from, to, locals and full";
        Err(Failure::new("field", format!("`{name}` is no field; there are {known}")))
    }
}

fn text(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
}

fn list(value: Value) -> Option<Vec<Value>> {
    if let Value::Array(list) = value { Some(list) } else { None }
}

fn whole(value: Value) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

fn numbers(value: Value) -> Option<Vec<usize>> {
    list(value)?.into_iter().map(whole).collect()
}

fn axes(value: Value) -> Option<Vec<(String, usize)>> {
    let axis = |pair: Value| {
        let [name, len]: [Value; 2] = list(pair)?.try_into().ok()?;
        Some((text(name)?, whole(len)?))
    };
    list(value)?.into_iter().map(axis).collect()
}

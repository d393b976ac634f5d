//! Handing out an array that a rank has whole.

use super::host::{HostArray, Loaded};
use super::ready::Ready;
use super::redistribute::check_ranks;
use super::wire::{Wire, dtype_code, dtype_of};
use super::{DistTensor, Error, On};
use crate::base::DType;
use crate::layout::{IntoLayout, Layout};
use crate::mem::Buffer;
use crate::mesh::{Group, Mesh, Rank};
use crate::plan::Transition;

/// Who has the array that is to be handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This rank alone; it need not be in the mesh.
    Rank(Rank),
    /// Every rank; all have the same.
    Everywhere,
}

impl On {
    /// Hands out an array that some rank, or every rank, has whole.
    ///
    /// `load` gives the array; with [`Source::Rank`] only that rank calls it. Arrays are only read.
    ///
    /// # Communication
    ///
    /// With [`Source::Rank`] every rank of the world calls this: all are told the array's shape and
    /// element type, then the elements go straight to the ranks that hold them, as planned from a layout
    /// on one rank. With [`Source::Everywhere`] nothing is sent, and every rank keeps its part.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] if `load` fails: with [`Source::Rank`] on every rank, with [`Source::Everywhere`]
    /// on the ranks where it does. Otherwise as [`DistTensor::redistribute`].
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::{Mesh, Source, World};
    /// let mesh = Mesh::new([("tp", 2)])?;
    /// let locals = World::run(2, |world| {
    ///     let on = world.on(&mesh);
    ///     let weight = on.distribute(Source::Rank(1), || vec![1.0f32, 2.0, 3.0], "S(0)")?;
    ///     weight.to_local_vec::<f32>()
    /// })?;
    /// assert_eq!(locals, [vec![1.0, 2.0], vec![3.0]]);
    ///
    /// let error = World::run(2, |world| {
    ///     let load = || Err::<Vec<f32>, _>("no such file");
    ///     world.on(&mesh).distribute(Source::Rank(1), load, "S(0)")
    /// });
    /// assert_eq!(
    ///     error.unwrap_err().to_string(),
    ///     "rank 1 could not give the tensor that it was to distribute: no such file"
    /// );
    /// # Ok::<(), reshard::Error>(())
    /// ```
    pub fn distribute<L: Loaded>(
        &self,
        source: Source,
        load: impl FnOnce() -> L,
        placements: impl IntoLayout,
    ) -> Result<DistTensor, Error> {
        check_ranks(self.world(), self.mesh())?;
        match source {
            Source::Rank(from) => self.distribute_from(from, load, placements),
            Source::Everywhere => self.distribute_own(load, placements),
        }
    }

    fn distribute_from<L: Loaded>(
        &self,
        from: Rank,
        load: impl FnOnce() -> L,
        placements: impl IntoLayout,
    ) -> Result<DistTensor, Error> {
        let world = self.world();
        let alone = Mesh::with_ranks([("source", 1)], [from])?;
        check_ranks(world, &alone)?;
        let loaded = (world.rank() == from).then(|| load().loaded());
        let what = format!("distribute from rank {from} on {}", self.mesh());
        let wire = Wire::new(world, Group::world(world.len()), what);
        let (shape, dtype) = announce(&wire, from, loaded.as_ref())?;
        let layout = self.layout(placements, shape.len())?;
        let whole = Layout::replicated(&alone, shape.len());
        let array = loaded.and_then(Result::ok).map(|array| array.buffer().clone());
        let ready = Ready::new(world, &Transition::new(whole, layout, shape, dtype)?)?;
        let array = array.unwrap_or_else(Buffer::empty);
        let local = world.in_turn(|communicator| ready.run(&array, &mut None, communicator))?;
        Ok(ready.tensor(world, local))
    }

    /// Every rank keeps its part of its own array.
    fn distribute_own<L: Loaded>(
        &self,
        load: impl FnOnce() -> L,
        placements: impl IntoLayout,
    ) -> Result<DistTensor, Error> {
        let rank = self.world().rank();
        let array = load().loaded().map_err(|cause| Error::Load { rank, cause: cause.into() })?;
        let (shape, dtype) = (array.shape().to_vec(), array.dtype());
        let layout = self.layout(placements, shape.len())?;
        let whole = Layout::replicated(self.mesh(), shape.len());
        let own = self.is_here().then(|| array.buffer().clone());
        let ready = Ready::new(self.world(), &Transition::new(whole, layout, shape, dtype)?)?;
        let local = ready.run_local(self.world(), &own.unwrap_or_else(Buffer::empty))?;
        Ok(ready.tensor(self.world(), local))
    }
}

/// Tells all ranks the shape and the element type of the array that one rank has loaded, or why it has
/// none.
fn announce(
    wire: &Wire<'_>,
    from: Rank,
    loaded: Option<&Result<HostArray, String>>,
) -> Result<(Vec<usize>, DType), Error> {
    const FAILED: u64 = u64::MAX;
    let (kind, words, bytes_len) = match loaded {
        None => (0, Vec::new(), 0),
        Some(Ok(array)) => {
            let shape: Vec<u64> = array.shape().iter().map(|&len| len as u64).collect();
            (dtype_code(array.dtype()), shape, 0)
        }
        Some(Err(cause)) => (FAILED, packed(cause), cause.len()),
    };
    let head = wire.broadcast(from, vec![kind, words.len() as u64, bytes_len as u64], 3)?;
    let body = wire.broadcast(from, words, head[1] as usize)?;
    if head[0] == FAILED {
        let cause = unpacked(&body, head[2] as usize).into();
        return Err(Error::Load { rank: from, cause });
    }
    Ok((body.iter().map(|&len| len as usize).collect(), dtype_of(head[0])))
}

/// A text as words.
fn packed(text: &str) -> Vec<u64> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    text.as_bytes().chunks(8).map(word).collect()
}

/// The text of `len` bytes that [`packed`] made into words.
fn unpacked(words: &[u64], len: usize) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

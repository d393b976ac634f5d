//! Tensors that every rank can make by itself.

use super::ready::Ready;
use super::{DistTensor, Error, On, random};
use crate::base::{DType, Element, Region};
use crate::layout::IntoLayout;
use crate::mem::{Buffer, BufferMut, Window, fill_value};
use crate::plan::Transition;

/// Nothing is sent. Where placements are partial, the ranks hold terms of the value asked for.
impl On {
    /// A tensor of zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if there is no such layout or it does not fit, on every rank alike.
    pub fn zeros<T: Element>(
        &self,
        shape: impl Into<Vec<usize>>,
        placements: impl IntoLayout,
    ) -> Result<DistTensor, Error> {
        self.zeros_of(T::DTYPE, shape, placements)
    }

    /// A tensor of zeros of an element type known at run time.
    ///
    /// # Errors
    ///
    /// As [`On::zeros`].
    pub fn zeros_of(
        &self,
        dtype: DType,
        shape: impl Into<Vec<usize>>,
        placements: impl IntoLayout,
    ) -> Result<DistTensor, Error> {
        self.make(dtype, shape.into(), placements, |region| {
            Ok(BufferMut::zeroed(region.len() * dtype.bytes()).freeze())
        })
    }

    /// A tensor of one value.
    ///
    /// # Errors
    ///
    /// As [`On::zeros`].
    pub fn full<T: Element>(
        &self,
        value: T,
        shape: impl Into<Vec<usize>>,
        placements: impl IntoLayout,
    ) -> Result<DistTensor, Error> {
        self.make(T::DTYPE, shape.into(), placements, |region| {
            let mut buffer = BufferMut::zeroed(region.len() * T::DTYPE.bytes());
            let all = Window::run(0, region.len(), T::DTYPE.bytes());
            fill_value(buffer.as_bytes_mut(), &[all], value)?;
            Ok(buffer.freeze())
        })
    }

    /// A tensor whose elements are a function of their global index.
    ///
    /// # Errors
    ///
    /// As [`On::zeros`].
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::{Mesh, World};
    /// let mesh = Mesh::new([("tp", 2)])?;
    /// let locals = World::run(2, |world| {
    ///     world.on(&mesh).from_fn([5], "S(0)", |index| index[0] as u8)?.to_local_vec::<u8>()
    /// })?;
    /// assert_eq!(locals, [vec![0, 1, 2], vec![3, 4]]);
    /// # Ok::<(), reshard::Error>(())
    /// ```
    pub fn from_fn<T: Element>(
        &self,
        shape: impl Into<Vec<usize>>,
        placements: impl IntoLayout,
        mut value: impl FnMut(&[usize]) -> T,
    ) -> Result<DistTensor, Error> {
        self.make(T::DTYPE, shape.into(), placements, |region| {
            let mut elements = Vec::with_capacity(region.len());
            for_each_index(region, |index| elements.push(value(index)));
            Ok(Buffer::from_vec(elements))
        })
    }

    /// A tensor of random values that depend on the seed, the element type and the global index alone,
    /// so they are the same in every layout on every mesh.
    ///
    /// Floats are uniform in [0, 1), on a grid of 2⁻²⁴ for `f32`, 2⁻⁵³ for `f64`, 2⁻¹¹ for `f16` and
    /// 2⁻⁸ for `bf16`. Integers are uniform over all their values, truth values are fair.
    ///
    /// # Errors
    ///
    /// As [`On::zeros`].
    ///
    /// # Source
    ///
    /// The element at row-major number *i* is made from the topmost bits of the *i*-th output, counted
    /// from 0, of SplitMix64 with the seed as its state (Steele, Lea, Flood: *Fast splittable
    /// pseudorandom number generators*, 2014).
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::{Mesh, World};
    /// let mesh = Mesh::new([("tp", 2)])?;
    /// World::run(2, |world| {
    ///     let whole = world.on(&mesh).rand::<f64>(1234567, [2], "R")?.to_local_vec::<f64>()?;
    ///     // 6457827717110365317 is the first output of SplitMix64 for this seed.
    ///     assert_eq!(whole[0], (6457827717110365317u64 >> 11) as f64 / 2f64.powi(53));
    ///     let part = world.on(&mesh).rand::<f64>(1234567, [2], "S(0)")?.to_local_vec::<f64>()?;
    ///     assert_eq!(part, [whole[world.rank()]]);
    ///     Ok(())
    /// })?;
    /// # Ok::<(), reshard::Error>(())
    /// ```
    pub fn rand<T: Element>(
        &self,
        seed: u64,
        shape: impl Into<Vec<usize>>,
        placements: impl IntoLayout,
    ) -> Result<DistTensor, Error> {
        self.rand_of(T::DTYPE, seed, shape, placements)
    }

    /// A tensor of random values of an element type known at run time; see [`On::rand`].
    ///
    /// # Errors
    ///
    /// As [`On::zeros`].
    pub fn rand_of(
        &self,
        dtype: DType,
        seed: u64,
        shape: impl Into<Vec<usize>>,
        placements: impl IntoLayout,
    ) -> Result<DistTensor, Error> {
        let shape = shape.into();
        let number = |index: &[usize]| {
            index.iter().zip(&shape).fold(0u64, |number, (&i, &len)| number * len as u64 + i as u64)
        };
        self.make(dtype, shape.clone(), placements, |region| {
            let mut buffer = BufferMut::zeroed(region.len() * dtype.bytes());
            let mut elements = buffer.as_bytes_mut().chunks_exact_mut(dtype.bytes());
            for_each_index(region, |index| {
                if let Some(element) = elements.next() {
                    random::write(dtype, random::output(seed, number(index)), element);
                }
            });
            Ok(buffer.freeze())
        })
    }

    /// A tensor of the elements that `local` gives for this rank's region.
    fn make(
        &self,
        dtype: DType,
        shape: Vec<usize>,
        placements: impl IntoLayout,
        local: impl FnOnce(&Region) -> Result<Buffer, Error>,
    ) -> Result<DistTensor, Error> {
        let layout = self.layout(placements, shape.len())?;
        layout.check(&shape, dtype)?;
        let local = match self.is_here() {
            true => Some(local(&layout.region(&shape, self.world().rank())?)?),
            false => None,
        };
        if !layout.is_partial() {
            return self.tensor(layout, &shape, dtype, local);
        }
        let seed = Transition::new(layout.reduced(), layout, shape, dtype)?;
        let ready = Ready::new(self.world(), &seed)?;
        let terms = ready.run_local(self.world(), &local.unwrap_or_else(Buffer::empty))?;
        Ok(ready.tensor(self.world(), terms))
    }
}

/// Visits the global index of every element of a region, in row-major order.
fn for_each_index(region: &Region, mut visit: impl FnMut(&[usize])) {
    if region.is_empty() {
        return;
    }
    let dims: Vec<Vec<usize>> = region.dims().iter().map(|dim| dim.indices().collect()).collect();
    let mut at = vec![0; dims.len()];
    let mut index: Vec<usize> = dims.iter().map(|dim| dim[0]).collect();
    loop {
        visit(&index);
        let mut dim = dims.len();
        loop {
            let Some(next) = dim.checked_sub(1) else { return };
            dim = next;
            at[dim] += 1;
            if at[dim] < dims[dim].len() {
                break;
            }
            at[dim] = 0;
            index[dim] = dims[dim][0];
        }
        index[dim] = dims[dim][at[dim]];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Interval, Intervals};

    #[test]
    fn indices_come_in_row_major_order() {
        let visited = |region: &Region| {
            let mut all = Vec::new();
            for_each_index(region, |index| all.push(index.to_vec()));
            all
        };
        let holes: Intervals = [Interval::new(0, 1), Interval::new(3, 5)].into_iter().collect();
        let region = Region::from_iter([Intervals::all(2), holes.clone()]);
        assert_eq!(visited(&region), [[0, 0], [0, 3], [0, 4], [1, 0], [1, 3], [1, 4]]);
        assert_eq!(visited(&Region::default()), [[0; 0]]);
        assert_eq!(visited(&Region::from_iter([holes, Intervals::new()])), [[0; 0]; 0]);
    }
}

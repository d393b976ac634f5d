//! Elements as `ndarray` arrays.

use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD};

use super::{DataError, DistTensor, Error};
use crate::base::Element;
use crate::layout::Layout;

impl DistTensor {
    /// This rank's elements, as an array of the local shape. Of a partial tensor these are terms, not
    /// values.
    ///
    /// # Errors
    ///
    /// [`DataError::WrongType`] if `T` is not the element type, [`DataError::Outside`] on a rank outside
    /// the mesh.
    pub fn local<T: Element>(&self) -> Result<ArrayViewD<'_, T>, Error> {
        self.check_type::<T>()?;
        let elements = self.local_buffer()?.as_elements::<T>()?;
        Ok(ArrayViewD::from_shape(self.local_shape()?, elements)?)
    }

    /// This rank's elements in row-major order. Of a partial tensor these are terms, not values.
    ///
    /// # Errors
    ///
    /// As [`DistTensor::local`].
    pub fn to_local_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        self.check_type::<T>()?;
        Ok(self.local_buffer()?.as_elements::<T>()?.to_vec())
    }

    /// This rank's elements, to write to. Elements that are shared with another tensor, or that were
    /// taken over from the caller, are copied first.
    ///
    /// Replicas have to be written alike; nobody checks that.
    ///
    /// # Errors
    ///
    /// As [`DistTensor::local`].
    pub fn local_mut<T: Element>(&mut self) -> Result<ArrayViewMutD<'_, T>, Error> {
        self.check_type::<T>()?;
        let shape = self.local_shape()?.to_vec();
        let outside = self.outside();
        let elements = self.local.as_mut().ok_or(outside)?.make_elements_mut::<T>()?;
        Ok(ArrayViewMutD::from_shape(shape, elements)?)
    }

    /// The whole tensor, its partial sums reduced, on every rank of its mesh.
    ///
    /// # Communication
    ///
    /// Redistributes to the replicated layout: every rank of the mesh calls this.
    ///
    /// # Errors
    ///
    /// As [`DistTensor::redistribute`] and [`DistTensor::local`].
    pub fn full<T: Element>(&self) -> Result<ArrayD<T>, Error> {
        self.check_type::<T>()?;
        let replicated = Layout::replicated(self.layout().mesh(), self.ndim());
        Ok(self.redistribute(replicated)?.local::<T>()?.to_owned())
    }

    fn check_type<T: Element>(&self) -> Result<(), Error> {
        let (asked, dtype) = (T::DTYPE, self.dtype());
        if asked != dtype {
            return Err(DataError::WrongType { asked, dtype }.into());
        }
        Ok(())
    }
}

//! Why something on a world or a tensor could not be done.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::{DataError, LaunchError};
use crate::comm::CommError;
use crate::exec::ExecError;
use crate::layout::LayoutError;
use crate::mem::MemError;
use crate::mesh::{MeshError, Rank};
use crate::plan::PlanError;

/// Why something on a world or a tensor could not be done; [`Error::class`] tells what that means for
/// the other ranks.
///
/// A closure that a world runs returns this type. `?` takes in every error of this crate, I/O errors,
/// texts and boxed errors; [`Error::caller`] takes in any other.
///
/// # Example
///
/// ```
/// use reshard::{Error, ErrorClass, World};
/// let error = World::run(2, |world| match world.rank() {
///     0 => Err("no space left".into()),
///     _ => Ok(()),
/// });
/// let error = error.unwrap_err();
/// assert_eq!(error.to_string(), "no space left");
/// assert_eq!(error.class(), ErrorClass::Own);
/// ```
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such layout, or it does not fit the tensor.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// No such mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The redistribution cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The mesh has a rank that the world has not.
    #[error("the mesh {mesh} has rank {rank}, but the world has ranks 0 to {} only", world_len - 1)]
    UnknownRank {
        /// The mesh.
        mesh: String,
        /// The rank.
        rank: Rank,
        /// How many ranks the world has.
        world_len: usize,
    },
    /// The rank that was to give a tensor could not.
    #[error("rank {rank} could not give the tensor that it was to distribute: {cause}")]
    Load {
        /// The rank.
        rank: Rank,
        /// Why.
        cause: Arc<str>,
    },
    /// What this rank gave or asked for does not fit the tensor.
    #[error(transparent)]
    Data(Box<DataError>),
    /// An operation or a layer cannot work on these operands: their layouts, shapes or element types do
    /// not go together.
    #[error("{0}")]
    Operands(Arc<dyn StdError + Send + Sync>),
    /// This rank could not carry out its own part; a defect of this crate or of a communicator, never
    /// of the caller.
    #[error("this rank could not carry out its part of {what}: {cause}")]
    Engine {
        /// The call.
        what: Arc<str>,
        /// Why.
        cause: Arc<str>,
    },
    /// Ranks could not do something together. Bytes may have moved.
    #[error(transparent)]
    Comm(#[from] CommError),
    /// The world could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// An error of the caller's own.
    #[error("{0}")]
    Caller(Arc<dyn StdError + Send + Sync>),
    /// The rank's closure panicked.
    #[error("rank {rank} panicked: {message}")]
    Panicked {
        /// The rank.
        rank: Rank,
        /// The panic's message.
        message: Arc<str>,
    },
}

/// What an error on this rank means for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// Nothing of the tensor has moved, and every rank that made the same call has the same error.
    Agreed,
    /// The error is this rank's own. Nothing has moved yet, but peers may wait for this rank: a closure
    /// that returns the error ends their waits.
    Own,
    /// Bytes may have moved; every rank that takes part has an error that names the cause.
    Moved,
}

/// The message, since that is what `fn main() -> Result<(), Error>` and `unwrap` print.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// An error of the caller's own. Errors of this crate keep their variant.
    #[must_use]
    pub fn caller(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let mut error = error.into();
        macro_rules! restore {
            ($($own:ty),*) => {$(
                error = match error.downcast::<$own>() {
                    Ok(own) => return (*own).into(),
                    Err(error) => error,
                };
            )*};
        }
        restore!(
            Error,
            LayoutError,
            MeshError,
            PlanError,
            DataError,
            CommError,
            LaunchError,
            MemError
        );
        Self::Caller(error.into())
    }

    /// What the error means for the other ranks.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Error::Layout(_)
            | Error::Mesh(_)
            | Error::Plan(_)
            | Error::UnknownRank { .. }
            | Error::Load { .. }
            | Error::Operands(_)
            | Error::Launch(_) => ErrorClass::Agreed,
            Error::Data(error) if error.is_agreed() => ErrorClass::Agreed,
            Error::Data(_) | Error::Engine { .. } | Error::Caller(_) | Error::Panicked { .. } => {
                ErrorClass::Own
            }
            Error::Comm(CommError::Invalid { .. }) => ErrorClass::Own,
            Error::Comm(_) => ErrorClass::Moved,
        }
    }

    /// The rank that the error is about, where it is about one.
    #[must_use]
    pub fn cause_rank(&self) -> Option<Rank> {
        match self {
            Error::UnknownRank { rank, .. }
            | Error::Load { rank, .. }
            | Error::Panicked { rank, .. } => Some(*rank),
            Error::Comm(error) => error.cause_rank(),
            Error::Data(error) => error.rank(),
            Error::Layout(_)
            | Error::Mesh(_)
            | Error::Plan(_)
            | Error::Operands(_)
            | Error::Engine { .. }
            | Error::Launch(_)
            | Error::Caller(_) => None,
        }
    }

    /// The error of a call, named by its text.
    pub(crate) fn engine(what: &str, cause: impl fmt::Display) -> Self {
        Self::Engine { what: what.into(), cause: cause.to_string().into() }
    }

    /// The error of a program that could not be run.
    pub(crate) fn exec(what: &str, error: ExecError) -> Self {
        match error {
            ExecError::Comm(error) => Self::Comm(error),
            ExecError::Memory(_)
            | ExecError::Length { .. }
            | ExecError::Unwritten { .. }
            | ExecError::Frozen { .. } => Self::engine(what, error),
        }
    }
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Self::Data(Box::new(error))
    }
}

impl From<MemError> for Error {
    fn from(error: MemError) -> Self {
        Self::engine("a use of memory", error)
    }
}

impl From<Box<dyn StdError + Send + Sync>> for Error {
    fn from(error: Box<dyn StdError + Send + Sync>) -> Self {
        Self::caller(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::caller(error)
    }
}

impl From<ndarray::ShapeError> for Error {
    fn from(error: ndarray::ShapeError) -> Self {
        Self::caller(error)
    }
}

impl From<String> for Error {
    fn from(error: String) -> Self {
        Self::caller(error)
    }
}

impl From<&str> for Error {
    fn from(error: &str) -> Self {
        Self::caller(error)
    }
}

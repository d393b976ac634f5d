//! Meshes, shapes and transitions from what the caller wrote.

use reshard::plan::Transition;
use reshard::{DType, Layout, Mesh, Rank};

use crate::failure::Failure;
use crate::limits;

/// What names a transition, before any of it is checked against the rest.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) mesh: MeshText,
    /// The target's, where it is another one.
    pub(crate) to_mesh: MeshText,
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// Axes with their lengths, and ranks by coordinate; what is missing is taken from elsewhere.
#[derive(Debug)]
pub(crate) struct MeshText {
    pub(crate) axes: Option<Vec<(String, usize)>>,
    pub(crate) ranks: Option<Vec<Rank>>,
}

impl Request {
    /// The transition, on meshes of at most `limit` ranks.
    pub(crate) fn transition(self, limit: usize) -> Result<Transition, Failure> {
        let dtype: DType =
            self.dtype.parse().map_err(|error| Failure::new("dtype", format!("{error}")))?;
        limits::check_dims(&self.shape)?;
        let MeshText { axes, ranks } = self.mesh;
        let axes = axes.unwrap_or_default();
        let mesh = mesh(axes.clone(), ranks, limit).map_err(|failure| failure.of("mesh"))?;
        let to_mesh = match self.to_mesh {
            MeshText { axes: None, ranks: None } => mesh.clone(),
            MeshText { axes: to_axes, ranks } => {
                let made = self::mesh(to_axes.unwrap_or(axes), ranks, limit);
                made.map_err(|failure| failure.of("target mesh"))?
            }
        };
        let ndim = self.shape.len();
        let layout = |side, mesh, text: &str| {
            Layout::parse(mesh, ndim, text).map_err(|error| Failure::from(error).of(side))
        };
        let source = layout("source layout", &mesh, &self.from)?;
        let target = layout("target layout", &to_mesh, &self.to)?;
        Ok(Transition::new(source, target, self.shape, dtype)?)
    }
}

fn mesh(
    axes: Vec<(String, usize)>,
    ranks: Option<Vec<Rank>>,
    limit: usize,
) -> Result<Mesh, Failure> {
    limits::check_mesh(&axes, limit)?;
    Ok(match ranks {
        None => Mesh::new(axes)?,
        Some(ranks) => Mesh::with_ranks(axes, ranks)?,
    })
}

/// Reads `dp=2,tp=4`.
pub(crate) fn axes(text: &str) -> Result<Vec<(String, usize)>, Failure> {
    let axis = |part: &str| {
        let bad = || {
            let part = part.trim();
            Failure::new("mesh", format!("`{part}` is no axis; write NAME=LENGTH, as in dp=2,tp=4"))
        };
        let (name, len) = part.split_once('=').ok_or_else(bad)?;
        let len = len.trim().parse().map_err(|_| bad())?;
        Ok((name.trim().to_owned(), len))
    };
    text.split(',').map(axis).collect()
}

/// Reads `3,1,0,2`.
pub(crate) fn ranks(text: &str) -> Result<Vec<Rank>, Failure> {
    numbers(text, "mesh", "a rank; write rank numbers, as in 3,1,0,2")
}

/// Reads `4096,4096`; an empty text and `scalar` name the shape without dims.
pub(crate) fn shape(text: &str) -> Result<Vec<usize>, Failure> {
    if text.trim().is_empty() || text.trim() == "scalar" {
        return Ok(Vec::new());
    }
    let what = "the length of a dim; write lengths, as in 4096,4096, or `scalar` for no dims";
    numbers(text, "shape", what)
}

fn numbers(text: &str, kind: &'static str, what: &str) -> Result<Vec<usize>, Failure> {
    let number = |part: &str| {
        let part = part.trim();
        part.parse().map_err(|_| Failure::new(kind, format!("`{part}` is not {what}")))
    };
    text.split(',').map(number).collect()
}

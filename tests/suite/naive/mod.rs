//! The naive twin: who holds which elements, by cutting lists of indices. It shares no code with the
//! crate: not its types, not its interval arithmetic, not its parser.
//!
//! A [`Twin`] describes one tensor on one mesh. What it says:
//!
//! - [`Twin::indices`], [`Twin::local_shape`], [`Twin::offset`]: what a coordinate holds.
//! - [`Twin::locals`] makes data for every coordinate and [`Twin::value`] the global tensor that this
//!   data means; [`Twin::assemble`] reads the global tensor out of locals and panics unless replicas
//!   agree bit for bit. So a test moves `source.locals(seed)` to a target and compares
//!   `target.assemble(&moved)` with `source.value(seed)`. Data is small integers: sums are exact.
//!
//! For the crate, [`Twin::axes`] names the axes `a`, `b`, … and [`Twin::notation`] is the layout as
//! text. Locals and coordinates are listed by position, the row-major number of a coordinate.

mod data;
mod text;

/// One tensor on one mesh.
#[derive(Clone, Debug)]
pub(crate) struct Twin {
    /// Lengths of the axes.
    pub(crate) mesh: Vec<usize>,
    /// Lengths of the dims.
    pub(crate) shape: Vec<usize>,
    /// For each dim its cuts, major to minor.
    pub(crate) dims: Vec<Vec<TwinCut>>,
    /// Axes along which coordinates hold terms, and the name of the reduction.
    pub(crate) partial: Vec<(usize, &'static str)>,
}

/// How one axis cuts one dim.
#[derive(Clone, Debug)]
pub(crate) struct TwinCut {
    pub(crate) axis: usize,
    pub(crate) held: bool,
    pub(crate) segments: Option<Vec<usize>>,
    pub(crate) law: Law,
}

/// How a piece becomes blocks.
#[derive(Clone, Debug)]
pub(crate) enum Law {
    /// Equal numbers of whole units.
    Unit(usize),
    /// Lengths of the blocks, a row for each piece.
    Rows(Vec<Vec<usize>>),
}

/// What one axis does, for tensors that are described one axis after another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    R,
    S(usize),
    P(&'static str),
}

impl Twin {
    /// Every coordinate holds all.
    pub(crate) fn replicated(mesh: &[usize], shape: &[usize]) -> Self {
        let dims = vec![Vec::new(); shape.len()];
        Self { mesh: mesh.to_vec(), shape: shape.to_vec(), dims, partial: Vec::new() }
    }

    /// One place an axis; of several axes on one dim the first is the major one.
    pub(crate) fn listed(mesh: &[usize], shape: &[usize], places: &[Place]) -> Self {
        let mut twin = Self::replicated(mesh, shape);
        for (axis, place) in places.iter().enumerate() {
            match *place {
                Place::R => {}
                Place::S(dim) => twin.dims[dim].push(TwinCut::on(axis)),
                Place::P(reduction) => twin.partial.push((axis, reduction)),
            }
        }
        twin
    }

    /// With one more cut of a dim, minor to those there are.
    pub(crate) fn cut(mut self, dim: usize, cut: TwinCut) -> Self {
        self.dims[dim].push(cut);
        self
    }
}

impl TwinCut {
    pub(crate) fn on(axis: usize) -> Self {
        Self { axis, held: true, segments: None, law: Law::Unit(1) }
    }

    pub(crate) fn unit(self, unit: usize) -> Self {
        Self { law: Law::Unit(unit), ..self }
    }

    pub(crate) fn rows(self, rows: &[&[usize]]) -> Self {
        Self { law: Law::Rows(rows.iter().map(|row| row.to_vec()).collect()), ..self }
    }

    pub(crate) fn segments(self, lens: &[usize]) -> Self {
        Self { segments: Some(lens.to_vec()), ..self }
    }

    pub(crate) fn not_held(self) -> Self {
        Self { held: false, ..self }
    }
}

impl Twin {
    /// Every coordinate, the last axis varying fastest.
    pub(crate) fn coordinates(&self) -> Vec<Vec<usize>> {
        rows_of(&self.mesh)
    }

    /// The row-major numbers of the elements that a coordinate holds, in the order of its local tensor.
    pub(crate) fn indices(&self, coordinate: &[usize]) -> Vec<usize> {
        let mut flat = vec![0];
        for (dim, &len) in self.shape.iter().enumerate() {
            let held = self.held(dim, coordinate);
            flat =
                flat.iter().flat_map(|&outer| held.iter().map(move |i| outer * len + i)).collect();
        }
        flat
    }

    pub(crate) fn local_shape(&self, coordinate: &[usize]) -> Vec<usize> {
        (0..self.shape.len()).map(|dim| self.held(dim, coordinate).len()).collect()
    }

    /// The first index held, per dim; the length of the dim where none is.
    pub(crate) fn offset(&self, coordinate: &[usize]) -> Vec<usize> {
        let first = |dim| self.held(dim, coordinate).first().copied();
        self.shape.iter().enumerate().map(|(dim, &len)| first(dim).unwrap_or(len)).collect()
    }

    /// Lengths of the pieces that one more cut of a dim, by these segments, would divide: what its rows
    /// must sum to.
    pub(crate) fn piece_lens(&self, dim: usize, segments: Option<&[usize]>) -> Vec<usize> {
        let pieces = self.pieces(dim, &vec![0; self.mesh.len()]);
        broken(pieces, segments).iter().map(|(_, piece)| piece.len()).collect()
    }

    /// The indices of one dim that a coordinate holds.
    fn held(&self, dim: usize, coordinate: &[usize]) -> Vec<usize> {
        let mine = self.pieces(dim, coordinate).into_iter().filter(|(mine, _)| *mine);
        mine.flat_map(|(_, piece)| piece).collect()
    }

    /// The pieces of one dim after all its cuts, and whether a coordinate holds them.
    fn pieces(&self, dim: usize, coordinate: &[usize]) -> Vec<(bool, Vec<usize>)> {
        let mut pieces = vec![(true, (0..self.shape[dim]).collect())];
        for cut in &self.dims[dim] {
            let mut blocks = Vec::new();
            let parts = broken(pieces, cut.segments.as_deref());
            for (number, (mine, piece)) in parts.into_iter().enumerate() {
                let divided = cut.law.divide(number, &piece, self.mesh[cut.axis]);
                for (index, block) in divided.into_iter().enumerate() {
                    blocks.push((mine && (!cut.held || index == coordinate[cut.axis]), block));
                }
            }
            pieces = blocks;
        }
        pieces
    }
}

/// Breaks pieces where an index belongs to another segment than the one before. A dim still whole
/// becomes one piece a segment, empty ones too.
fn broken(pieces: Vec<(bool, Vec<usize>)>, segments: Option<&[usize]>) -> Vec<(bool, Vec<usize>)> {
    let Some(lens) = segments.filter(|lens| !lens.is_empty()) else { return pieces };
    let segment_of: Vec<usize> =
        lens.iter().enumerate().flat_map(|(segment, &len)| vec![segment; len]).collect();
    let whole = pieces.len() == 1;
    let mut out = Vec::new();
    for (mine, piece) in pieces {
        let before = out.len();
        for segment in 0..lens.len() {
            let part: Vec<usize> =
                piece.iter().copied().filter(|&i| segment_of[i] == segment).collect();
            if whole || !part.is_empty() {
                out.push((mine, part));
            }
        }
        if out.len() == before {
            out.push((mine, piece));
        }
    }
    out
}

impl Law {
    fn divide(&self, number: usize, piece: &[usize], ways: usize) -> Vec<Vec<usize>> {
        match self {
            Law::Unit(unit) => {
                let units: Vec<&[usize]> = piece.chunks(*unit).collect();
                let each = units.len().div_ceil(ways);
                let block = |index| units.iter().skip(index * each).take(each).copied();
                (0..ways).map(|index| block(index).collect::<Vec<_>>().concat()).collect()
            }
            Law::Rows(rows) => {
                let mut rest = piece.iter().copied();
                rows[number].iter().map(|&len| rest.by_ref().take(len).collect()).collect()
            }
        }
    }
}

/// Every list of numbers below `lens`, the last varying fastest.
fn rows_of(lens: &[usize]) -> Vec<Vec<usize>> {
    lens.iter().fold(vec![Vec::new()], |rows, &len| {
        let longer = |row: &Vec<usize>| {
            let row = row.clone();
            (0..len).map(move |i| row.iter().copied().chain([i]).collect()).collect::<Vec<_>>()
        };
        rows.iter().flat_map(longer).collect()
    })
}

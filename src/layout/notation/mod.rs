//! The written forms of placements and layouts: `Display`, and the parsers that agree with it.

mod cursor;
mod cuts;
mod display;
mod error;
mod placements;

use super::{Layout, LayoutError, Placement};
use crate::mesh::Mesh;
use cursor::Cursor;
pub use error::ParseLayoutError;

impl Layout {
    /// Reads a layout of a tensor of `ndim` dims on `mesh`, in any of three forms; blanks are free.
    ///
    /// - One placement an axis, in the mesh's order: `S(0), R`. Of several axes that cut one dim the
    ///   first is the major one.
    /// - Placements by name, in any order: `dp=S(0), tp=P(sum)`. Axes that are not named replicate.
    /// - For each dim the axes that cut it, major to minor, or `-`, then the partial axes:
    ///   `[dp.tp, -] + P(sum: pp)`. A law stands behind its axis, `[tp(unit=64), -]`; an axis that
    ///   cuts but is not held stands in parentheses, `[(dp).tp(seg=8,4,4), -]`. `·` is read as `.`.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Parse`], which shows the place in the text, or what [`Layout::new`] and
    /// [`Layout::from_placements`] return.
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::{Layout, Mesh};
    /// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
    /// let layout = Layout::parse(&mesh, 2, "[dp, -] + P(sum: tp)")?;
    /// assert_eq!(layout, Layout::parse(&mesh, 2, "S(0), P(sum)")?);
    /// assert_eq!(layout, Layout::parse(&mesh, 2, "tp=P, dp=S(-2)")?);
    ///
    /// let error = Layout::parse(&mesh, 2, "[dp, pp]").unwrap_err();
    /// let shown = "the mesh has no axis `pp`; its axes are `dp`, `tp`\n  [dp, pp]\n       ^";
    /// assert_eq!(error.to_string(), shown);
    /// # Ok::<(), reshard::LayoutError>(())
    /// ```
    pub fn parse(mesh: &Mesh, ndim: usize, text: &str) -> Result<Self, LayoutError> {
        let mut cursor = Cursor::new(text);
        if cursor.peek() == Some('[') {
            return cuts::layout(&mut cursor, mesh, ndim);
        }
        let list = if is_named(text) { named(&mut cursor, mesh)? } else { cursor.placements()? };
        Self::from_placements(mesh, ndim, &list)
    }
}

fn is_named(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.name().is_some() && cursor.eat('=')
}

/// `dp=S(0), tp=R`
fn named(cursor: &mut Cursor<'_>, mesh: &Mesh) -> Result<Vec<Placement>, ParseLayoutError> {
    let mut list = vec![None; mesh.axes().len()];
    loop {
        let start = cursor.start();
        let axis = cursor.axis(mesh)?;
        if list[axis.index()].is_some() {
            let message = format!("axis `{}` has two placements", mesh.name(axis));
            return Err(cursor.error_at(start, message));
        }
        cursor.expect('=', "`=`")?;
        list[axis.index()] = Some(cursor.placement()?);
        if !cursor.eat(',') {
            break;
        }
    }
    cursor.expect_end("`,`")?;
    Ok(list.into_iter().map(|placement| placement.unwrap_or(Placement::Replicate)).collect())
}

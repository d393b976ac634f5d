//! Reads `[dp.tp, -] + P(sum: pp)`: for each dim the axes that cut it, then the partial axes.

use super::{Cursor, ParseLayoutError};
use crate::base::Reduction;
use crate::layout::{Cut, CutRule, Layout, LayoutError};
use crate::mesh::{Axis, Mesh};

/// Reads a layout up to the end of the text.
pub(super) fn layout(
    cursor: &mut Cursor<'_>,
    mesh: &Mesh,
    ndim: usize,
) -> Result<Layout, LayoutError> {
    let dims = dims(cursor, mesh, ndim)?;
    let mut partial = Vec::new();
    while cursor.eat('+') {
        partial.extend(partial_axes(cursor, mesh)?);
    }
    cursor.expect_end("`+`")?;
    Layout::new(mesh, dims, partial)
}

/// `[dp.tp, -]`
fn dims(
    cursor: &mut Cursor<'_>,
    mesh: &Mesh,
    ndim: usize,
) -> Result<Vec<Vec<Cut>>, ParseLayoutError> {
    let start = cursor.start();
    cursor.expect('[', "`[`")?;
    let mut dims = Vec::new();
    if !cursor.eat(']') {
        dims.push(cuts(cursor, mesh)?);
        while cursor.eat(',') {
            dims.push(cuts(cursor, mesh)?);
        }
        cursor.expect(']', "`.`, `,` or `]`")?;
    }
    if dims.len() != ndim {
        let message = format!("{} dims are given for a tensor of {ndim}", dims.len());
        return Err(cursor.error_at(start, message));
    }
    Ok(dims)
}

/// `-` or `dp.tp`
fn cuts(cursor: &mut Cursor<'_>, mesh: &Mesh) -> Result<Vec<Cut>, ParseLayoutError> {
    if cursor.eat('-') {
        return Ok(Vec::new());
    }
    let mut cuts = vec![cut(cursor, mesh)?];
    while cursor.eat('.') || cursor.eat('·') {
        cuts.push(cut(cursor, mesh)?);
    }
    Ok(cuts)
}

/// `tp`, `tp(unit=64)`, `(tp)` or `(tp(unit=64))`
fn cut(cursor: &mut Cursor<'_>, mesh: &Mesh) -> Result<Cut, ParseLayoutError> {
    if cursor.eat('(') {
        let cut = held_cut(cursor, mesh)?;
        cursor.expect(')', "`)`")?;
        return Ok(cut.not_held());
    }
    held_cut(cursor, mesh)
}

fn held_cut(cursor: &mut Cursor<'_>, mesh: &Mesh) -> Result<Cut, ParseLayoutError> {
    let axis = cursor.axis(mesh)?;
    if !cursor.eat('(') {
        return Ok(CutRule::chunk().by(axis));
    }
    let rule = cursor.rule()?;
    cursor.expect(')', "`;` or `)`")?;
    Ok(rule.by(axis))
}

/// `P(sum: a, b)`
fn partial_axes(
    cursor: &mut Cursor<'_>,
    mesh: &Mesh,
) -> Result<Vec<(Axis, Reduction)>, ParseLayoutError> {
    let start = cursor.start();
    if cursor.name() != Some("P") {
        return Err(cursor.expected_at(start, "`P(reduction: axes)`"));
    }
    cursor.expect('(', "`(` and a reduction")?;
    let reduction = cursor.reduction()?;
    cursor.expect(':', "`:` and the names of axes")?;
    let mut axes = vec![(cursor.axis(mesh)?, reduction)];
    while cursor.eat(',') {
        axes.push((cursor.axis(mesh)?, reduction));
    }
    cursor.expect(')', "`,` or `)`")?;
    Ok(axes)
}

//! Which layouts a product over named dims takes, and which it gives.

use crate::layout::Layout;

use super::OpError;
use super::pair::{Law, Pair};
use super::role::{Label, Operand};

/// The labels of two operands and of what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Labels {
    pub left: Vec<Label>,
    pub right: Vec<Label>,
    pub output: Vec<Label>,
}

/// The layout that a product of two tensors has, with dims named by letters: `bsk,nk->bsn` multiplies
/// elements whose letters agree and sums over `k`, which the result lacks.
///
/// Along each axis:
///
/// - both operands replicate: so does the result;
/// - a letter of the result is cut, alike in both operands if both have it: the result is cut so;
/// - a letter that the result lacks is cut, alike in both operands if both have it: the result is
///   partial by sum;
/// - one operand is partial by sum or avg and the other replicates: the result is partial likewise.
///
/// Two partial operands, other reductions, and one axis that cuts two letters are errors. "Alike" means
/// by the same axes in the same order, with the same laws and holes. Axes of length 1 never matter.
///
/// # Errors
///
/// [`OpError`], which says which redistribution is missing.
///
/// # Example
///
/// ```
/// use reshard::{Layout, Mesh, ops};
/// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
/// let queries = Layout::parse(&mesh, 4, "[dp, tp, -, -]")?;
/// let keys = Layout::parse(&mesh, 4, "[dp, tp, -, -]")?;
/// assert_eq!(ops::einsum_layout("bhqd, bhkd -> bhqk", &queries, &keys)?.to_string(), "[dp, tp, -, -]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn einsum_layout(text: &str, left: &Layout, right: &Layout) -> Result<Layout, OpError> {
    let labels = Labels::parse(text)?;
    labels.pair("einsum", [("left operand", left), ("right operand", right)]).layout()
}

impl Labels {
    fn parse(text: &str) -> Result<Self, OpError> {
        let wrong =
            |reason: &str| OpError::Letters { text: text.to_owned(), reason: reason.to_owned() };
        let (operands, output) = text.split_once("->").ok_or_else(|| wrong("has no `->`"))?;
        let (left, right) = operands.split_once(',').ok_or_else(|| wrong("has no `,`"))?;
        let labels = |part: &str| {
            let letters: Vec<char> = part.chars().filter(|c| !c.is_whitespace()).collect();
            if let Some(other) = letters.iter().find(|c| !c.is_alphabetic()) {
                return Err(wrong(&format!("has `{other}` where a letter should be")));
            }
            let repeated = (1..letters.len()).find(|&at| letters[..at].contains(&letters[at]));
            match repeated {
                Some(at) => {
                    Err(wrong(&format!("has `{}` twice in `{}`", letters[at], part.trim())))
                }
                None => Ok(letters.into_iter().map(Label::from).collect::<Vec<_>>()),
            }
        };
        let labels = Self { left: labels(left)?, right: labels(right)?, output: labels(output)? };
        let known = |label: &Label| labels.left.contains(label) || labels.right.contains(label);
        match labels.output.iter().find(|label| !known(label)).and_then(|&new| char::from_u32(new))
        {
            Some(new) => Err(wrong(&format!("has `{new}` in the result only"))),
            None => Ok(labels),
        }
    }

    /// Of `x` [.., m, k] and `w` [k, n].
    pub(super) fn matmul(x_ndim: usize) -> Self {
        let (rows, contracted, columns) = Self::of_matrix(x_ndim);
        let output = rows.iter().copied().chain([columns]).collect();
        let left = rows.into_iter().chain([contracted]).collect();
        Self { left, right: vec![contracted, columns], output }
    }

    /// Of `x` [.., m, k] and `w` [n, k].
    pub(super) fn linear(x_ndim: usize) -> Self {
        let mut labels = Self::matmul(x_ndim);
        labels.right.reverse();
        labels
    }

    /// Of two tensors of one shape, element by element.
    pub(super) fn elementwise(ndim: usize) -> Self {
        let all: Vec<Label> = (0..).take(ndim).collect();
        Self { left: all.clone(), right: all.clone(), output: all }
    }

    fn of_matrix(x_ndim: usize) -> (Vec<Label>, Label, Label) {
        let rows: Vec<Label> = (2..).take(x_ndim.saturating_sub(1)).collect();
        (rows, 0, 1)
    }

    pub(super) fn pair<'a>(
        &'a self,
        operation: &'static str,
        [left, right]: [(&'static str, &'a Layout); 2],
    ) -> Pair<'a> {
        let operand = |(name, layout), labels| Operand { name, layout, labels };
        Pair {
            operation,
            law: Law::Product,
            left: operand(left, &self.left),
            right: operand(right, &self.right),
            output: &self.output,
        }
    }
}

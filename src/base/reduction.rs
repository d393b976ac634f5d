//! How the terms of a partial tensor combine into its value.

use std::fmt;
use std::str::FromStr;

use super::DType;

/// How terms held by different ranks combine into one value.
///
/// Integers wrap on overflow; `Min` and `Max` give NaN if any term is NaN; on truth values `Min` is
/// "and" and `Max` is "or".
///
/// # Example
///
/// ```
/// use reshard::{DType, Reduction};
/// assert_eq!("avg".parse::<Reduction>(), Ok(Reduction::Avg));
/// assert!(Reduction::Avg.supports(DType::Bf16));
/// assert!(!Reduction::Avg.supports(DType::I32));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reduction {
    /// The sum of the terms.
    Sum,
    /// The product of the terms.
    Product,
    /// The least term.
    Min,
    /// The greatest term.
    Max,
    /// The sum of the terms divided by their number; floats only.
    Avg,
}

impl Reduction {
    /// Every reduction, in the order of declaration.
    pub const ALL: [Reduction; 5] =
        [Reduction::Sum, Reduction::Product, Reduction::Min, Reduction::Max, Reduction::Avg];

    /// The name that `Display` prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Product => "product",
            Reduction::Min => "min",
            Reduction::Max => "max",
            Reduction::Avg => "avg",
        }
    }

    /// Whether terms of this element type can be reduced so.
    #[must_use]
    pub const fn supports(self, dtype: DType) -> bool {
        match self {
            Reduction::Sum | Reduction::Product => !matches!(dtype, DType::Bool),
            Reduction::Min | Reduction::Max => true,
            Reduction::Avg => dtype.is_float(),
        }
    }

    /// Whether terms may be summed: `Sum` and `Avg`, which differ by a factor only and may mix.
    #[must_use]
    pub const fn is_linear(self) -> bool {
        matches!(self, Reduction::Sum | Reduction::Avg)
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no reduction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no reduction; there are sum, product, min, max and avg")]
pub struct ParseReductionError(pub String);

impl FromStr for Reduction {
    type Err = ParseReductionError;

    fn from_str(text: &str) -> Result<Self, ParseReductionError> {
        let found = Reduction::ALL.into_iter().find(|reduction| reduction.name() == text.trim());
        found.ok_or_else(|| ParseReductionError(text.to_owned()))
    }
}

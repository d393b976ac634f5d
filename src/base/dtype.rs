//! The element types a tensor can have at run time.

use std::fmt;
use std::str::FromStr;

/// The type of a tensor's elements, known at run time.
///
/// `Display` and `FromStr` agree on the names that safetensors users know, in lower case.
///
/// # Example
///
/// ```
/// use reshard::DType;
/// assert_eq!("bf16".parse::<DType>(), Ok(DType::Bf16));
/// assert_eq!(DType::Bf16.to_string(), "bf16");
/// assert_eq!(DType::Bf16.bytes(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// 32-bit IEEE 754 float.
    F32,
    /// 64-bit IEEE 754 float.
    F64,
    /// 16-bit IEEE 754 float.
    F16,
    /// 16-bit float with the exponent range of `F32`.
    Bf16,
    /// 8-bit signed integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit signed integer.
    I64,
    /// 64-bit unsigned integer.
    U64,
    /// A truth value, one byte that is 0 or 1.
    Bool,
}

impl DType {
    /// Every element type, in the order of declaration.
    pub const ALL: [DType; 11] = [
        DType::F32,
        DType::F64,
        DType::F16,
        DType::Bf16,
        DType::I8,
        DType::U8,
        DType::I32,
        DType::U32,
        DType::I64,
        DType::U64,
        DType::Bool,
    ];

    /// Bytes of one element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            DType::F64 | DType::I64 | DType::U64 => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::Bf16 => 2,
            DType::I8 | DType::U8 | DType::Bool => 1,
        }
    }

    /// Whether values are floats, which can be averaged.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F64 | DType::F16 | DType::Bf16)
    }

    /// The name that `Display` prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::I8 => "i8",
            DType::U8 => "u8",
            DType::I32 => "i32",
            DType::U32 => "u32",
            DType::I64 => "i64",
            DType::U64 => "u64",
            DType::Bool => "bool",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no element type; there are f32, f64, f16, bf16, i8, u8, i32, u32, i64, u64 and bool"
)]
pub struct ParseDTypeError(pub String);

impl FromStr for DType {
    type Err = ParseDTypeError;

    fn from_str(text: &str) -> Result<Self, ParseDTypeError> {
        let found = DType::ALL.into_iter().find(|dtype| dtype.name() == text.trim());
        found.ok_or_else(|| ParseDTypeError(text.to_owned()))
    }
}

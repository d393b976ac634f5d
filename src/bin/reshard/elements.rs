//! Elements as JSON values, without a detour by which one could change.

use half::{bf16, f16};
use reshard::Element;
use serde_json::Value;

/// An element type with its JSON form: whole numbers for integers, numbers or `"NaN"`, `"inf"`, `"-inf"`
/// for floats, `true` and `false`, or 1 and 0, for truth values.
pub(crate) trait JsonElement: Element {
    /// What a list of such elements has to contain, for messages.
    const FORM: &'static str;

    /// The element, if the value is one.
    fn read(value: &Value) -> Option<Self>;

    fn write(self) -> Value;
}

macro_rules! integer {
    ($($rust:ty, $read:ident);*) => {$(
        impl JsonElement for $rust {
            const FORM: &'static str =
                concat!("a whole number that ", stringify!($rust), " can hold");

            fn read(value: &Value) -> Option<Self> {
                value.$read()?.try_into().ok()
            }

            fn write(self) -> Value {
                self.into()
            }
        }
    )*};
}

integer!(i8, as_i64; u8, as_u64; i32, as_i64; u32, as_u64; i64, as_i64; u64, as_u64);

macro_rules! float {
    ($($rust:ty),*) => {$(
        impl JsonElement for $rust {
            const FORM: &'static str = concat!(
                "a number that ", stringify!($rust), " can hold, \"NaN\", \"inf\" or \"-inf\""
            );

            /// The nearest float; a number beyond the range is none.
            fn read(value: &Value) -> Option<Self> {
                if let Some(text) = value.as_str() {
                    return special(text).map(Element::from_f64);
                }
                let element: Self = Element::from_f64(value.as_f64()?);
                Element::to_f64(element).is_finite().then_some(element)
            }

            fn write(self) -> Value {
                match Element::to_f64(self) {
                    value if value.is_nan() => "NaN".into(),
                    f64::INFINITY => "inf".into(),
                    f64::NEG_INFINITY => "-inf".into(),
                    value => value.into(),
                }
            }
        }
    )*};
}

float!(f32, f64, f16, bf16);

impl JsonElement for bool {
    const FORM: &'static str = "true, false, 1 or 0";

    fn read(value: &Value) -> Option<Self> {
        match (value.as_bool(), value.as_u64()) {
            (Some(truth), _) => Some(truth),
            (None, Some(1)) => Some(true),
            (None, Some(0)) => Some(false),
            (None, _) => None,
        }
    }

    fn write(self) -> Value {
        self.into()
    }
}

fn special(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

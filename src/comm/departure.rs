//! How a rank ends.

use std::fmt;
use std::sync::Arc;

/// How a rank's closure ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It returned. Peers that need it later are told.
    Returned,
    /// It returned an error, which ends the calls of all ranks.
    Failed {
        /// The error, for messages.
        cause: Arc<str>,
    },
    /// It panicked, which ends the calls of all ranks.
    Panicked {
        /// The panic's message.
        cause: Arc<str>,
    },
}

impl Departure {
    /// The departure of a rank whose closure returned this error.
    #[must_use]
    pub fn failed(cause: impl fmt::Display) -> Self {
        Self::Failed { cause: cause.to_string().into() }
    }

    /// The departure of a rank whose closure panicked with this payload.
    #[must_use]
    pub fn panicked(payload: &(dyn std::any::Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::Panicked { cause: text.unwrap_or("a payload that is no text").into() }
    }
}

/// "returned", "failed: …", "panicked: …".
impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Departure::Returned => f.write_str("returned"),
            Departure::Failed { cause } => write!(f, "failed: {cause}"),
            Departure::Panicked { cause } => write!(f, "panicked: {cause}"),
        }
    }
}

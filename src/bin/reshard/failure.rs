//! Why a command or a line cannot be carried out.

use reshard::layout::LayoutError;
use reshard::plan::PlanError;
use reshard::{Error, MeshError};
use serde_json::{Value, json};

/// Why a command or a line cannot be carried out.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: &'static str,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// `{"error": {"kind": ..., "message": ...}}`
    pub(crate) fn json(&self) -> Value {
        json!({ "error": { "kind": self.kind, "message": self.message } })
    }

    /// The failure of a named argument or field.
    pub(crate) fn of(self, name: &str) -> Self {
        Self { message: format!("{name}: {}", self.message), ..self }
    }
}

impl From<MeshError> for Failure {
    fn from(error: MeshError) -> Self {
        Self::new("mesh", error.to_string())
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Self::new(layout_kind(&error), error.to_string())
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let kind = match &error {
            PlanError::Layout { error, .. } => layout_kind(error),
            _ => "plan",
        };
        Self::new(kind, error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Layout(error) => error.into(),
            Error::Mesh(error) => error.into(),
            Error::Plan(error) => error.into(),
            Error::UnknownRank { .. } => Self::new("mesh", error.to_string()),
            Error::Data(_) => Self::new("data", error.to_string()),
            Error::Comm(_) => Self::new("comm", error.to_string()),
            Error::Launch(_) => Self::new("launch", error.to_string()),
            _ => Self::new("engine", error.to_string()),
        }
    }
}

fn layout_kind(error: &LayoutError) -> &'static str {
    match error {
        LayoutError::Parse(_) => "notation",
        LayoutError::Mesh(_) => "mesh",
        _ => "layout",
    }
}

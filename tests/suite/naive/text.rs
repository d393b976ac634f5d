//! A twin's layout as the crate's text.

use super::{Law, Twin, TwinCut};

/// Names of the axes by number.
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl Twin {
    /// Names and lengths of the axes, for a mesh.
    pub(crate) fn axes(&self) -> Vec<(&'static str, usize)> {
        NAMES.into_iter().zip(self.mesh.iter().copied()).collect()
    }

    /// The layout: `[a.b(unit=2), -] + P(sum: c)`.
    pub(crate) fn notation(&self) -> String {
        let dims = self.dims.iter().map(|cuts| match &cuts[..] {
            [] => "-".to_owned(),
            cuts => cuts.iter().map(TwinCut::text).collect::<Vec<_>>().join("."),
        });
        let mut text = format!("[{}]", dims.collect::<Vec<_>>().join(", "));
        for &(axis, reduction) in &self.partial {
            text += &format!(" + P({reduction}: {})", NAMES[axis]);
        }
        text
    }
}

impl TwinCut {
    fn text(&self) -> String {
        let mut law = match &self.law {
            Law::Unit(unit) => format!("unit={unit}"),
            Law::Rows(rows) => {
                let rows: Vec<String> = rows.iter().map(|row| listed(row)).collect();
                format!("sizes={}", rows.join("/"))
            }
        };
        if let Some(lens) = &self.segments {
            law += &format!("; seg={}", listed(lens));
        }
        let name = NAMES[self.axis];
        if self.held { format!("{name}({law})") } else { format!("({name}({law}))") }
    }
}

fn listed(lens: &[usize]) -> String {
    lens.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

//! Writes placements and layouts in the form that is read back to an equal value.

use std::fmt::{self, Display, Formatter};

use crate::base::Reduction;
use crate::layout::{Cut, Layout, Placement, Placements, Rule};

impl Display for Placement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Replicate => f.write_str("R"),
            Placement::Partial(reduction) => write!(f, "P({reduction})"),
            Placement::Shard(dim) => write!(f, "S({dim})"),
            Placement::Cut(dim, rule) => {
                write!(f, "S({dim}")?;
                for part in law(rule.segment_lens(), rule.rule()) {
                    write!(f, "; {part}")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl Display for Placements {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(self.iter(), ", "))
    }
}

/// `[dp.tp, -] + P(sum: pp)`, which [`Layout::parse`] reads back to an equal layout; axes of length 1
/// are shown as they were given.
impl Display for Layout {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let dims = (0..self.ndim()).map(|dim| match self.cuts(dim) {
            [] => "-".to_owned(),
            cuts => joined(cuts.iter().map(|cut| self.written(cut)), "."),
        });
        write!(f, "[{}]", joined(dims, ", "))?;
        for reduction in Reduction::ALL {
            let axes = self.partial().iter().filter(|&&(_, own)| own == reduction);
            let names: Vec<&str> = axes.map(|&(axis, _)| self.mesh().name(axis)).collect();
            if !names.is_empty() {
                write!(f, " + P({reduction}: {})", names.join(", "))?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Layout({self} on {})", self.mesh())
    }
}

impl Layout {
    fn written(&self, cut: &Cut) -> String {
        let mut text = self.mesh().name(cut.axis()).to_owned();
        let law = law(cut.segment_lens(), cut.rule());
        if !law.is_empty() {
            text = format!("{text}({})", law.join("; "));
        }
        if cut.is_held() { text } else { format!("({text})") }
    }
}

/// The parts of a law that differ from the chunk law.
fn law(segments: Option<&[usize]>, rule: &Rule) -> Vec<String> {
    let segments = segments.map(|lens| format!("seg={}", joined(lens, ",")));
    let rule = match rule {
        Rule::Unit(1) => None,
        Rule::Unit(unit) => Some(format!("unit={unit}")),
        Rule::Sizes(rows) => {
            let rows = rows.iter().map(|row| joined(row.iter(), ","));
            Some(format!("sizes={}", joined(rows, "/")))
        }
    };
    segments.into_iter().chain(rule).collect()
}

fn joined<T: Display>(parts: impl IntoIterator<Item = T>, between: &str) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join(between)
}

//! A plan as text: what each step does, what it costs, and how near that is to the least possible.

use std::fmt::{self, Display, Formatter};

use super::{Plan, Step};

/// The transition, a line for each step, then the totals. Bytes and messages of a step are those of the
/// rank that has most in that step.
impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.transition())?;
        if self.steps().is_empty() {
            return write!(f, "nothing to do: every rank holds its part of the target already");
        }
        writeln!(f)?;
        for line in aligned(&table(self.steps())) {
            writeln!(f, "{line}")?;
        }
        writeln!(f)?;
        let (sent, received) = self.busiest_rank_bytes();
        writeln!(f, "busiest rank  sends {}, receives {}", exact(sent), exact(received))?;
        writeln!(f, "lower bound   {}", bound(self))?;
        writeln!(f, "launches      {}", self.launches())?;
        let peak = self.peak_bytes().into_iter().max().unwrap_or(0);
        write!(f, "peak          {} of tensors at once on the fullest rank", exact(peak))
    }
}

/// One line: what the step does, along which axes, from which layout to which, and what it costs the
/// rank that has most.
impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        if self.kind().is_local() {
            return write!(f, ": {} -> {}, nothing is sent", self.source(), self.target());
        }
        write!(f, " ({})", self.algorithm())?;
        match &self.axis_names().collect::<Vec<_>>()[..] {
            [] => write!(f, " among {} ranks", self.group_len())?,
            names => write!(f, " along {} of {} ranks", names.join(", "), self.group_len())?,
        }
        write!(f, ": {} -> {}", self.source(), self.target())?;
        let (sent, received) = self.busiest_bytes();
        let messages = self.busiest_messages();
        let plural = if messages == 1 { "" } else { "s" };
        write!(f, ", busiest rank sends {} and receives {}", human(sent), human(received))?;
        write!(f, ", {messages} message{plural}")
    }
}

const HEADER: [&str; 9] =
    ["step", "does", "by", "along", "ranks", "layout", "sent", "received", "messages"];

fn table(steps: &[Step]) -> Vec<[String; HEADER.len()]> {
    let rows = steps.iter().enumerate().map(|(index, step)| {
        let names = step.axis_names().collect::<Vec<_>>().join(", ");
        let (sent, received) = step.busiest_bytes();
        [
            (index + 1).to_string(),
            step.kind().to_string(),
            step.algorithm().to_string(),
            if names.is_empty() { "-".to_owned() } else { names },
            step.group_len().to_string(),
            format!("{} -> {}", step.source(), step.target()),
            human(sent),
            human(received),
            step.busiest_messages().to_string(),
        ]
    });
    std::iter::once(HEADER.map(str::to_owned)).chain(rows).collect()
}

/// Every row as a line, its cells padded to the width of their column.
fn aligned(rows: &[[String; HEADER.len()]]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..HEADER.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; HEADER.len()]| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn bound(plan: &Plan) -> String {
    let bytes = exact(plan.bound_bytes());
    match plan.ratio() {
        None => "no bound: it is not known how little could be moved".to_owned(),
        Some(1.0) => format!("{bytes}, ratio 1.000: no plan moves less"),
        Some(ratio) => {
            // What prints as 1.000 is proven least.
            let ratio = ratio.max(1.001);
            format!("{bytes}, ratio {ratio:.3}: no plan moves less than the bound")
        }
    }
}

/// Bytes in the largest unit that leaves at least 1, rounded to hundredths.
fn human(bytes: usize) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let power = (bytes.ilog2() / 10) as usize;
    let value = format!("{:.2}", bytes as f64 / (1u64 << (10 * power)) as f64);
    let value = value.trim_end_matches('0').trim_end_matches('.');
    format!("{value} {}", UNITS[power - 1])
}

/// [`human`], with the exact number where a unit hides it.
fn exact(bytes: usize) -> String {
    let short = human(bytes);
    if bytes < 1024 { short } else { format!("{short} ({bytes} bytes)") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests {
    use super::*;
    use crate::base::DType;
    use crate::layout::Layout;
    use crate::mesh::Mesh;
    use crate::plan::{PlanOptions, Transition, plan};

    fn planned(from: &str, to: &str, shape: &[usize]) -> Plan {
        let mesh = Mesh::new([("dp", 2), ("tp", 4)]).unwrap();
        let layout = |text| Layout::parse(&mesh, shape.len(), text).unwrap();
        let transition = Transition::new(layout(from), layout(to), shape, DType::Bf16).unwrap();
        plan(&transition, &PlanOptions::default()).unwrap()
    }

    #[test]
    fn a_plan_lists_its_steps_and_totals() {
        let text = planned("P(sum), S(0)", "S(1), R", &[64, 4096]).to_string();
        let expected = "\
[tp, -] + P(sum: dp) -> [-, dp] of bf16 [64, 4096] on dp=2, tp=4

step  does            by        along  ranks  layout                            sent     received  messages
1     reduce_scatter  pairwise  dp     2      [tp, -] + P(sum: dp) -> [tp, dp]  64 KiB   64 KiB    1
2     all_gather      ring      tp     4      [tp, dp] -> [-, dp]               192 KiB  192 KiB   3

busiest rank  sends 256 KiB (262144 bytes), receives 256 KiB (262144 bytes)
lower bound   256 KiB (262144 bytes), ratio 1.000: no plan moves less
launches      2
peak          448 KiB (458752 bytes) of tensors at once on the fullest rank";
        assert_eq!(text, expected, "\n{text}");
    }

    #[test]
    fn local_steps_send_nothing() {
        let plan = planned("R, R", "S(0), P(sum)", &[8]);
        let text = plan.to_string();
        assert!(text.contains("busiest rank  sends 0 B, receives 0 B\n"), "{text}");
        assert!(text.contains("lower bound   0 B, ratio 1.000: no plan moves less\n"), "{text}");
        let lines: Vec<String> = plan.steps().iter().map(Step::to_string).collect();
        assert_eq!(
            lines,
            [
                "slice: [-] -> [dp], nothing is sent",
                "seed: [dp] -> [dp] + P(sum: tp), nothing is sent"
            ]
        );
    }

    #[test]
    fn a_plan_without_steps_has_nothing_to_do() {
        let text = planned("S(0), R", "S(0), R", &[8]).to_string();
        let expected = "[dp] -> [dp] of bf16 [8] on dp=2, tp=4\n\
                        nothing to do: every rank holds its part of the target already";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_step_is_one_line() {
        let plan = planned("R, S(0)", "R, R", &[16]);
        let expected = "all_gather (ring) along tp of 4 ranks: [tp] -> [-], busiest rank sends 24 B and \
                        receives 24 B, 3 messages";
        assert_eq!(plan.steps()[0].to_string(), expected);
    }

    #[test]
    fn a_step_between_meshes_counts_ranks() {
        let (from, to) =
            (Mesh::new([("a", 1)]).unwrap(), Mesh::with_ranks([("b", 1)], [1]).unwrap());
        let (from, to) = (Layout::replicated(&from, 1), Layout::replicated(&to, 1));
        let transition = Transition::new(from, to, [2], DType::U8).unwrap();
        let plan = plan(&transition, &PlanOptions::default()).unwrap();
        let expected = "send_recv (direct) among 2 ranks: [-] -> [-], busiest rank sends 2 B and receives \
                        0 B, 1 message";
        assert_eq!(plan.steps()[0].to_string(), expected);
    }

    #[test]
    fn bytes_are_rounded_and_exact() {
        let table = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB (1024 bytes)"),
            (1536, "1.5 KiB (1536 bytes)"),
            (10_923, "10.67 KiB (10923 bytes)"),
            (33_554_432, "32 MiB (33554432 bytes)"),
            (usize::MAX, "16 EiB (18446744073709551615 bytes)"),
        ];
        for (bytes, expected) in table {
            assert_eq!(exact(bytes), expected);
        }
    }
}

//! One panel of the plot: time against size, both axes logarithmic.

use std::fmt::Write;

use crate::rows::Summary;
use crate::table;

/// Where a panel is on the page, and what its axes span.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Bytes that get a mark on the axis, from the least to the most.
    pub(crate) sizes: Vec<usize>,
    /// Powers of ten in microseconds at the bottom and at the top.
    pub(crate) decades: [i32; 2],
}

/// A line of the plot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    /// The name of its rows.
    pub(crate) by: &'static str,
    pub(crate) label: &'static str,
    /// Its class in the page's style.
    pub(crate) class: &'static str,
}

impl Panel {
    fn x(&self, bytes: usize) -> f64 {
        let log = |bytes: usize| (bytes as f64).log2();
        let (first, last) = (log(self.sizes[0]), log(self.sizes[self.sizes.len() - 1]));
        let inset = 14.0;
        self.left + inset + (log(bytes) - first) / (last - first) * (self.width - 2.0 * inset)
    }

    fn y(&self, us: f64) -> f64 {
        let [low, high] = self.decades.map(f64::from);
        self.top + self.height * (high - us.log10()) / (high - low)
    }

    /// Frame, title and the axes' marks.
    pub(crate) fn frame(&self, title: &str, page: &mut String) {
        let Self { left, top, width, height, .. } = *self;
        let (right, bottom) = (left + width, top + height);
        writeln!(page, r#"  <text class="title" x="{left}" y="{:.1}">{title}</text>"#, top - 10.0)
            .unwrap();
        for decade in self.decades[0]..=self.decades[1] {
            let y = self.y(10f64.powi(decade));
            writeln!(page, r#"  <path class="mesh" d="M{left} {y:.1}H{right}"/>"#).unwrap();
            let label = decade_label(decade);
            let (x, y) = (left - 8.0, y + 4.0);
            writeln!(
                page,
                r#"  <text class="mark" x="{x}" y="{y:.1}" text-anchor="end">{label}</text>"#
            )
            .unwrap();
        }
        for &bytes in &self.sizes {
            let (x, label) = (self.x(bytes), table::size(bytes));
            writeln!(page, r#"  <path class="mesh" d="M{x:.1} {bottom}v5"/>"#).unwrap();
            let y = bottom + 19.0;
            writeln!(
                page,
                r#"  <text class="mark" x="{x:.1}" y="{y}" text-anchor="middle">{label}</text>"#
            )
            .unwrap();
        }
    }

    /// A line through medians; bars reach from the 10th to the 90th percentile.
    pub(crate) fn line(&self, series: Series, points: &[(usize, Summary)], page: &mut String) {
        let class = series.class;
        let at = |&(bytes, of): &(usize, Summary)| (self.x(bytes), self.y(of.median));
        let path: Vec<String> =
            points.iter().map(at).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        for (bytes, of) in points {
            let (x, from, to) = (self.x(*bytes), self.y(of.p10), self.y(of.p90));
            writeln!(page, r#"  <path class="bar {class}" d="M{x:.1} {from:.1}V{to:.1}"/>"#)
                .unwrap();
        }
        writeln!(page, r#"  <path class="line {class}" d="M{}"/>"#, path.join("L")).unwrap();
        for (x, y) in points.iter().map(at) {
            mark(class, (x, y), page);
        }
    }
}

/// A point of a line.
pub(crate) fn mark(class: &str, (x, y): (f64, f64), page: &mut String) {
    writeln!(page, r#"  <circle class="dot {class}" cx="{x:.1}" cy="{y:.1}" r="3.6"/>"#).unwrap();
}

fn decade_label(decade: i32) -> String {
    let (power, unit) = match decade {
        ..0 => (decade + 3, "ns"),
        0..3 => (decade, "µs"),
        3..6 => (decade - 3, "ms"),
        _ => (decade - 6, "s"),
    };
    format!("{} {unit}", 10f64.powi(power))
}

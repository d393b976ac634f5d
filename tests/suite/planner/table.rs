//! No plan is worse than one known to be reachable.

use reshard::Layout;
use toml::{Table, Value};

use super::{kinds, mesh, planned};

/// Compared as the table's header says: its figures are rounded.
fn is_above(found: f64, known: f64) -> bool {
    found - known > (0.0005 * found.max(known)).max(0.00006)
}

#[test]
fn no_plan_is_worse_than_the_best_known() {
    let table: Table = include_str!("../../data/planner-table.toml").parse().unwrap();
    let rows = table["row"].as_array().unwrap();
    assert_eq!(rows.len(), 68);
    let worse: Vec<String> =
        rows.iter().filter_map(|row| compared(row.as_table().unwrap())).collect();
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// What is wrong with the plan of a row, if anything.
fn compared(row: &Table) -> Option<String> {
    let int = |value: &Value| usize::try_from(value.as_integer().unwrap()).unwrap();
    let float =
        |key: &str| row[key].as_float().or(row[key].as_integer().map(|i| i as f64)).unwrap();
    let text = |key: &str| row[key].as_str().unwrap();
    let mesh = mesh(&row["mesh"].as_array().unwrap().iter().map(int).collect::<Vec<_>>());
    let ndim = int(&row["ndim"]);
    let layout = |key| Layout::parse(&mesh, ndim, text(key)).unwrap();
    let shape = vec![if ndim == 2 { 512 } else { 64 }; ndim];
    let plan = planned(&layout("from"), &layout("to"), &shape);
    let whole = 4.0 * shape.iter().product::<usize>() as f64;
    let (bytes, bound) = (plan.busiest_bytes() as f64 / whole, plan.bound_bytes() as f64 / whole);
    let worse = is_above(bytes, float("best"))
        || plan.launches() > int(&row["best_launches"])
        || is_above(bound, bytes)
        || is_above(float("bound"), bound);
    worse.then(|| {
        let (transition, kinds) = (plan.transition(), kinds(&plan));
        format!("{transition}: {bytes} of bound {bound} by {kinds:?}, not {row:?}")
    })
}

//! Results observed in PyTorch DTensor: layouts and redistributions of `data/golden-dev.json.gz`.

use std::io::Read;

use reshard::{DType, Layout, Mesh, World};
use serde_json::Value;

/// The file, whole.
fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden-dev.json.gz");
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("the golden file is in the repository");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("it is gzip");
    serde_json::from_str(&text).expect("it is JSON")
}

fn lens(value: &Value) -> Vec<usize> {
    let all = value.as_array().expect("a list of lengths");
    all.iter().map(|len| usize::try_from(len.as_u64().unwrap()).unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list of numbers").iter().map(|n| n.as_f64().unwrap()).collect()
}

/// `["S0", "Psum"]` as `S(0), P(sum)`.
fn placements(value: &Value) -> String {
    let place = |text: &Value| match text.as_str().expect("a placement").split_at(1) {
        ("S", dim) => format!("S({dim})"),
        ("P", reduction) => format!("P({reduction})"),
        (other, _) => other.to_owned(),
    };
    let all = value.as_array().expect("a placement list");
    all.iter().map(place).collect::<Vec<_>>().join(", ")
}

fn mesh(value: &Value) -> Mesh {
    let names = ["a", "b", "c"].into_iter();
    Mesh::new(names.zip(lens(value))).expect("a mesh of the file")
}

/// One case, read.
struct Case {
    id: String,
    mesh: Mesh,
    shape: Vec<usize>,
    from: String,
    to: String,
    out: Option<Vec<Vec<f64>>>,
    out_shape: Vec<Vec<usize>>,
    correct: bool,
}

impl Case {
    fn read(case: &Value) -> Self {
        let list = |key: &str| case.get(key).and_then(Value::as_array);
        Self {
            id: case["id"].as_str().expect("an id").to_owned(),
            mesh: mesh(&case["mesh"]),
            shape: lens(&case["shape"]),
            from: placements(&case["src"]),
            to: placements(&case["dst"]),
            out: list("out").map(|ranks| ranks.iter().map(numbers).collect()),
            out_shape: list("out_shape").map_or_else(Vec::new, |r| r.iter().map(lens).collect()),
            correct: case.get("correct").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    fn ndim(&self) -> usize {
        self.shape.len()
    }

    fn layout(&self, text: &str) -> Result<Layout, reshard::LayoutError> {
        Layout::parse(&self.mesh, self.ndim(), text)
    }

    /// Whether a placement list mixes reductions that do not go together, which both systems refuse.
    fn mixes(text: &str) -> bool {
        let mut kinds: Vec<&str> =
            text.split(", ").filter(|place| place.starts_with('P')).collect();
        kinds.iter_mut().for_each(|kind| {
            if *kind == "P(avg)" {
                *kind = "P(sum)";
            }
        });
        kinds.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// What a rank holds before: `72 * ((31 g + 57 k) mod 101 - 50)` for global element `g` and term `k`.
    fn input(&self, rank: usize) -> Vec<f32> {
        let coordinate = self.mesh.coordinate(rank).expect("a rank of the mesh");
        let partial = |(_, place): &(usize, &str)| place.starts_with('P');
        let axes = self.from.split(", ").enumerate().filter(partial).map(|(axis, _)| axis);
        let term = axes.fold(0, |k, axis| k * self.mesh.shape()[axis] + coordinate[axis]);
        let held = self.held(&self.from, &coordinate);
        let value = |g: usize| 72.0 * (((31 * g + 57 * term) % 101) as f32 - 50.0);
        held.into_iter().map(value).collect()
    }

    /// The global elements that a coordinate holds, by cutting index lists.
    fn held(&self, placements: &str, coordinate: &[usize]) -> Vec<usize> {
        let mut dims: Vec<Vec<usize>> = self.shape.iter().map(|&len| (0..len).collect()).collect();
        for (axis, place) in placements.split(", ").enumerate() {
            if let Some(dim) = place.strip_prefix("S(").and_then(|rest| rest.strip_suffix(')')) {
                let dim: usize = dim.parse().expect("a dim");
                let block = dims[dim].len().div_ceil(self.mesh.shape()[axis]);
                let rest = dims[dim].iter().copied().skip(coordinate[axis] * block);
                dims[dim] = rest.take(block).collect();
            }
        }
        let mut flat = vec![0];
        for (indices, &len) in dims.iter().zip(&self.shape) {
            flat = flat.iter().flat_map(|&f| indices.iter().map(move |i| f * len + i)).collect();
        }
        flat
    }
}

#[test]
fn layouts_are_those_of_pytorch() {
    let golden = golden();
    let layouts = golden["layouts"].as_array().expect("layouts");
    for layout in layouts {
        let (mesh, shape) = (mesh(&layout["mesh"]), lens(&layout["shape"]));
        let text = placements(&layout["placements"]);
        let own = Layout::parse(&mesh, shape.len(), &text).expect("a layout of the file");
        for rank in 0..mesh.len() {
            let region = own.region(&shape, rank).expect("it fits the shape");
            let id = &layout["id"];
            assert_eq!(region.local_shape(), lens(&layout["local_shape"][rank]), "{id} at {rank}");
            assert_eq!(
                region.offset(&shape),
                lens(&layout["global_offset"][rank]),
                "{id} at {rank}"
            );
        }
    }
    assert_eq!(layouts.len(), 551);
}

#[test]
fn redistributions_mean_what_they_mean_in_pytorch() {
    let golden = golden();
    let cases: Vec<Case> =
        golden["cases"].as_array().expect("cases").iter().map(Case::read).collect();
    assert_eq!(cases.len(), 5683);
    let mut meshes: Vec<Mesh> = Vec::new();
    for case in &cases {
        if !meshes.contains(&case.mesh) {
            meshes.push(case.mesh.clone());
        }
    }
    for mesh in meshes {
        let on_mesh: Vec<&Case> = cases.iter().filter(|case| case.mesh == mesh).collect();
        check(&mesh, &on_mesh);
    }
}

/// Runs all cases of a mesh in one world.
fn check(mesh: &Mesh, cases: &[&Case]) {
    let legal: Vec<&&Case> = cases
        .iter()
        .filter(|case| {
            let mixes = Case::mixes(&case.from) || Case::mixes(&case.to);
            let made = case.layout(&case.from).is_ok() && case.layout(&case.to).is_ok();
            assert_eq!(made, !mixes, "{}", case.id);
            made
        })
        .collect();
    let arrived = World::run(mesh.len(), |world| {
        let moved = |case: &&&Case| {
            let on = world.on(&case.mesh);
            let local = case.input(world.rank());
            let tensor = on.from_local(case.from.as_str(), case.shape.clone(), local)?;
            let moved = tensor.redistribute(case.to.as_str())?;
            assert_eq!(moved.dtype(), DType::F32);
            let whole = moved.full::<f32>()?;
            Ok((moved.local_shape()?.to_vec(), moved.to_local_vec::<f32>()?, whole))
        };
        legal.iter().map(moved).collect::<Result<Vec<_>, reshard::Error>>()
    });
    let arrived = arrived.unwrap_or_else(|error| panic!("{error}"));
    for (index, case) in legal.iter().enumerate() {
        let value = reduced(case);
        for (rank, results) in arrived.iter().enumerate() {
            let (shape, local, whole) = &results[index];
            let whole: Vec<f64> = whole.iter().map(|&element| f64::from(element)).collect();
            assert_eq!(whole, value, "{} at rank {rank}", case.id);
            let Some(out) = case.out.as_ref().filter(|_| case.correct) else { continue };
            assert_eq!(*shape, case.out_shape[rank], "{} at rank {rank}", case.id);
            if !case.to.contains('P') {
                let local: Vec<f64> = local.iter().map(|&element| f64::from(element)).collect();
                assert_eq!(local, out[rank], "{} at rank {rank}", case.id);
            }
        }
    }
}

/// The global tensor that the inputs of a case mean, by plain loops.
fn reduced(case: &Case) -> Vec<f64> {
    let mut terms: Vec<std::collections::BTreeMap<Vec<usize>, f64>> =
        vec![Default::default(); case.shape.iter().product()];
    let partial: Vec<usize> = case
        .from
        .split(", ")
        .enumerate()
        .filter(|(_, place)| place.starts_with('P'))
        .map(|(axis, _)| axis)
        .collect();
    for rank in 0..case.mesh.len() {
        let coordinate = case.mesh.coordinate(rank).expect("a rank of the mesh");
        let term: Vec<usize> = partial.iter().map(|&axis| coordinate[axis]).collect();
        let input = case.input(rank);
        for (g, element) in case.held(&case.from, &coordinate).into_iter().zip(input) {
            terms[g].insert(term.clone(), f64::from(element));
        }
    }
    let averaged = case.from.split(", ").zip(case.mesh.shape()).filter(|(p, _)| *p == "P(avg)");
    let divisor: f64 = averaged.map(|(_, &len)| len as f64).product();
    let value = |terms: &std::collections::BTreeMap<Vec<usize>, f64>| {
        let terms = terms.values().copied();
        match case.from.split(", ").find(|place| place.starts_with('P')) {
            Some("P(max)") => terms.fold(f64::NEG_INFINITY, f64::max),
            Some("P(min)") => terms.fold(f64::INFINITY, f64::min),
            _ => terms.sum::<f64>() / divisor,
        }
    };
    terms.iter().map(value).collect()
}

//! Runs the peers of `benches/peers`, each in processes of its own, and reads their samples.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::case::Case;
use crate::rows::Row;

/// Allocator settings of glibc under which freed pages stay with the process.
const KEEPING: [(&str, &str); 4] = [
    ("MALLOC_MMAP_THRESHOLD_", "1073741824"),
    ("MALLOC_TRIM_THRESHOLD_", "8589934592"),
    ("MALLOC_TOP_PAD_", "268435456"),
    ("MALLOC_ARENA_MAX", "1"),
];

/// The peers, ready to run.
#[derive(Debug)]
pub(crate) struct Peers {
    folder: PathBuf,
    mpi: PathBuf,
    python: String,
}

impl Peers {
    /// Compiles the one that has to be.
    pub(crate) fn build() -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
        let mpi = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mpi");
        let mut compiler = Command::new("mpicc");
        compiler.args(["-O3", "-o"]).arg(&mpi).arg(folder.join("mpi.c"));
        assert!(compiler.status().unwrap().success(), "mpicc failed");
        let python = std::env::var("PEERS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        Self { folder, mpi, python }
    }

    /// Samples of every peer, with the allocator as it comes and with pages kept.
    pub(crate) fn run(&self, cases: &[Case]) -> Vec<(Row, Vec<f64>)> {
        let mut rows = Vec::new();
        for (settings, name) in [(&KEEPING[..0], ""), (&KEEPING[..], ", pages kept")] {
            for mesh in [&[2][..], &[4], &[2, 2]] {
                let ran = [self.mpi(mesh), Some(self.dtensor(mesh))];
                for mut command in ran.into_iter().flatten() {
                    command.envs(settings.iter().copied());
                    for case in cases.iter().filter(|case| case.mesh == mesh && case.op != "S0->S0")
                    {
                        let [height, width] = case.shape;
                        command.args([&case.op, &height.to_string(), &width.to_string()]);
                    }
                    rows.extend(samples(command).map(|(mut row, samples)| {
                        row.by += name;
                        (row, samples)
                    }));
                }
            }
        }
        rows
    }

    /// Knows only transitions of one axis.
    fn mpi(&self, mesh: &[usize]) -> Option<Command> {
        let [ranks] = mesh else { return None };
        let mut command = Command::new("mpirun");
        for name in
            ["ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM", "MCA_rmaps_base_oversubscribe"]
        {
            command.env(format!("OMPI_{name}"), "1");
        }
        command.args(["-n", &ranks.to_string()]).arg(&self.mpi);
        Some(command)
    }

    fn dtensor(&self, mesh: &[usize]) -> Command {
        let ranks = mesh.iter().product::<usize>().to_string();
        let mesh: Vec<String> = mesh.iter().map(ToString::to_string).collect();
        let mut command = Command::new(&self.python);
        command.env("OMP_NUM_THREADS", "1").env("GLOO_SOCKET_IFNAME", "lo");
        command.args(["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", &ranks]);
        command.arg(self.folder.join("dtensor.py")).arg(mesh.join("x"));
        command
    }
}

/// What a peer prints: one row a line. A peer that ends badly, as DTensor's processes sometimes do when
/// all is printed, is told of and keeps its rows.
fn samples(mut command: Command) -> impl Iterator<Item = (Row, Vec<f64>)> {
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    if !output.status.success() {
        println!("{:?} ended with {}", command.get_program(), output.status);
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    rows.map(|row| Row::from_json(&row)).collect::<Vec<_>>().into_iter()
}

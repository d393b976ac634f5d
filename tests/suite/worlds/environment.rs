//! What the environment of a process says, tried on processes of their own.

use std::process::{Command, Output};

use reshard::World;

/// The child of the tests below; without a launcher's variables it runs ranks as threads.
#[test]
fn ranks_are_threads_without_a_launcher() {
    assert_eq!(World::run_or_env(3, |world| Ok(world.rank())).unwrap(), [0, 1, 2]);
}

const CHILD: &str = "worlds::environment::ranks_are_threads_without_a_launcher";

const VARIABLES: [&str; 9] = [
    "RANK",
    "WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "RESHARD_TIMEOUT",
];

fn child(variables: &[(&str, &str)]) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    for name in VARIABLES {
        child.env_remove(name);
    }
    let variables = variables.iter().copied();
    child.args([CHILD, "--exact", "--nocapture"]).envs(variables).output().unwrap()
}

#[test]
fn a_clean_environment_runs_threads() {
    assert!(child(&[]).status.success());
    assert!(child(&[("RESHARD_TIMEOUT", "2.5")]).status.success());
    assert!(child(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")]).status.success());
}

#[test]
fn launchers_and_bad_time_limits_are_errors_that_name_them() {
    type Variables = &'static [(&'static str, &'static str)];
    let table: [(Variables, &[&str]); 5] = [
        (&[("RANK", "1"), ("WORLD_SIZE", "2")], &["torchrun", "WORLD_SIZE", "nccl"]),
        (&[("PMI_RANK", "1"), ("PMI_SIZE", "2")], &["Hydra", "PMI_SIZE", "mpi"]),
        (
            &[("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")],
            &["Open MPI", "OMPI_COMM_WORLD_RANK", "mpi"],
        ),
        (&[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2")], &["srun", "SLURM_PROCID", "mpi"]),
        (&[("RESHARD_TIMEOUT", "soon")], &["RESHARD_TIMEOUT", "soon"]),
    ];
    for (variables, words) in table {
        let output = child(variables);
        assert!(!output.status.success(), "{variables:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        for word in words {
            assert!(text.contains(word), "{word} is not in {text}");
        }
    }
}

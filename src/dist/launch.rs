//! What the environment says about how this process was started.

use std::fmt;
use std::time::Duration;

use crate::mesh::Rank;

/// The variable that sets how long ranks wait for each other, in seconds.
pub const TIMEOUT_VARIABLE: &str = "RESHARD_TIMEOUT";

/// A world that could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// This build has no communicator for processes that a launcher started.
    #[error(
        "{launcher} has started this process ({}), but this build of reshard runs ranks as threads only; build it with the feature `{feature}`, or start the program without a launcher",
        listed(seen)
    )]
    MissingFeature {
        /// The launcher.
        launcher: Launcher,
        /// The variables that show it, with their values.
        seen: Vec<(String, String)>,
        /// The cargo feature that would be needed.
        feature: &'static str,
    },
    /// The time limit is no time.
    #[error("{TIMEOUT_VARIABLE}={value:?} is no number of seconds above 0")]
    Timeout {
        /// The variable's value.
        value: String,
    },
    /// The operating system gave no thread.
    #[error("rank {rank} could not be started: {cause}")]
    Thread {
        /// The rank.
        rank: Rank,
        /// What the operating system says.
        cause: String,
    },
}

/// A program that starts one process for each rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Launcher {
    /// PyTorch's launcher.
    Torchrun,
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpiexec` of MPICH and its relatives.
    Hydra,
    /// Slurm's launcher.
    Srun,
}

impl Launcher {
    const ALL: [Launcher; 4] =
        [Launcher::Torchrun, Launcher::OpenMpi, Launcher::Hydra, Launcher::Srun];

    /// The launcher that started a process with these variables, if any: the innermost one, where one
    /// launcher runs another. `lookup` gives a variable's value.
    ///
    /// # Example
    ///
    /// ```
    /// use reshard::dist::Launcher;
    /// let torchrun = |name: &str| match name {
    ///     "RANK" => Some("0".to_owned()),
    ///     "WORLD_SIZE" => Some("2".to_owned()),
    ///     _ => None,
    /// };
    /// assert_eq!(Launcher::detect(torchrun), Some(Launcher::Torchrun));
    /// assert_eq!(Launcher::detect(|_| None), None);
    /// ```
    #[must_use]
    pub fn detect(lookup: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Self::ALL.into_iter().find(|launcher| {
            let [_, ranks] = launcher.variables();
            let all = launcher.variables().iter().all(|name| lookup(name).is_some());
            // An allocation of one task says nothing about how the program was started.
            let alone = || lookup(ranks).is_some_and(|value| value.trim() == "1");
            all && !(*launcher == Launcher::Srun && alone())
        })
    }

    /// The variables in which it tells a process its rank and the number of ranks.
    #[must_use]
    pub const fn variables(self) -> [&'static str; 2] {
        match self {
            Launcher::Torchrun => ["RANK", "WORLD_SIZE"],
            Launcher::OpenMpi => ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
            Launcher::Hydra => ["PMI_RANK", "PMI_SIZE"],
            Launcher::Srun => ["SLURM_PROCID", "SLURM_NTASKS"],
        }
    }

    /// The cargo feature that runs ranks as its processes.
    #[must_use]
    pub const fn feature(self) -> &'static str {
        match self {
            Launcher::Torchrun => "nccl",
            Launcher::OpenMpi | Launcher::Hydra | Launcher::Srun => "mpi",
        }
    }

    /// The error of a build that cannot run under it.
    pub(super) fn missing(self, lookup: impl Fn(&str) -> Option<String>) -> LaunchError {
        let address = (self == Launcher::Torchrun).then_some("MASTER_ADDR");
        let names = self.variables().into_iter().chain(address);
        let seen = names.filter_map(|name| Some((name.to_owned(), lookup(name)?))).collect();
        LaunchError::MissingFeature { launcher: self, seen, feature: self.feature() }
    }
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Launcher::Torchrun => "torchrun",
            Launcher::OpenMpi => "mpirun (Open MPI)",
            Launcher::Hydra => "mpiexec (Hydra)",
            Launcher::Srun => "srun",
        })
    }
}

/// The time limit that the environment sets, if it sets one.
pub(super) fn timeout(
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Option<Duration>, LaunchError> {
    let Some(value) = lookup(TIMEOUT_VARIABLE) else { return Ok(None) };
    let seconds = value.trim().parse::<f64>().ok();
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match time.filter(|time| !time.is_zero()) {
        Some(time) => Ok(Some(time)),
        None => Err(LaunchError::Timeout { value }),
    }
}

/// The value of a variable of this process; one that is no Unicode text is shown as well as it can be.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

fn listed(seen: &[(String, String)]) -> String {
    seen.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(text: &'static str) -> impl Fn(&str) -> Option<String> + Copy {
        move |name| {
            let pairs = text.split(' ').filter_map(|pair| pair.split_once('='));
            pairs.into_iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_owned())
        }
    }

    #[test]
    fn launchers_are_told_apart() {
        let table = [
            ("", None),
            ("RANK=0", None),
            ("WORLD_SIZE=4", None),
            ("RANK=0 WORLD_SIZE=4", Some(Launcher::Torchrun)),
            ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", Some(Launcher::OpenMpi)),
            ("PMI_RANK=1 PMI_SIZE=2", Some(Launcher::Hydra)),
            ("PMI_RANK=1", None),
            ("SLURM_PROCID=0 SLURM_NTASKS=8", Some(Launcher::Srun)),
            ("SLURM_PROCID=0 SLURM_NTASKS=1", None),
            ("SLURM_NTASKS=8", None),
            ("RANK=0 WORLD_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=8", Some(Launcher::Torchrun)),
            (
                "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 SLURM_PROCID=0 SLURM_NTASKS=2",
                Some(Launcher::OpenMpi),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(Launcher::detect(environment(text)), expected, "{text}");
        }
    }

    #[test]
    fn the_error_names_launcher_variables_and_feature() {
        let lookup = environment("RANK=3 WORLD_SIZE=4 MASTER_ADDR=10.0.0.1");
        assert_eq!(
            Launcher::Torchrun.missing(lookup).to_string(),
            "torchrun has started this process (RANK=3, WORLD_SIZE=4, MASTER_ADDR=10.0.0.1), but this \
             build of reshard runs ranks as threads only; build it with the feature `nccl`, or start \
             the program without a launcher"
        );
        let lookup = environment("PMI_RANK=3 PMI_SIZE=4 MASTER_ADDR=10.0.0.1");
        let LaunchError::MissingFeature { seen, feature, .. } = Launcher::Hydra.missing(lookup)
        else {
            panic!("another error")
        };
        assert_eq!((seen.len(), feature), (2, "mpi"));
    }

    #[test]
    fn a_time_limit_is_a_number_of_seconds_above_0() {
        let parsed = |value: &str| timeout(|_| Some(value.to_owned()));
        assert_eq!(timeout(|_| None), Ok(None));
        assert_eq!(parsed("20"), Ok(Some(Duration::from_secs(20))));
        assert_eq!(parsed(" 0.5 "), Ok(Some(Duration::from_millis(500))));
        for value in ["", "0", "-1", "soon", "20s", "NaN", "inf", "1e99"] {
            assert_eq!(parsed(value), Err(LaunchError::Timeout { value: value.to_owned() }));
        }
    }
}

//! `reshard plan`: what a redistribution would cost.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use reshard::plan::{Plan, PlanOptions, plan as make};

use crate::failure::Failure;
use crate::input::{self, MeshText, Request};
use crate::{limits, output};

/// Print the plan for a redistribution: its steps, the bytes that the busiest rank sends and receives,
/// and how near that is to the least that any plan could move. Nothing is moved
///
/// Errors in the arguments are printed to standard error, or with `--format json` to standard output as
/// {"error": {"kind", "message"}}, and the exit code is 2.
#[derive(Args)]
#[command(after_long_help = include_str!("notation.txt"))]
pub(crate) struct PlanArguments {
    /// Axes of the mesh with their lengths, the last one varying fastest: dp=2,tp=4. At most 4096 ranks
    #[arg(long, value_name = "AXES")]
    mesh: String,
    /// Ranks of the mesh by coordinate: 3,1,0,2. Without it they are 0, 1, 2 and so on
    #[arg(long, value_name = "RANKS")]
    ranks: Option<String>,
    /// Axes of the target's mesh, if it is another one
    #[arg(long, value_name = "AXES")]
    to_mesh: Option<String>,
    /// Ranks of the target's mesh by coordinate; without --to-mesh its axes are those of --mesh
    #[arg(long, value_name = "RANKS")]
    to_ranks: Option<String>,
    /// Lengths of the dims of the whole tensor: 4096,4096. `scalar` or '' for a tensor without dims
    #[arg(long, value_name = "LENGTHS")]
    shape: String,
    /// Element type: f32, f64, f16, bf16, i8, u8, i32, u32, i64, u64 or bool
    #[arg(long, default_value = "f32")]
    dtype: String,
    /// Layout before: 'S(0), R' or 'dp=S(0)' or '[dp, -]'
    #[arg(long, value_name = "LAYOUT")]
    from: String,
    /// Layout after
    #[arg(long, value_name = "LAYOUT")]
    to: String,
    /// How to print the plan
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people
    Text,
    /// One object with every number
    Json,
}

pub(crate) fn plan(arguments: &PlanArguments) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match (planned(arguments), arguments.format) {
        (Ok(plan), Format::Text) => writeln!(out, "{plan}")?,
        (Ok(plan), Format::Json) => writeln!(out, "{:#}", output::plan(&plan))?,
        (Err(failure), Format::Text) => {
            writeln!(io::stderr(), "error: {}", failure.message)?;
            return Ok(ExitCode::from(2));
        }
        (Err(failure), Format::Json) => {
            writeln!(out, "{}", failure.json())?;
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn planned(arguments: &PlanArguments) -> Result<Plan, Failure> {
    let request = Request {
        mesh: MeshText {
            axes: Some(input::axes(&arguments.mesh).map_err(|failure| failure.of("--mesh"))?),
            ranks: read(arguments.ranks.as_ref(), "--ranks", input::ranks)?,
        },
        to_mesh: MeshText {
            axes: read(arguments.to_mesh.as_ref(), "--to-mesh", input::axes)?,
            ranks: read(arguments.to_ranks.as_ref(), "--to-ranks", input::ranks)?,
        },
        shape: input::shape(&arguments.shape).map_err(|failure| failure.of("--shape"))?,
        dtype: arguments.dtype.clone(),
        from: arguments.from.clone(),
        to: arguments.to.clone(),
    };
    let transition = request.transition(limits::PLANNED_RANKS)?;
    Ok(make(&transition, &PlanOptions::default())?)
}

fn read<T>(
    text: Option<&String>,
    name: &str,
    reader: impl Fn(&str) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    text.map(|text| reader(text)).transpose().map_err(|failure| failure.of(name))
}

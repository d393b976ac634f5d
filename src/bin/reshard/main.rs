//! The command line `reshard`.
fn main() {}

//! The room of that name, as far as the files under test use it.

pub(crate) mod sync;

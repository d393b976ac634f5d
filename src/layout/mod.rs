//! Where every element of a tensor lives: pure values.

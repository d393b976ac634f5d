//! A hash that is the same on every rank, run and machine.

/// Accumulates 64-bit words into a hash that never depends on the process, as `std`'s default
/// hasher does: ranks compare these hashes with each other.
///
/// # Source
///
/// The finaliser of SplitMix64 (Steele, Lea, Flood: *Fast splittable pseudorandom number
/// generators*, 2014), applied to the running state after each word.
///
/// # Example
///
/// ```
/// use reshard::base::StableHash;
/// let hash = |words: &[u64]| words.iter().fold(StableHash::new(), |h, &w| h.word(w)).finish();
/// assert_eq!(hash(&[1, 2]), hash(&[1, 2]));
/// assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct StableHash(u64);

impl StableHash {
    /// The hash of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self(0x5851_f42d_4c95_7f2d)
    }

    /// Takes in one word.
    #[must_use]
    pub fn word(self, word: u64) -> Self {
        Self(mix(self.0.rotate_left(5) ^ word.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }

    /// Takes in a length or an index.
    #[must_use]
    pub fn len(self, len: usize) -> Self {
        self.word(len as u64)
    }

    /// Takes in a text, its length included.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        text.bytes().fold(self.len(text.len()), |hash, byte| hash.word(u64::from(byte)))
    }

    /// The hash of all that was taken in.
    #[must_use]
    pub fn finish(self) -> u64 {
        mix(self.0)
    }
}

/// SplitMix64's finaliser: a bijection of 64-bit words.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

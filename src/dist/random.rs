//! Random elements as a function of seed and index.

use half::{bf16, f16};

use crate::base::DType;

/// The output number `index` of SplitMix64 with `seed` as its state.
pub(super) fn output(seed: u64, index: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut word = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Writes the element that the topmost bits of a word make. Every float is exact, so none rounds to 1.
pub(super) fn write(dtype: DType, word: u64, element: &mut [u8]) {
    let unit = |bits: u32| (word >> (64 - bits)) as f64 / (1u64 << bits) as f64;
    match dtype {
        DType::F32 => element.copy_from_slice(&(unit(24) as f32).to_ne_bytes()),
        DType::F64 => element.copy_from_slice(&unit(53).to_ne_bytes()),
        DType::F16 => element.copy_from_slice(&f16::from_f64(unit(11)).to_ne_bytes()),
        DType::Bf16 => element.copy_from_slice(&bf16::from_f64(unit(8)).to_ne_bytes()),
        DType::I8 | DType::U8 => element[0] = (word >> 56) as u8,
        DType::I32 | DType::U32 => element.copy_from_slice(&((word >> 32) as u32).to_ne_bytes()),
        DType::I64 | DType::U64 => element.copy_from_slice(&word.to_ne_bytes()),
        DType::Bool => element[0] = (word >> 63) as u8,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that unwraps fails, which is its job")]
mod tests {
    use super::*;

    /// The first outputs for seed 1234567 as its reference implementation prints them.
    #[test]
    fn outputs_are_those_of_splitmix64() {
        let first: Vec<u64> = (0..3).map(|index| output(1_234_567, index)).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn floats_stay_below_1() {
        for (dtype, greatest) in
            [(DType::F32, 1.0 - 2f64.powi(-24)), (DType::Bf16, 1.0 - 2f64.powi(-8))]
        {
            let mut bytes = vec![0; dtype.bytes()];
            write(dtype, u64::MAX, &mut bytes);
            let value = match dtype {
                DType::F32 => f64::from(f32::from_ne_bytes(bytes.try_into().unwrap())),
                _ => bf16::from_ne_bytes(bytes.try_into().unwrap()).to_f64(),
            };
            assert_eq!(value, greatest);
        }
    }
}

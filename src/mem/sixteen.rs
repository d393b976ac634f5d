//! 16-bit floats to `f32` and back without branches, so that loops of them become vectors.
//!
//! Rounded to nearest, ties to even, as the crate `half` does it. Narrowing makes NaN quiet and keeps
//! the payload that fits; widening leaves NaN as it is, which saves half of its instructions.

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7F80_0000;
/// The highest bit of a significand tells a quiet NaN.
const QUIET: u32 = 0x0040_0000;

#[inline(always)]
pub(super) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[inline(always)]
pub(super) fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    // Just below half of the last place, and half of it where that makes an odd result even.
    let rounded = bits.wrapping_add(0x7FFF + ((bits >> 16) & 1));
    let result = if value.is_nan() { bits | QUIET } else { rounded };
    (result >> 16) as u16
}

#[inline(always)]
pub(super) fn f16_to_f32(bits: u16) -> f32 {
    let wide = u32::from(bits);
    let sign = (wide & 0x8000) << 16;
    let magnitude = (wide & 0x7FFF) << 13;
    // As an `f32`, the exponent counts from -127 and not from -15. Multiplying puts that right for
    // subnormal values too.
    let finite = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let result = if magnitude >= 0x7C00 << 13 { magnitude | INFINITY } else { finite };
    f32::from_bits(result | sign)
}

#[inline(always)]
pub(super) fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = bits & SIGN;
    let magnitude = bits ^ sign;
    // From 2^-14 on: the exponent counts from -15, and 13 bits are rounded off.
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xFFF + odd) >> 13;
    // Below, adding 0.5 leaves the significand in the last bits of the sum, rounded.
    let half = f32::from_bits(126 << 23);
    let subnormal = (f32::from_bits(magnitude) + half).to_bits().wrapping_sub(half.to_bits());
    let finite = if magnitude < 113 << 23 { subnormal } else { normal };
    let nan = 0x7E00 | ((magnitude & 0x007F_FFFF) >> 13);
    let beyond = if value.is_nan() { nan } else { 0x7C00 };
    let result = if magnitude >= (127 + 16) << 23 { beyond } else { finite };
    (result | (sign >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    #[test]
    fn every_16_bit_float_widens_as_half_does() {
        let quiet = |value: f32| value.to_bits() | if value.is_nan() { QUIET } else { 0 };
        for bits in 0..=u16::MAX {
            let (wide, expected) = (bf16_to_f32(bits), bf16::from_bits(bits).to_f32());
            assert_eq!(quiet(wide), expected.to_bits(), "bf16 {bits:#06x}");
            assert_eq!(f32_to_bf16(wide), bf16::from_f32(expected).to_bits(), "bf16 {bits:#06x}");
            let (wide, expected) = (f16_to_f32(bits), f16::from_bits(bits).to_f32());
            assert_eq!(quiet(wide), expected.to_bits(), "f16 {bits:#06x}");
            assert_eq!(f32_to_f16(wide), f16::from_f32(expected).to_bits(), "f16 {bits:#06x}");
        }
    }

    #[test]
    fn floats_round_to_16_bits_as_half_does() {
        // Every sign, exponent and leading bits of the significand, each with the last bits that
        // rounding looks at: exact, just above, about half way, all set.
        let endings = [0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF, 0x7FFF, 0x8000, 0x8001, 0xFFFF];
        for high in 0..=u16::MAX {
            for low in endings.map(|ending| (u32::from(high) << 16) | ending) {
                let value = f32::from_bits(low);
                let expected = bf16::from_f32(value).to_bits();
                assert_eq!(f32_to_bf16(value), expected, "{value:e} {low:#010x}");
                let expected = f16::from_f32(value).to_bits();
                assert_eq!(f32_to_f16(value), expected, "{value:e} {low:#010x}");
            }
        }
    }
}

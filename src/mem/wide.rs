//! Running a kernel with the widest vectors that the machine has.
#![allow(unsafe_code, reason = "code for AVX2 may run only where AVX2 is")]

/// A loop over slices, compiled once for every machine and once for those with AVX2. Mark `run` and all
/// that it calls `#[inline(always)]`, or the second is as the first.
pub(super) trait Task {
    /// Does the work.
    fn run(self);
}

/// Does the work in the best way that this machine can.
#[inline]
pub(super) fn widest(task: impl Task) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected just now.
        return unsafe { with_avx2(task) };
    }
    task.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(task: impl Task) {
    task.run();
}

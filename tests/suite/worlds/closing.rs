//! Tensors that outlive their world.

use reshard::Error;
use reshard::comm::CommError;

use super::{mesh, run};

#[test]
fn tensors_can_be_read_but_not_moved_once_the_world_has_ended() {
    let mesh = mesh([("a", 2)]);
    let tensors = run(2, |world| world.on(&mesh).from_fn([4], "S(0)", |at| at[0] as i32));
    assert_eq!(tensors[1].to_local_vec::<i32>().unwrap(), [2, 3]);
    for tensor in &tensors {
        let moved = tensor.redistribute("R");
        assert!(matches!(moved, Err(Error::Comm(CommError::Invalid { .. }))), "{moved:?}");
        let moved = tensor.redistribute_async("R").unwrap().wait();
        assert!(matches!(moved, Err(Error::Comm(CommError::Invalid { .. }))), "{moved:?}");
    }
}

//! Plans and programs that are broken in one place are reported for that.

use super::view::Stage;
use super::{Promise, chain, programs, replay};
use crate::base::DType;
use crate::layout::Layout;
use crate::mem::Window;
use crate::mesh::{Axis, Mesh};
use crate::plan::traffic::Traffic;
use crate::plan::{
    Algorithm, BufferId, Instruction, Operation, Plan, PlanError, PlanOptions, Program, StepKind,
    Transition, plan,
};

fn mesh() -> Mesh {
    Mesh::new([("a", 2), ("b", 2)]).unwrap()
}

fn layout(text: &str) -> Layout {
    Layout::parse(&mesh(), 2, text).unwrap()
}

fn planned(from: &str, to: &str, shape: [usize; 2]) -> Plan {
    let transition = Transition::new(layout(from), layout(to), shape, DType::F32).unwrap();
    plan(&transition, &PlanOptions::default()).unwrap()
}

fn all_programs(plan: &Plan) -> Vec<(usize, Program)> {
    plan.ranks().iter().map(|&rank| plan.program(rank)).enumerate().collect()
}

#[track_caller]
fn reports(checked: Promise, broken: &str) {
    let message = checked.expect_err("the checker saw nothing");
    assert!(message.contains(broken), "`{message}` does not say `{broken}`");
}

/// Breaks a plan; its programs stay those of the sound plan.
#[track_caller]
fn broken_plan((from, to): (&str, &str), change: impl FnOnce(&mut Plan), broken: &str) {
    let mut plan = planned(from, to, [8, 8]);
    let programs = all_programs(&plan);
    change(&mut plan);
    reports(chain::connected(&plan).and_then(|()| replay(&plan, &programs)), broken);
}

#[track_caller]
fn broken_program((from, to): (&str, &str), change: impl FnOnce(&mut Program), broken: &str) {
    let plan = planned(from, to, [8, 8]);
    let mut programs = all_programs(&plan);
    change(&mut programs[1].1);
    let stages = plan.layouts().map(|layout| Stage::new(layout, &[8, 8]).unwrap());
    reports(programs::sound(&plan, &stages.collect::<Vec<_>>(), &programs), broken);
}

const GATHER: (&str, &str) = ("[a.b, -]", "[-, -]");
const SWAP: (&str, &str) = ("[a, b]", "[b, a]");
const SUM: (&str, &str) = ("[-, -] + P(sum: a, b)", "[-, -]");
const SCATTER_SUM: (&str, &str) = ("[a, -] + P(sum: b)", "[a, b]");
const TWO_STEPS: (&str, &str) = ("[-, -] + P(sum: a, b)", "[b, -]");
const SEED: (&str, &str) = ("[a, -]", "[a, -] + P(sum: b)");

#[test]
fn the_error_names_the_transition() {
    let mut plan = planned(SWAP.0, SWAP.1, [8, 8]);
    plan.check().unwrap();
    plan.steps[0].traffic.sent_len[2] += 1;
    let error = plan.check().unwrap_err();
    assert!(matches!(error, PlanError::Broken { .. }));
    let text = error.to_string();
    assert!(text.contains("[a, b] -> [b, a] of f32 [8, 8] on a=2, b=2 is wrong: step 0"), "{text}");
    assert!(text.contains("sent: 17"), "{text}");
}

#[test]
fn layouts_connect() {
    broken_plan(GATHER, |p| p.steps[0].source = layout("[b.a, -]"), "starts at [b.a, -], not at");
    broken_plan(GATHER, |p| p.steps[0].target = layout("[a, -]"), "ends at [a, -], not at [-, -]");
    broken_plan(GATHER, |p| p.steps.clear(), "wants 64 and no step moves any");
    broken_plan(SUM, |p| p.steps.clear(), "no step leads from");
    broken_plan(TWO_STEPS, |p| p.steps.truncate(1), "the last step ends at");
    broken_plan(TWO_STEPS, |p| p.steps.swap(0, 1), "step 0");
}

#[test]
fn parties_and_carried_axes_are_those_of_the_layouts() {
    let other = Mesh::with_ranks([("a", 2), ("b", 2)], [4, 5, 6, 7]).unwrap();
    let parties = crate::plan::parties::Parties::new(&mesh(), &other);
    broken_plan(GATHER, |p| p.parties = parties, "parties are [0, 1, 2, 3, 4, 5, 6, 7], not");
    broken_plan(GATHER, |p| p.carried = vec![axis("a")], "are carried, not []");
    let partial = ("[b, -] + P(sum: a)", "[-, b] + P(sum: a)");
    broken_plan(partial, |p| p.carried.clear(), "axes [] are carried");
    broken_plan(partial, |p| p.steps[0].axes.push(axis("a")), "moves along an axis that stays");
}

fn axis(name: &str) -> Axis {
    mesh().axis(name).unwrap()
}

#[test]
fn labels_fit() {
    let ring = Algorithm::Ring;
    broken_plan(SWAP, |p| p.steps[0].algorithm = ring, "is counted as ring");
    broken_plan(SWAP, |p| p.steps[0].algorithm = Algorithm::Relay, "is counted as relay");
    broken_plan(SWAP, |p| p.steps[0].kind = StepKind::SendRecv, "is no step on one mesh");
    broken_plan(SWAP, |p| p.steps[0].axes.clear(), "moves along 0 axes");
    broken_plan(SEED, |p| p.steps[0].axes.push(axis("a")), "moves along 1 axes");
    broken_plan(SWAP, |p| p.steps[0].group_len = 2, "has groups of 2, not of 4");
    broken_plan(SWAP, |p| p.steps[0].element_bytes = 8, "counts 8 bytes an element, not 4");
}

/// A step called something else, with the algorithm of what it is called.
fn called(kind: StepKind) -> impl FnOnce(&mut Plan) {
    move |plan| {
        plan.steps[0].kind = kind;
        plan.steps[0].algorithm = kind.algorithm();
    }
}

#[test]
fn kinds_fit_the_layouts() {
    let drops = "cannot make [-, -] of [-, -] + P(sum: a, b)";
    broken_plan(SUM, called(StepKind::Exchange), drops);
    broken_plan(SUM, called(StepKind::ReduceScatter), "leaves [64, 64, 64, 64] of 64 elements");
    broken_plan(SUM, called(StepKind::Reduce), "leaves [64, 64, 64, 64] of 64 elements");
    broken_plan(SCATTER_SUM, called(StepKind::AllReduce), "leaves [16, 16] of 32 elements");
    broken_plan(SCATTER_SUM, called(StepKind::Reduce), "leaves [16, 16] of 32 elements");
    broken_plan(GATHER, called(StepKind::AllReduce), "cannot make");
    broken_plan(GATHER, called(StepKind::AllToAll), "has 4 holders After");
    broken_plan(GATHER, called(StepKind::Broadcast), "has 4 holders Before");
    broken_plan(GATHER, called(StepKind::Permute), "has a rank with 3 messages");
    broken_plan(SWAP, called(StepKind::AllGather), "gives rank 0 16 of the 64");
    broken_plan(SWAP, called(StepKind::Scatter), "has 4 holders Before");
    broken_plan(SWAP, called(StepKind::Gather), "has 4 holders After");
    let gathers = |plan: &mut Plan| {
        plan.steps[0].axes = vec![axis("a")];
        plan.steps[0].group_len = 2;
    };
    broken_plan(GATHER, gathers, "finds 32 of the 64 elements of rank 0 in its group");
    broken_plan(SUM, gathers, "cannot make");
    let local = |kind| {
        move |plan: &mut Plan| {
            called(kind)(plan);
            plan.steps[0].axes.clear();
            plan.steps[0].group_len = 1;
        }
    };
    broken_plan(GATHER, local(StepKind::Slice), "leaves rank 0 with 16 of 64 elements");
    broken_plan(GATHER, local(StepKind::Seed), "cannot make");
    broken_plan(GATHER, local(StepKind::Scale), "cannot make");
    broken_plan(SEED, called(StepKind::Slice), "cannot make");
}

#[test]
fn terms_are_complete_and_added_once() {
    let from_nothing = |plan: &mut Plan| {
        let source = layout("[a.b, -]");
        plan.transition =
            Transition::new(source.clone(), plan.transition.target().clone(), [8, 8], DType::F32)
                .unwrap();
        plan.steps[0].source = source;
        plan.steps[0].target = layout("[-, -] + P(sum: b)");
        plan.transition =
            Transition::new(layout("[a.b, -]"), layout("[-, -] + P(sum: b)"), [8, 8], DType::F32)
                .unwrap();
    };
    broken_plan(SEED, from_nothing, "makes terms of 32 of the 64 elements");
    let drops = |plan: &mut Plan| {
        plan.steps[0].target = layout("[-, a] + P(sum: b)");
        plan.transition =
            Transition::new(layout("[a, -]"), layout("[-, a] + P(sum: b)"), [8, 8], DType::F32)
                .unwrap();
    };
    broken_plan(SEED, drops, "drops 16 of rank 0's elements");
}

#[test]
fn no_intermediate_is_larger_than_both_ends() {
    let mut plan = planned("[a.b, -]", "[-, a.b]", [8, 8]);
    let (whole, mut second) = (layout("[-, -]"), plan.steps[0].clone());
    plan.steps[0].target = whole.clone();
    second.source = whole;
    plan.steps.push(second);
    let programs = all_programs(&planned("[a.b, -]", "[-, a.b]", [8, 8]));
    reports(replay(&plan, &programs), "holds 64 elements under [-, -], more than the 16");
}

#[test]
fn counts_are_those_of_the_algorithm() {
    for pair in [GATHER, SWAP, SUM, SCATTER_SUM, TWO_STEPS] {
        let count = |change: fn(&mut Traffic)| {
            broken_plan(pair, |p| change(&mut p.steps[0].traffic), "whose algorithm makes");
        };
        count(|traffic| traffic.sent_len[0] += 2);
        count(|traffic| traffic.received_len[3] += 1);
        count(|traffic| traffic.sent_messages[1] = 0);
        count(|traffic| traffic.received_messages[2] = 0);
    }
    broken_plan(SEED, |p| p.steps[0].traffic.sent_len[0] = 1, "whose algorithm makes");
    broken_plan(SWAP, |p| p.traffic.sent_len[0] += 1, "the plan counts (33, 32) elements");
    broken_plan(SWAP, |p| p.traffic = Traffic::none(4), "the plan counts (0, 0) elements");
    broken_plan(SWAP, |p| p.bound_len += 1, "moves 64 bytes, less than the bound of 68");
}

#[test]
fn programs_begin_and_end_with_the_tensor() {
    broken_program(SWAP, |p| p.buffers[0] += 4, "reads a source of 68 bytes, not 64");
    broken_program(SWAP, |p| p.result = None, "ends with None bytes, not Some(64)");
    broken_program(SWAP, |p| p.result_shape = vec![2, 8], "ends with the shape [2, 8]");
    broken_program(SWAP, |p| p.instructions.clear(), "which has 0");
}

/// The first call of a program and the buffer it writes.
fn call(program: &mut Program) -> (&mut crate::plan::CallSpec, &mut BufferId) {
    let call = program.instructions.iter_mut().find_map(|instruction| match instruction {
        Instruction::Call { call, target, .. } => Some((call, target)),
        Instruction::View { .. }
        | Instruction::Fill { .. }
        | Instruction::Copy { .. }
        | Instruction::Scale { .. } => None,
    });
    call.unwrap()
}

#[test]
fn windows_stay_inside_and_write_once() {
    let beyond = |p: &mut Program| call(p).0.receive[0].windows = vec![Window::run(4, 16, 4)];
    broken_program(SWAP, beyond, "reaches byte 68 of the 64");
    let sends_beyond = |p: &mut Program| call(p).0.send[0].windows = vec![Window::run(60, 2, 4)];
    broken_program(SWAP, sends_beyond, "reaches byte 68 of the 64");
    let twice = |p: &mut Program| {
        let (call, _) = call(p);
        let part = call.receive[0].clone();
        call.receive.push(part);
    };
    broken_program(GATHER, twice, "elements to the 64 of");
    broken_program(SWAP, |p| *call(p).1 = BufferId::SOURCE, "writes BufferId(0) after it was read");
    let short = |p: &mut Program| call(p).0.receive[0].windows.clear();
    broken_program(GATHER, short, "reads 64 elements of BufferId(1), which has 48");
}

#[test]
fn calls_agree_across_ranks() {
    let elsewhere = |p: &mut Program| call(p).0.group = crate::mesh::Group::new([0, 1]).unwrap();
    broken_program(SUM, elsewhere, "calls AllReduce");
    let product = |p: &mut Program| {
        let reduction = crate::base::Reduction::Product;
        call(p).0.operation = Operation::AllReduce { reduction, divisor: 1 };
    };
    broken_program(SUM, product, "reduction: Product");
    broken_program(SUM, |p| call(p).0.step = 7, "makes no such call");
    broken_program(SUM, |p| call(p).0.group = crate::mesh::Group::new([0, 2]).unwrap(), "group");
    let resized = |p: &mut Program| call(p).0.send[0].windows = vec![Window::run(0, 3, 4)];
    for pair in [GATHER, SUM, SCATTER_SUM, ("[a.b, -]", "[-, a.b]")] {
        broken_program(pair, resized, "disagree: the first sends windows of [3]");
    }
}

/// Changes what is passed on in a relayed exchange.
#[track_caller]
fn broken_relay(change: impl FnOnce(&mut crate::plan::relay::Relay), broken: &str) {
    let mut plan = planned("[-, a.b]", "[b, -]", [5, 3]);
    let programs = all_programs(&plan);
    let mut relay = plan.steps[0].relay.as_deref().unwrap().clone();
    change(&mut relay);
    plan.steps[0].relay = Some(std::sync::Arc::new(relay));
    reports(replay(&plan, &programs), broken);
}

#[test]
fn every_element_that_is_lacked_arrives_once() {
    broken_relay(|relay| relay.first.truncate(relay.first.len() - 1), "what it did not get");
    broken_relay(|relay| relay.second.truncate(relay.second.len() - 1), "elements of the");
    broken_relay(|relay| relay.second.push(relay.second[0]), "elements of the");
    broken_relay(|relay| relay.first[0].end += 9, "sends elements 0..");
    broken_relay(|relay| relay.first[0].receiver = relay.first[0].sender, "sends elements 0..");
    broken_relay(|relay| relay.second[0].sender = relay.second[0].receiver, "pass on to rank");
    let mut plan = planned("[-, a.b]", "[b, -]", [5, 3]);
    let programs = all_programs(&plan);
    plan.steps[0].relay = None;
    reports(replay(&plan, &programs), "has nothing to pass on");
}

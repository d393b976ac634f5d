//! What each rank sends and receives.

/// What each party of a step or plan sends and receives, in elements and messages, by party.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) sent_len: Vec<usize>,
    pub(crate) received_len: Vec<usize>,
    pub(crate) sent_messages: Vec<usize>,
    pub(crate) received_messages: Vec<usize>,
}

impl Traffic {
    pub(crate) fn none(parties: usize) -> Self {
        let zeros = || vec![0; parties];
        Self {
            sent_len: zeros(),
            received_len: zeros(),
            sent_messages: zeros(),
            received_messages: zeros(),
        }
    }

    /// One message of `len` elements; an empty one is not sent.
    pub(crate) fn message(&mut self, sender: usize, receiver: usize, len: usize) {
        if len > 0 {
            self.send(sender, len, 1);
            self.receive(receiver, len, 1);
        }
    }

    pub(crate) fn send(&mut self, party: usize, len: usize, messages: usize) {
        self.sent_len[party] += len;
        self.sent_messages[party] += messages;
    }

    pub(crate) fn receive(&mut self, party: usize, len: usize, messages: usize) {
        self.received_len[party] += len;
        self.received_messages[party] += messages;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let add = |mine: &mut [usize], theirs: &[usize]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        };
        add(&mut self.sent_len, &other.sent_len);
        add(&mut self.received_len, &other.received_len);
        add(&mut self.sent_messages, &other.sent_messages);
        add(&mut self.received_messages, &other.received_messages);
    }

    /// Elements sent or received, whichever is more, by the busiest party.
    pub(crate) fn busiest_len(&self) -> usize {
        self.sent_len.iter().chain(&self.received_len).copied().max().unwrap_or(0)
    }

    /// Messages sent or received, whichever are more, by the party that has most.
    pub(crate) fn busiest_messages(&self) -> usize {
        self.sent_messages.iter().chain(&self.received_messages).copied().max().unwrap_or(0)
    }

    /// The party that sends or receives most; the first of several.
    pub(crate) fn busiest_party(&self) -> usize {
        let load = |party: usize| self.sent_len[party].max(self.received_len[party]);
        (0..self.sent_len.len())
            .max_by_key(|&party| (load(party), std::cmp::Reverse(party)))
            .unwrap_or(0)
    }

    /// Whether nobody sends anything.
    pub(crate) fn is_silent(&self) -> bool {
        self.received_messages.iter().all(|&messages| messages == 0)
            && self.sent_messages.iter().all(|&messages| messages == 0)
    }
}

//! What every rank did and for how long, in the format that trace viewers read.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The file, written span by span: `{"traceEvents": [...]}`, a lane for each rank.
pub(crate) struct Trace {
    out: BufWriter<File>,
    ended: Arc<Ended>,
    /// Ranks that have a lane.
    lanes: usize,
    /// Whether an event was written.
    begun: bool,
}

impl Trace {
    /// Starts the file, and from now on takes in every span of this process.
    pub(crate) fn start(path: &Path) -> io::Result<Self> {
        let mut out = BufWriter::new(File::create(path)?);
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let ended = Arc::new(Ended { start: now(), spans: Mutex::default() });
        let subscriber = Registry::default().with(Lanes(Arc::clone(&ended)));
        tracing::subscriber::set_global_default(subscriber).map_err(io::Error::other)?;
        Ok(Self { out, ended, lanes: 0, begun: false })
    }

    /// Writes what has ended by now; ranks below `world_len` have lanes, even if they did nothing.
    pub(crate) fn write(&mut self, world_len: usize) -> io::Result<()> {
        for rank in self.lanes..world_len {
            let name = json!({ "name": format!("rank {rank}") });
            self.event(&json!({
                "name": "thread_name", "ph": "M", "pid": 1, "tid": rank, "args": name,
            }))?;
        }
        self.lanes = self.lanes.max(world_len);
        let mut spans = std::mem::take(&mut *self.ended.spans());
        // A span comes before those within it.
        spans.sort_by_key(|span| (span.start, u128::MAX - span.end));
        spans.into_iter().try_for_each(|span| self.event(&span.json()))
    }

    /// Ends the file.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        let before = if std::mem::replace(&mut self.begun, true) { ",\n" } else { "\n" };
        write!(self.out, "{before}{event}")
    }
}

/// Spans that have ended and are not written yet.
struct Ended {
    start: Instant,
    spans: Mutex<Vec<Span>>,
}

impl Ended {
    /// Nanoseconds since the start.
    fn nanoseconds(&self) -> u128 {
        now().saturating_duration_since(self.start).as_nanos()
    }

    fn spans(&self) -> MutexGuard<'_, Vec<Span>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A span that has ended; times in nanoseconds since the start.
struct Span {
    name: &'static str,
    category: &'static str,
    start: u128,
    end: u128,
    fields: Fields,
}

impl Span {
    /// A complete event; times in microseconds, as the format wants them.
    fn json(self) -> Value {
        let microseconds = |nanoseconds: u128| nanoseconds as f64 / 1000.0;
        let Fields { rank, others } = self.fields;
        json!({
            "name": self.name, "cat": self.category, "ph": "X", "pid": 1, "tid": rank,
            "ts": microseconds(self.start), "dur": microseconds(self.end - self.start), "args": others,
        })
    }
}

/// The fields of a span. Its lane is that of its rank, whatever the thread; a span without rank is in
/// the lane of the span around it.
#[derive(Clone, Default)]
struct Fields {
    rank: u64,
    others: Map<String, Value>,
}

impl Fields {
    fn keep(&mut self, field: &Field, value: impl Into<Value>) {
        self.others.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "rank" {
            self.rank = value;
        }
        self.keep(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.keep(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.keep(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.keep(field, format!("{value:?}"));
    }
}

/// When a span was entered, in nanoseconds since the start.
struct Entered(u128);

/// Notes the times of spans.
struct Lanes(Arc<Ended>);

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lanes {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let around = span.parent().and_then(|parent| {
            parent.extensions().get::<Fields>().map(|fields: &Fields| fields.rank)
        });
        let mut fields = Fields { rank: around.unwrap_or(0), others: Map::new() };
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        span.extensions_mut().replace(Entered(self.0.nanoseconds()));
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let end = self.0.nanoseconds();
        let Some(span) = context.span(id) else { return };
        let extensions = span.extensions();
        let (Some(Entered(start)), Some(fields)) =
            (extensions.get::<Entered>(), extensions.get::<Fields>())
        else {
            return;
        };
        let (name, category) = (span.name(), span.metadata().target());
        let ended = Span { name, category, start: *start, end, fields: fields.clone() };
        self.0.spans().push(ended);
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a trace says when things happened, and decides nothing"
)]
fn now() -> Instant {
    Instant::now()
}

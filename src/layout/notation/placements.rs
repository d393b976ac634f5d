//! Reads placements, lists of them, and the laws by which axes cut.

use std::str::FromStr;
use std::sync::Arc;

use super::{Cursor, ParseLayoutError};
use crate::base::{ParseReductionError, Reduction};
use crate::layout::{CutRule, Placement, Placements, Rule};

impl FromStr for Placement {
    type Err = ParseLayoutError;

    fn from_str(text: &str) -> Result<Self, ParseLayoutError> {
        let mut cursor = Cursor::new(text);
        let placement = cursor.placement()?;
        cursor.expect_end("nothing")?;
        Ok(placement)
    }
}

impl FromStr for Placements {
    type Err = ParseLayoutError;

    fn from_str(text: &str) -> Result<Self, ParseLayoutError> {
        Cursor::new(text).placements().map(Self::from)
    }
}

impl Cursor<'_> {
    /// `S(0), R`, up to the end; no text is no placement.
    pub(super) fn placements(&mut self) -> Result<Vec<Placement>, ParseLayoutError> {
        let mut list = Vec::new();
        if self.peek().is_none() {
            return Ok(list);
        }
        list.push(self.placement()?);
        while self.eat(',') {
            list.push(self.placement()?);
        }
        self.expect_end("`,`")?;
        Ok(list)
    }

    /// `S(0; unit=64)`, `R`, `P(sum)` or `P`
    pub(super) fn placement(&mut self) -> Result<Placement, ParseLayoutError> {
        let start = self.start();
        match self.name() {
            Some("R") => Ok(Placement::Replicate),
            Some("S") => {
                self.expect('(', "`(` and a dim")?;
                let dim = self.integer()?;
                let rule = if self.eat(';') { self.rule()? } else { CutRule::chunk() };
                self.expect(')', "`;` or `)`")?;
                Ok(rule.on(dim))
            }
            Some("P") => {
                let mut reduction = Reduction::Sum;
                if self.eat('(') {
                    reduction = self.reduction()?;
                    self.expect(')', "`)`")?;
                }
                Ok(Placement::Partial(reduction))
            }
            Some(_) | None => {
                Err(self.expected_at(start, "a placement: `S(dim)`, `R` or `P(reduction)`"))
            }
        }
    }

    pub(super) fn reduction(&mut self) -> Result<Reduction, ParseLayoutError> {
        let start = self.start();
        let name = self.name().ok_or_else(|| self.expected("a reduction"))?;
        name.parse()
            .map_err(|unknown: ParseReductionError| self.error_at(start, unknown.to_string()))
    }

    /// `seg=8,4,4; unit=2` or `seg=4,4; sizes=3,1/2,2`, in any order
    pub(super) fn rule(&mut self) -> Result<CutRule, ParseLayoutError> {
        let mut segments: Option<Arc<[usize]>> = None;
        let mut rule = None;
        loop {
            let start = self.start();
            match self.name() {
                Some("seg") if segments.is_none() => {
                    self.expect('=', "`=`")?;
                    segments = Some(self.numbers()?.into());
                }
                Some("unit") if rule.is_none() => {
                    self.expect('=', "`=`")?;
                    rule = Some(Rule::Unit(self.number()?));
                }
                Some("sizes") if rule.is_none() => {
                    self.expect('=', "`=`")?;
                    rule = Some(Rule::Sizes(self.rows()?));
                }
                Some("seg") => return Err(self.error_at(start, "`seg` is given twice".to_owned())),
                Some("unit" | "sizes") => {
                    let message = "`unit` or `sizes` is given already; a cut has one of them";
                    return Err(self.error_at(start, message.to_owned()));
                }
                Some(_) | None => {
                    return Err(self.expected_at(start, "`seg=`, `unit=` or `sizes=`"));
                }
            }
            if !self.eat(';') {
                return Ok(CutRule::from_parts(segments, rule.unwrap_or(Rule::Unit(1))));
            }
        }
    }

    fn rows(&mut self) -> Result<Arc<[Arc<[usize]>]>, ParseLayoutError> {
        let mut rows = vec![Arc::from(self.numbers()?)];
        while self.eat('/') {
            rows.push(Arc::from(self.numbers()?));
        }
        Ok(rows.into())
    }
}

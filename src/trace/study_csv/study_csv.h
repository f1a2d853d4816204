// The tables that the reference studies GDEV-AI and DEEP-GAP publish, and `deepgap export --columns gdev-ai`
// or `deep-gap` writes: a row a run of a cell, its figures and its machine.
//
//   timestamp_utc,device,sweep_id,repeat_id,model,batch_size,threads,iters,warmup_iters,median_ms,...
//
// Rows of one model, batch, device, thread count, machine and version are one measurement, whatever their
// order; each row's figures are reported values of one run. No samples stand behind them, so that they have
// no intervals. Neither precision nor engine is a column: fp32 and, where there is a torch version, torch are
// taken, and a diagnostic says so, unless the options name others.
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& study_csv_importer();

}  // namespace deepgap::trace

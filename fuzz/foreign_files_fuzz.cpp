#include <cstdio>

#include "base/text.h"
#include "example_store.h"
#include "session/foreign_file.h"
#include "session/import.h"
#include "target.h"
#include "trace/csv.h"

namespace deepgap::fuzz {
namespace {

void check(const trace::FileContent& content) {
  for (const Measurement& measurement : content.measurements) {
    require(!measurement.id.empty(), "what is imported has an id");
    for (const Diagnostic& doubt : measurement.diagnostics)
      require(!doubt.text.empty(), "a doubt has a text");
  }
}

void read_as_csv(const std::string& path) {
  auto source = trace::ByteSource::open(path);
  if (!checked(source)) return;
  trace::CsvReader reader(*source);
  std::vector<std::string> fields;
  for (;;) {
    const auto more = reader.next(fields);
    if (!checked(more) || !*more) return;
    require(!fields.empty(), "a record has a field");
  }
}

void survive(std::string_view input) {
  const std::string path = scratch_file("foreign");
  write_scratch(path, input);
  read_as_csv(path);
  // Each importer, also those that would not take it for theirs.
  for (const trace::Importer* importer : trace::importers()) {
    auto source = trace::ByteSource::open(path);
    if (!checked(source)) continue;
    (void)importer->sniff(source->head(), source->size());
    if (const auto content = importer->import(*source, {}); checked(content)) check(*content);
  }
  if (const auto shown = session::show_file(path); checked(shown)) require_document(shown->document);
}

std::vector<Seed> seeds() {
  const std::string study =
      "timestamp_utc,device,sweep_id,repeat_id,model,batch_size,threads,iters,warmup_iters,median_ms,mean_ms,"
      "std_latency_ms,p99_latency_ms,throughput_ips,hostname,os,kernel,arch,cpu_model,cpu_sockets,"
      "cpu_cores_per_socket,cpu_threads_per_core,cpu_logical_cpus,mem_total_mb,python_version,torch_version,"
      "cuda_available,torchvision_version";
  const std::string row =
      "2025-11-30T10:53:20Z,cpu,1,1,resnet18,8,2,100,20,12.5,12.7,0.4,14.1,640,bench-3,Linux,6.1,x86_64,"
      "\"Xeon, \"\"old\"\"\",1,2,1,2,8000,3.11,2.1,False,0.16";
  return {{"study", study + "\n" + row + "\n"},
          {"deep_gap", study + ",gpu_peak_mem_mb\r\n" + row + ",412.5\r\n" + row + ",\r\n"},
          {"quotes", "a,b\n\"x\ny\",\"\"\"\"\n"},
          {"html", "<!DOCTYPE html>"}};
}

}  // namespace

const Target kForeignFiles{"foreign_files", "results of other tools", survive, seeds};

}  // namespace deepgap::fuzz

#include "import_seeds.h"

#include <sqlite3.h>

#include <cstdio>

#include "base/file_system.h"
#include "example_store.h"

namespace deepgap::fuzz {

std::vector<Seed> dcgm_seeds() {
  const std::string dmon =
      "#Entity   GPUTL             POWER             DVCCTR      SMACT\n"
      "ID                          W\n"
      "GPU 0     98                305.312           4           0.912\n"
      "GPU-I 3   N/A               35.1              0           0.000\n";
  const std::string answer =
      "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-aa\",modelName=\"NVIDIA H200\",Hostname=\"a\\\"b\"} 98\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-bb\",GPU_I_ID=\"2\"} 9223372036854775794\n"
      "DCGM_FI_PROF_DRAM_ACTIVE{gpu=\"0\",UUID=\"GPU-aa\"} 5.5e-01\n";
  return {{"dmon", dmon + dmon + "\n\ndmon was stopped do to receiving a signal\n"},
          {"answers", answer + answer},
          {"times",
           "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 5 1749774472195\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} NaN 1\n"},
          {"old", "dcgm_gpu_temp{gpu=\"0\",uuid=\"GPU-aa\"} 25\ndcgm_gpu_temp{gpu=\"0"}};
}

std::vector<Seed> kineto_seeds() {
  const std::string events =
      R"json({"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100.5},
{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":1,"dur":20,"args":{"External id":1,"Input Dims":[[1,2]],"Input type":["float"]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":5.25,"dur":4,"args":{"correlation":7,"External id":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":15,"dur":30,"args":{"device":0,"stream":7,"correlation":7,"grid":[1,2,3],"block":[32,1,1]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":25,"dur":30,"args":{"correlation":8}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":2,"args":{"Bytes":512,"Device Type":1,"Device Id":0}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":60,"dur":25,"args":{"device":0,"bytes":64}},
{"ph":"B","cat":"cpu_op","name":"b","pid":1,"tid":2,"ts":70},{"ph":"E","pid":1,"tid":2,"ts":80},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}})json";
  const std::string object =
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU","numSms":4,"computeMajor":9,"computeMinor":0}],
"baseTimeNanoseconds":1700000000000000000,"traceEvents":[)";
  return {{"object", object + events + "]}"},
          {"list", "[" + events + "]"},
          {"cut", object + events.substr(0, 700)},
          {"repeated", "[" + events + "," + events + "," + events + "]"},
          {"damaged",
           "\xEF\xBB\xBF[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"C:\\Users\\\x01\",\"ts\":NaN,},"
           "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":\"1e3\",\"dur\":-Infinity}, 3, [[{}]],]"}};
}

std::vector<Seed> loadgen_summary_seeds() {
  return {{"server",
           "MLPerf Results Summary\nSUT name : a\nScenario : Server\nMode     : PerformanceOnly\n"
           "Scheduled samples per second : 100.5\nResult is : INVALID\n  Min duration satisfied : NO\n"
           "Completed samples per second    : 99.25\nMean latency (ns)               : 1000\n"
           "99.90 percentile latency (ns)   : 9000\nsamples_per_query : 8\ntarget_latency (ns): 1500\n"
           "2 warnings encountered. See detailed log.\nNo errors encountered during test.\n"},
          {"accuracy", "No warnings encountered during test.\r\nNo errors encountered during test.\r\n"}};
}

std::vector<Seed> loadgen_detail_seeds() {
  return {{"log",
           ":::MLLOG {\"key\": \"effective_scenario\", \"value\": \"Offline\", \"metadata\": {\"is_error\": "
           "true}}\n"
           ":::MLLOG {\"key\": \"result_samples_per_second\", \"value\": 6121.33}\n"
           ":::MLLOG {\"key\": \"test_datetime\", \"value\": \"2023-02-28T21:24:13Z\"}\n"
           ":::MLLOG {\"key\": \"result_validity\", \"value\": \"VALID\"}\n"},
          {"old", "\"pid\": 1, \"tid\": 1, \"ts\": 20ns : Scenario : Offline\n"}};
}

std::vector<Seed> ncu_csv_seeds() {
  return {
      {"long",
       "==PROF== Connected\n\"ID\",\"Process ID\",\"Kernel Name\",\"Stream\",\"Device\",\"Metric "
       "Name\",\"Metric "
       "Unit\",\"Metric "
       "Value\"\n\"0\",\"7\",\"ampere_sgemm_128x64_tn\",\"13\",\"0\",\"gpu__time_duration.sum\","
       "\"usecond\",\"1,234.5\"\n==WARNING== x\n\"1\",\"7\",\"b\",\"13\",\"0\",\"Duration\",\"ns\",\"7\"\n"},
      {"wide",
       "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"msecond\"\n\"0\",\"a\",\"0.5\"\n"},
      {"failed", "==PROF== Connected\r\n==ERROR== The application returned an error.\r\n"}};
}

std::vector<Seed> nsys_sqlite_seeds() {
  const std::string path = scratch_file("report.sqlite");
  std::remove(path.c_str());
  sqlite3* connection = nullptr;
  require(sqlite3_open(path.c_str(), &connection) == SQLITE_OK, "a seed can be made");
  const char* const kTables =
      "PRAGMA page_size = 512; CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'gemm'), (3, 'cudaLaunchKernel_v7000');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, streamId, correlationId, "
      "globalPid, demangledName);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 5000, 1, 7, 9, 83886080, 1), (6000, 6500, 1, 7, "
      "10, 83886080, 1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, streamId, copyKind, srcKind, "
      "dstKind, bytes);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (7000, 7500, 1, 7, 1, 0, 2, 4096);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", globalTid, correlationId, nameId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1500, 83886088, 9, 3);"
      "CREATE TABLE NVTX_EVENTS (start, \"end\", eventType, globalTid, text);"
      "INSERT INTO NVTX_EVENTS VALUES (600, 1600, 59, 83886088, 'aten::linear, op_id = 12, sizes = [[16, "
      "8]]');";
  require(sqlite3_exec(connection, kTables, nullptr, nullptr, nullptr) == SQLITE_OK, "a seed can be filled");
  sqlite3_close(connection);
  return {{"small", RootedFileSystem().read(path).value()}};
}

std::vector<Seed> nsys_stats_seeds() {
  return {{"summary",
           " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\nTime (%),Total Time (ns),Instances,Med "
           "(ns),Name\n"
           "60.0,1200,4,290.0,\"void k<4, int>(int)\"\n\nTime(%),Total Time (us),Num "
           "Calls,Name\n1,2.5,5,cudaMalloc\n"},
          {"list",
           "Start (ns),Duration (ns),CorrId,GrdX,BlkX,Device,Strm,Name\n1000,500,1,64,256,NVIDIA H200 "
           "(0),7,gemm\n"
           "1600,100,2,,,NVIDIA H200 (0),13,[CUDA memcpy HtoD]\n"}};
}

std::vector<Seed> openvino_report_seeds() {
  const std::string folder = "tests/data/traces/openvino/";
  return {{"csv", source_file(folder + "report.csv")}, {"json", source_file(folder + "report.json")}};
}

std::vector<Seed> openvino_counters_seeds() {
  const std::string folder = "tests/data/traces/openvino/";
  return {{"csv", source_file(folder + "average_counters.csv")},
          {"average", source_file(folder + "average_counters.json")},
          {"detailed", source_file(folder + "detailed_counters.json").substr(0, 3000)}};
}

std::vector<Seed> ort_profile_seeds() {
  return {
      {"run",
       "[\n{\"cat\" : \"Session\",\"pid\" :6,\"tid\" :6,\"dur\" :100,\"ts\" :2,\"ph\" : \"X\",\"name\" "
       ":\"model_run\","
       "\"args\" : {}},\n{\"cat\" : \"Node\",\"pid\" :6,\"tid\" :6,\"dur\" :60,\"ts\" :10,\"ph\" : "
       "\"X\",\"name\" "
       ":\"a_kernel_time\",\"args\" : {\"op_name\" : \"Conv\",\"provider\" : \"CPUExecutionProvider\","
       "\"input_type_shape\" : [{\"float\":[1,3,8,8]},{\"float\":[4,3,3,3]}]}},\n{\"cat\" : "
       "\"Kernel\",\"pid\" :6,\"tid\" "
       ":6,\"dur\" :5,\"ts\" :20,\"ph\" : \"X\",\"name\" :\"gemm\",\"args\" : {\"stream\" : \"13\"}}\n]\n"}};
}

std::vector<Seed> perf_analyzer_seeds() {
  return {{"devices",
           "Concurrency,Inferences/Second,Client Send,Server Queue,p50 latency,p99 latency,Avg latency,"
           "Avg GPU Utilization\n2,5868.79,4,31,322,598,339,GPU-8557549f:0.045;GPU-1:1e3;,\n"},
          {"rates", "Request Rate,Inferences/Second,Client Send\n12.5,100,\n"}};
}

std::vector<Seed> nvidia_smi_csv_seeds() {
  const std::string names =
      "timestamp, index, uuid, name, pstate, utilization.gpu [%], memory.used [MiB], power.draw [W], "
      "clocks.current.sm [MHz], clocks_event_reasons.active, clocks_event_reasons.sw_power_cap, "
      "ecc.errors.corrected.volatile.total, driver_version\n";
  const std::string row =
      ", 0, GPU-aa, NVIDIA H200, P0, 98 %, 841 MiB, 33.09 W, 1980 MHz, 0x0000000000000005, Active, 0, "
      "580.1\n";
  return {{"query", names + "2025/06/13 00:27:52.195" + row + "2025/06/13 00:27:53.195" + row},
          {"back_and_twice",
           names + "2025-06-13T00:27:53+02:00" + row + "1749774472.5" + row + "1749774472.5" + row},
          {"without_names", "2026/04/25 16:06:06.780, 0 %, 2 MiB, 27, 11.64 W, P8\n"},
          {"without_times", "power.draw [W], fan.speed [%]\n33.09 W, [N/A]\nERR!, [Unknown Error]\n5"}};
}

std::vector<Seed> nvidia_smi_dmon_seeds() {
  const std::string dated =
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm   pclk  pviol  tviol     fb  rxpci\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %    MHz      %   bool     MB   MB/s\n"
      " 20250613   00:27:52      0     71     31      -     98   1980      5      1    841   116\n"
      " 20250613   00:27:52      1     72     32     40      0    345      0      0      0     0\n";
  return {{"dated", dated + dated},
          {"clock",
           "#Time         gpu    pwr\n#HH:MM:SS     Idx      W\n 23:59:58   0  130\n 00:00:01   0  140\n"},
          {"csv", "#gpu, pwr, x\n#Idx, W, %\n0, 71, -\n0, ERR!, 1\n0"},
          {"processes", "# gpu        pid  type    sm   command\n# Idx          #   C/G     %   name\n"}};
}

std::vector<Seed> study_csv_seeds() {
  const std::string study =
      "timestamp_utc,device,sweep_id,repeat_id,model,batch_size,threads,iters,warmup_iters,median_ms,mean_"
      "ms,"
      "std_latency_ms,p99_latency_ms,throughput_ips,hostname,os,kernel,arch,cpu_model,cpu_sockets,"
      "cpu_cores_per_socket,cpu_threads_per_core,cpu_logical_cpus,mem_total_mb,python_version,torch_"
      "version,"
      "cuda_available,torchvision_version";
  const std::string row =
      "2025-11-30T10:53:20Z,cpu,1,1,resnet18,8,2,100,20,12.5,12.7,0.4,14.1,640,bench-3,Linux,6.1,x86_64,"
      "\"Xeon, \"\"old\"\"\",1,2,1,2,8000,3.11,2.1,False,0.16";
  return {{"study", study + "\n" + row + "\n"},
          {"deep_gap", study + ",gpu_peak_mem_mb\r\n" + row + ",412.5\r\n" + row + ",\r\n"},
          {"quotes", "a,b\n\"x\ny\",\"\"\"\"\n"},
          {"html", "<!DOCTYPE html>"}};
}

std::vector<Seed> trtexec_times_seeds() {
  return {{"times",
           "[\n  { \"startEnqMs\" : 3.78918, \"endEnqMs\" : 3.82194, \"startH2dMs\" : 3.68333, "
           "\"computeMs\" : 1.93843, "
           "\"latencyMs\" : 2.9 }\n, { \"startInMs\" : 1, \"latencyMs\" : 0.5 }\n]\n[{\"startInMs\": 5, "
           "\"latencyMs\": 2}]"}};
}

std::vector<Seed> trtexec_profile_seeds() {
  return {{"profile",
           "[\n  { \"count\" : 4 }\n, { \"name\" : \"Conv_0\", \"timeMs\" : 8, \"averageMs\" : 2, "
           "\"medianMs\" : 1.5, "
           "\"percentage\" : 80 }\n, { \"name\" : \"b\", \"timeMs\" : 0, \"averageMs\" : 0, \"percentage\" "
           ": 20 }\n]"}};
}

std::vector<Seed> trtexec_layers_seeds() {
  return {
      {"layers",
       R"({"Layers": [{"Name": "a", "LayerType": "CaskConvolution", "Inputs": [{"Dimensions": [1,2],"Format/Datatype": "FP16"}],
"ParameterType": "Convolution", "TacticName": "sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc", "TacticValue": "0x1"},
"plain"], "Bindings": ["x"]})"}};
}

std::vector<Seed> trtexec_summary_seeds() {
  return {
      {"summary",
       R"({"performance_summary": {"Throughput": 1155.36, "Latency": [0.85, 0.87, 0.86, 0.86, 0.87]}, "inference_options":
{"Input inference shape": "input.1=32x3x224x224", "Streams": "1"}, "device_information": {"Selected Device": "NVIDIA A100"}})"}};
}

}  // namespace deepgap::fuzz

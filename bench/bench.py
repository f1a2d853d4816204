#!/usr/bin/env python3
"""deepgap's own speed, side by side with its peers, as one table.

    make bench                                  all of it, some 45 minutes
    bench/bench.py build/release --only start,list

Each row is a figure, its bound and how it was taken. Peers are run interleaved with deepgap in the same minutes (A B A B ...),
and the ratio is the median over pairs with a 95 % bootstrap interval. Nothing here is a test: machines differ and are noisy.
"""
import argparse
import array
import fcntl
import gzip
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts")

# benchmark_app as its wheel's entry point calls it; the module itself does nothing when it is run.
BENCHMARK_APP = "import sys; from openvino.tools.benchmark.main import main; sys.exit(main())"

# How long the fake engine's calls keep busy where its worker is measured.
PLANTED_NS = 2000


def median_interval(values, seed=1, draws=4000):
    """Median with a percentile-bootstrap 95 % interval."""
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(draws))
    return statistics.median(values), medians[int(draws * 0.025)], medians[int(draws * 0.975)]


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode not in (0, 4):
        raise SystemExit("%s\nended with %d:\n%s" % (" ".join(command), done.returncode, done.stderr[-3000:]))
    return done.stdout


def timed(command):
    """Wall seconds and peak resident bytes of one run."""
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit("%s ended with %d" % (" ".join(command), child.returncode))
    return time.monotonic() - began, usage.ru_maxrss * 1024


# What HolisticTraceAnalysis does before any of its analyses.
HTA = """
import sys
from hta.common.trace import Trace
trace = Trace(trace_files={0: sys.argv[1]}, trace_dir="")
trace.parse_traces(use_multiprocessing=False)
"""


def repeated_trace(fixture, path, size):
    """The fixture's events again and again, until the file has `size` bytes."""
    with gzip.open(fixture, "rt", encoding="utf-8") as file:
        text = file.read()
    begin = text.index('"traceEvents": [') + len('"traceEvents": [')
    end = text.rindex("]")
    events = text[begin:end].strip()
    times = max(1, size // len(events))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:begin] + "\n")
        for _ in range(times - 1):  # not as one text: a child's peak begins with what this process holds
            file.write(events + ",\n")
        file.write(events + "\n" + text[end:])
    return os.path.getsize(path)


class Worker:
    """A worker program, spoken to as docs/worker-protocol.md says."""

    def __init__(self, program):
        requests, self.out = os.pipe()
        back, replies = os.pipe()
        # Out of the way of 3 and 4 first: an end of a pipe may itself be one of them.
        requests, replies = (self.moved(each) for each in (requests, replies))
        self.process = os.posix_spawn(program, [program], os.environ, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_DUP2, requests, 3), (os.POSIX_SPAWN_DUP2, replies, 4)])
        os.close(requests)
        os.close(replies)
        self.input = os.fdopen(back, "rb")
        self.count = 0

    @staticmethod
    def moved(descriptor):
        copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(descriptor)
        return copy

    def ask(self, verb, **members):
        """The reply and its columns of whole numbers; progress is passed over."""
        self.count += 1
        os.write(self.out, json.dumps({"id": self.count, "verb": verb, **members}).encode() + b"\n")
        while True:
            reply = json.loads(self.input.readline())
            columns = {blob["name"]: array.array("q", self.input.read(8 * blob["count"])) for blob in reply.get("blobs", [])}
            if "event" in reply:
                continue
            if not reply["ok"]:
                raise SystemExit("%s: %s" % (verb, reply["error"]["message"]))
            return reply, columns

    def close(self):
        self.ask("exit")
        os.close(self.out)
        self.input.close()
        os.waitpid(self.process, 0)


class Bench:
    def __init__(self, build, pairs, seconds):
        self.build = os.path.abspath(build)
        self.deepgap = os.path.join(self.build, "deepgap")
        self.pairs = pairs
        self.seconds = seconds
        self.folder = tempfile.mkdtemp(prefix="deepgap-bench-")
        self.rows = []

    def row(self, figure, value, bound, method):
        self.rows.append((figure, value, bound, method))
        print("%-58s %-34s %-18s %s" % (figure, value, bound, method), flush=True)

    # --- the loop around a timed call
    def overhead(self):
        program = os.path.join(self.build, "deepgap_bench_loop_overhead")
        out = json.loads(run([program, "--benchmark_format=json", "--benchmark_repetitions=5"]))
        for entry in out["benchmarks"]:
            if entry.get("aggregate_name") != "median":
                continue
            # Each program counts calls as items, so that one iteration may be a whole loop of them.
            rate = entry.get("items_per_second")
            ns = 1e9 / rate if rate else entry["real_time"]
            self.row("measuring loop, %s" % entry["run_name"].split("/")[0], "%.0f ns a call" % ns, "<= 250 ns",
                     "in one process, an engine that does nothing; median of 5 repetitions")
        for mode in ("latency", "throughput"):
            self.overhead_of_fake(mode)
        self.overhead_of_fake("latency", with_rule=True)

    # The worker's process as deepgap runs it. Its engine keeps busy for a planted time on each call; whatever else passes from one
    # start to the next is the loop's and the fake engine's own (drawing the time, seeing that it is over).
    def overhead_of_fake(self, mode, with_rule=False):
        calls, limit = 200_000, {"time_limit_ns": 600 * 10**9}
        # A rule that never finds its target, or none.
        stop = dict(limit, target=-1, min_ns=0, max_samples=calls) if with_rule else dict(limit, fixed_count=calls)
        typical, mean, outside = [], [], []
        for _ in range(5):
            worker = Worker(os.path.join(self.build, "deepgap-worker-fake"))
            worker.ask("hello", protocol=1)
            worker.ask("load", model={"path": "none.onnx"}, device="cpu", precision="fp32", mode=mode, batch=1, inputs=[], in_flight=1,
                       settings={"fake.median": "%dns" % PLANTED_NS, "fake.distribution": "constant"})
            _, columns = worker.ask("measure", mode=mode, warmup={"fixed_calls": 100}, stop=stop, in_flight=1)
            worker.close()
            starts, times = columns["start_ns"], columns["host_ns"]
            if len(starts) != calls:
                raise SystemExit("expected %d samples, found %d" % (calls, len(starts)))
            steps = [after - before for before, after in zip(starts, starts[1:])]
            typical.append(statistics.median(steps) - PLANTED_NS)
            mean.append(statistics.mean(steps) - PLANTED_NS)
            outside.append(statistics.median(step - time for step, time in zip(steps, times)))
        self.row("  fake worker, %s%s" % (mode, " with rule" if with_rule else ""),
                 "%.0f ns a call, mean %.0f" % (statistics.median(typical), statistics.median(mean)), "<= 250 ns",
                 "median from start to start less the %d ns planted, the fake engine's own in it; %.0f ns outside the stamps%s; median of 5 "
                 "processes of %d calls" % (PLANTED_NS, statistics.median(outside), "; the mean holds the rule's looks" if with_rule else "", calls))

    # --- start-up
    def start(self):
        times = []
        for _ in range(60):
            times.append(timed([self.deepgap, "--version"])[0])
        median, low, high = median_interval(times)
        self.row("deepgap --version", "%.1f ms [%.1f, %.1f]" % (median * 1e3, low * 1e3, high * 1e3), "<= 15 ms", "60 processes, wall")

    # --- list over a large store
    def list(self):
        store = os.path.join(self.folder, "large.db")
        run([os.path.join(self.build, "deepgap_bench_make_store"), store, "10000", "200"])
        times, peaks = [], []
        for _ in range(15):
            seconds, peak = timed([self.deepgap, "list", "--db", store])
            times.append(seconds)
            peaks.append(peak)
        median, low, high = median_interval(times)
        self.row("deepgap list, 10,000 cells of 200 samples", "%.0f ms [%.0f, %.0f]" % (median * 1e3, low * 1e3, high * 1e3),
                 "<= 150 ms", "15 processes, wall")
        self.row("  its memory", "%.1f MiB" % (max(peaks) / 2**20), "<= 64 MiB", "largest peak of 15")

    # --- the same model by benchmark_app of the same wheel, which has one input for all calls
    def deepgap_median(self, batch, threads):
        store = os.path.join(self.folder, "pair.db")
        if os.path.exists(store):
            for suffix in ("", "-wal", "-shm"):
                if os.path.exists(store + suffix):
                    os.remove(store + suffix)
        out = run([self.deepgap, "run", "resnet50", "--engine", "openvino", "--batch", str(batch), "--mode", "latency", "--threads",
                   str(threads), "--set", "cpu.streams=1", "--input-buffers", "1", "--repeats", "1", "--time-limit", "%ds" % self.seconds, "--target", "0.01%",
                   "--db", store, "--format", "json", "-q"])
        return json.loads(out)["cells"][0]["latency"]["value"] / 1e6

    def benchmark_app_median(self, python, model, batch, threads):
        out = run([*python, "-c", BENCHMARK_APP, "-m", model, "-d", "CPU", "-api", "sync", "-nthreads", str(threads),
                   "-nstreams", "1", "-t", str(self.seconds), "-infer_precision", "f32", "-hint", "none", "-shape",
                   "[%d,3,224,224]" % batch])
        found = re.search(r"Median:\s+([0-9.]+) ms", out)
        if not found:
            raise SystemExit("benchmark_app printed no median:\n" + out[-2000:])
        return float(found.group(1))

    def peer(self):
        python = run([os.path.join(SCRIPTS, "fetch-openvino.sh"), "--python"]).split()
        cache = run([os.path.join(SCRIPTS, "cache-folder.sh")]).strip()
        self.deepgap_median(1, 2)  # makes the model's file
        models = [name for name in os.listdir(os.path.join(cache, "models")) if name.startswith("resnet50") and name.endswith(".onnx")]
        model = os.path.join(cache, "models", sorted(models)[-1])
        threads = len(os.sched_getaffinity(0))
        for batch in (1, 8):
            ratios, ours, theirs = [], [], []
            for pair in range(self.pairs):
                if pair % 2 == 0:
                    a = self.deepgap_median(batch, threads)
                    b = self.benchmark_app_median(python, model, batch, threads)
                else:
                    b = self.benchmark_app_median(python, model, batch, threads)
                    a = self.deepgap_median(batch, threads)
                ours.append(a)
                theirs.append(b)
                ratios.append(a / b)
            median, low, high = median_interval(ratios)
            self.row("openvino resnet50 batch %d, deepgap / benchmark_app" % batch, "%.4f [%.4f, %.4f]" % (median, low, high),
                     "0.98 .. 1.02", "%d interleaved pairs of %d s, %d threads; medians %.2f and %.2f ms" % (
                         self.pairs, self.seconds, threads, statistics.median(ours), statistics.median(theirs)))

    # --- a trace: deepgap's whole verb against the reading alone of HolisticTraceAnalysis; a gigabyte for deepgap only
    def trace(self):
        fixture = os.path.join(SCRIPTS, "..", "tests", "data", "traces", "kineto", "bert_small.pt.trace.json.gz")
        hta = run([os.path.join(SCRIPTS, "fetch-hta.sh"), "--python"]).strip()
        small = os.path.join(self.folder, "small.json")
        size = repeated_trace(fixture, small, 125 * 10**6)
        ratios, ours, theirs, peaks = [], [], [], ([], [])
        for _ in range(3):
            a, mine = timed([self.deepgap, "trace", small])
            b, other = timed([hta, "-c", HTA, small])
            ours.append(size / a / 1e6)
            theirs.append(size / b / 1e6)
            ratios.append(b / a)
            peaks[0].append(mine)
            peaks[1].append(other)
        self.row("trace of %.0f MB, times as fast as HolisticTraceAnalysis" % (size / 1e6), "%.0f [%.0f, %.0f]" % (
            statistics.median(ratios), min(ratios), max(ratios)), ">= 20", "3 interleaved pairs; %.0f and %.1f MB/s, %.0f and %.0f MiB" % (
                statistics.median(ours), statistics.median(theirs), max(peaks[0]) / 2**20, max(peaks[1]) / 2**20))
        os.remove(small)
        large = os.path.join(self.folder, "large.json")
        size = repeated_trace(fixture, large, 10**9)
        kept = json.loads(run([self.deepgap, "trace", large, "--format", "json"]))["events"]["kept"]
        runs = [timed([self.deepgap, "trace", large]) for _ in range(5)]
        seconds = [each for each, _ in runs]
        median, low, high = median_interval(seconds)
        self.row("trace of %.0f MB" % (size / 1e6), "%.0f MB/s [%.0f, %.0f]" % (size / median / 1e6, size / high / 1e6, size / low / 1e6),
                 ">= 250 MB/s", "5 processes, wall, verdict and labels included")
        self.row("  its memory", "%.0f MiB" % (max(peak for _, peak in runs) / 2**20), "<= %.0f MiB" % (64 + 96 * kept / 2**20),
                 "64 MiB and 96 bytes for each of %d events kept" % kept)
        os.remove(large)
        # json holds the whole file: the small one is enough.
        size = repeated_trace(fixture, small, 125 * 10**6)
        packed = small + ".gz"
        run(["gzip", "-1", "-k", small])
        ours, raw, alone, both = [], [], [], []
        for _ in range(5):
            ours.append(size / timed([self.deepgap, "trace", packed])[0] / 1e6)
            raw.append(size / timed([self.deepgap, "trace", small])[0] / 1e6)
            alone.append(size / timed([sys.executable, "-c", "import gzip, sys\nwith gzip.open(sys.argv[1]) as file:\n"
                                       "    while file.read(1 << 20): pass", packed])[0] / 1e6)
            both.append(size / timed([sys.executable, "-c", "import gzip, json, sys\njson.load(gzip.open(sys.argv[1]))", packed])[0] / 1e6)
        self.row("compressed trace of %.0f MB, compressed / raw" % (size / 1e6), "%.2f" % statistics.median(a / b for a, b in zip(ours, raw)), "",
                 "%.0f MB/s; Python's gzip with json %.0f MB/s, without doing anything with it %.0f MB/s" % (
                     statistics.median(ours), statistics.median(both), statistics.median(alone)))

    # --- the studies' protocol against the stopping rule: rule, published, rule, so that a machine that drifts steadily
    # shifts both alike. The fake engine's planted times say what the two can agree to where the machine holds still.
    def preset(self):
        self.preset_of("fake", ["resnet18", "--set", "fake.median=5ms", "--set", "fake.noise=0.03", "--set",
                                "fake.process_noise=0.003"])
        self.preset_of("openvino", ["resnet18,resnet50"])

    def preset_of(self, engine, what):
        grid = ["--preset", "gdev-ai", "--engine", engine, *what, "--batch", "1,2"]
        results = []
        for name, extra in (("rule", []), ("published", ["--like-published"]), ("rule again", [])):
            store = os.path.join(self.folder, engine + "-" + name.replace(" ", "-") + ".db")
            began = time.monotonic()
            out = run([self.deepgap, "run", *grid, *extra, "--db", store, "--format", "json", "-q"])
            seconds = time.monotonic() - began
            results.append((seconds, {(c["model"], c["batch"]): c for c in json.loads(out)["cells"]}))
        (first_s, first), (published_s, published), (second_s, second) = results
        rule_s = (first_s + second_s) / 2
        self.row("gdev-ai on %s, %d cells: rule / published time" % (engine, len(published)), "%.3f (%.0f s / %.0f s)" % (
            rule_s / published_s, rule_s, published_s), "<= 0.2", "rule, published, rule; loads included")
        for key in sorted(published):
            values = [cells[key]["latency"]["value"] for cells in (first, second)]
            a, b = first[key]["latency"], published[key]["latency"]
            width = (a["upper"] - a["lower"]) / 2 / a["value"] if "upper" in a and "lower" in a else float("nan")
            self.row("  %s batch %d, median rule / published" % key, "%.4f" % (statistics.mean(values) / b["value"]), "0.98 .. 1.02",
                     "rule: %d processes, interval +-%.2f %%; its two runs differ by %.2f %%" % (
                         first[key]["processes"], width * 100, abs(values[1] / values[0] - 1) * 100))

    # --- the core with its tests from nothing, the libraries built from source (ONNX) and the compiler cache left out
    def build_cold(self):
        folder = os.path.join(self.folder, "cold")
        environment = dict(os.environ, CCACHE_DISABLE="1")
        source = os.path.join(SCRIPTS, "..")
        run(["cmake", "--preset", "release", "-B", folder, "-DDEEPGAP_TESTS=ON"], cwd=source, env=environment)
        before = os.times()
        began = time.monotonic()
        run(["ninja", "-C", folder], env=environment)
        seconds = time.monotonic() - began
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        self.row("cold build of the core with tests", "%.0f s" % seconds, "<= 360 s",
                 "once, %d cores, no compiler cache; %.0f s of processor time" % (len(os.sched_getaffinity(0)), spent))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--only", help="of overhead,start,list,trace,peer,preset,build")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--seconds", type=int, default=4, help="of each run of a pair")
    arguments = parser.parse_args()
    bench = Bench(arguments.build, arguments.pairs, arguments.seconds)
    parts = {"overhead": bench.overhead, "start": bench.start, "list": bench.list, "trace": bench.trace, "peer": bench.peer,
             "preset": bench.preset, "build": bench.build_cold}
    try:
        wanted = arguments.only.split(",") if arguments.only else list(parts)
        unknown = [part for part in wanted if part not in parts]
        if unknown:
            parser.error("unknown part %s; known are %s" % (unknown[0], ", ".join(parts)))
        for part in wanted:
            parts[part]()
    finally:
        bench.close()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A worker that keeps the protocol but for one thing: deepgap-worker-fake, with what it hears and says bent on the way.

$DEEPGAP_BENT_WORKER is the program, $DEEPGAP_BENT the name of a function below.
"""
import json
import os
import struct
import sys
import threading
import time

SIZES = {"i64": 8, "i32": 4, "u8": 1, "f32": 4, "f64": 8, "bytes": 1}
HOUR = 3600 * 10**9


class Bend:
    """Nothing is bent: `request` and `reply` change what they are given, or answer or end in its place."""

    def __init__(self):
        self.asked = {}  # request of an id
        self.last = None
        self.open = set()

    def request(self, request):
        pass

    def reply(self, reply, blobs, asked):
        pass

    def end(self):
        pass


def column(reply, blobs, name):
    index = [blob["name"] for blob in reply["blobs"]].index(name)
    return index, list(struct.unpack("<%dq" % reply["blobs"][index]["count"], blobs[index]))


def change(reply, blobs, name, by):
    if "blobs" in reply and reply["blobs"]:
        index, values = column(reply, blobs, name)
        blobs[index] = struct.pack("<%dq" % len(values), *[value + by for value in values])


def answer(request, **members):
    send(4, {"id": request["id"], "ok": True, **members})
    return False  # not sent on


def on_request(verb, condition=lambda request: True):
    """The function changes requests of a verb; False: they are not sent on."""
    def decorate(function):
        bend = type(function.__name__, (Bend,), {"request": lambda self, request: function(request) if request[
            "verb"] == verb and condition(request) else None})
        return bend
    return decorate


def on_reply(verb, condition=lambda asked: True):
    """The function changes replies without failure to a verb."""
    def decorate(function):
        bend = type(function.__name__, (Bend,), {"reply": lambda self, reply, blobs, asked: function(reply, blobs) if asked and asked[
            "verb"] == verb and "event" not in reply and reply["ok"] and condition(asked) else None})
        return bend
    return decorate


def die(*_):
    os._exit(1)


class progress_of_another(Bend):
    def reply(self, reply, blobs, asked):
        if "event" in reply:
            reply["id"] = 999


class strange_failure(Bend):
    def reply(self, reply, blobs, asked):
        if not reply.get("ok", True) and asked["verb"] == "measure":
            reply["error"]["kind"] = "sulking"


class short_lines(Bend):
    def request(self, request):
        if len(json.dumps(request)) > 65536:
            die()


class no_new_members(Bend):
    def request(self, request):
        if request["verb"] == "load" and "later" in request:
            die()


class null_is_needed(Bend):
    def request(self, request):
        if request["verb"] == "measure" and "start_at_ns" not in request:
            die()


class cold_again(Bend):
    def reply(self, reply, blobs, asked):
        if self.last == "run" and "first_call_ns" in reply:
            reply["first_call_ns"] = reply["first_call_ns"] or 5


class cancel_ends_it(Bend):
    def request(self, request):
        if request["verb"] == "cancel" and not self.open:
            die()


class ends_told_twice(Bend):
    ended = []

    def reply(self, reply, blobs, asked):
        if "ended" in reply:
            self.ended = reply["ended"] = reply["ended"] or self.ended


class dies_while_measuring(Bend):
    def end(self):
        if self.open:
            os._exit(5)


class swallows_what_is_malformed(Bend):
    malformed = True


class exit_told_twice(Bend):
    def reply(self, reply, blobs, asked):
        if asked and asked["verb"] == "exit":
            send(4, reply)


class few_samples(Bend):
    count = 12

    def request(self, request):
        if request["verb"] == "measure" and request["stop"]["min_samples"] == 25:
            request["stop"]["fixed_count"] = self.count

    def reply(self, reply, blobs, asked):
        if asked and asked["verb"] == "measure" and asked["stop"].get("fixed_count") == self.count:
            reply["stop_reason"] = "precision_reached"


class short_time(few_samples):
    count = 30


def unload_nothing(request):
    if request["device"] == "abacus:0":
        send(4, {"id": request["id"], "ok": False, "error": {"kind": "unsupported", "message": "no such device"}})
        return False
    return None


def slow_cancel(request):
    time.sleep(3)


BENDS = {bend.__name__: bend for bend in [*Bend.__subclasses__(), short_time]}
BENDS.update({
    "any_protocol": on_request("hello")(lambda request: request.update(protocol=1)),
    "unnamed_verb": on_reply("hello")(lambda reply, blobs: reply["capabilities"]["verbs"].remove("memory")),
    "unnamed_probes": on_reply("hello")(lambda reply, blobs: reply["capabilities"].update(probes=[])),
    "unsaid_polls": on_reply("hello")(lambda reply, blobs: reply["capabilities"].update(polls=False)),
    "keeps_the_model_before": on_request("load")(unload_nothing),
    "long_load": on_reply("load")(lambda reply, blobs: reply.update(load_ns=HOUR)),
    "too_many_slots": on_reply("load")(lambda reply, blobs: reply.update(slots=reply["slots"] + 1)),
    "other_clock": on_reply("measure")(lambda reply, blobs: change(reply, blobs, "start_ns", HOUR)),
    "other_date": on_reply("measure")(lambda reply, blobs: reply["started"].update(realtime_ns=reply["started"]["realtime_ns"] + HOUR)),
    "started_late": on_reply("measure")(
        lambda reply, blobs: reply["started"].update(monotonic_ns=column(reply, blobs, "start_ns")[1][-1])),
    "first_call_apart_twice": on_reply("measure")(lambda reply, blobs: reply.update(warmup_ns=1)),
    "long_warmup_time": on_reply("measure")(lambda reply, blobs: reply.update(warmup_ns=HOUR)),
    "long_window": on_reply("measure")(lambda reply, blobs: reply.update(window_ns=reply["window_ns"] and HOUR)),
    "more_in_flight": on_reply("measure", lambda asked: asked["mode"] == "throughput")(
        lambda reply, blobs: (change(reply, blobs, "start_ns", -10**8), change(reply, blobs, "host_ns", 10**8))),
    "short_warmup": on_request("measure", lambda request: request["warmup"]["min_calls"] == 30)(
        lambda request: request["warmup"].update(fixed_calls=5)),
    "warms_up_by_calls": on_request("measure", lambda request: request["warmup"]["min_calls"] == 30)(
        lambda request: request["warmup"].update(fixed_calls=30)),
    "long_warmup": on_request("measure", lambda request: request["warmup"]["min_calls"] == 10**9)(
        lambda request: request["stop"].update(time_limit_ns=4 * request["stop"]["time_limit_ns"])),
    "most_before_fixed": on_request("measure", lambda request: request["stop"]["max_samples"] == 3)(
        lambda request: request["stop"].update(fixed_count=3)),
    "none_when_late": on_request("measure", lambda request: request["stop"]["time_limit_ns"] == 1)(
        lambda request: request["stop"].update(time_limit_ns=HOUR)),
    "more_than_most": on_request("measure", lambda request: request["stop"]["max_samples"] == 15)(
        lambda request: request["stop"].update(max_samples=18)),
    "no_hold": on_request("measure")(lambda request: request.update(start_at_ns=None)),
    "hold_counts": on_request("measure", lambda request: request.get("start_at_ns"))(
        lambda request: request["stop"].update(time_limit_ns=1)),
    "slow_cancel": on_request("cancel")(slow_cancel),
    "no_timer": on_reply("run")(lambda reply, blobs: reply.pop("enqueue_ns")),
    "typed_outputs": on_reply("outputs")(lambda reply, blobs: reply["blobs"][0].update(type="u8")),
    "own_inputs": on_request("outputs", lambda request: request["inputs"])(die),
    "one_seed": on_request("load")(lambda request: request.update(seed=1)),
    "negative_op": on_reply("profile")(lambda reply, blobs: reply["ops"][0].update(time_ns=-1)),
    "absent_trace": on_reply("profile")(lambda reply, blobs: reply.update(trace_path="/nowhere/trace.json")),
    "probe_dies": on_request("probe")(die),
    "other_ceiling": on_reply("probe")(lambda reply, blobs: reply["ceiling"].update(quantity="peak.fp32")),
    "no_ceiling": on_reply("probe")(lambda reply, blobs: reply["ceiling"].update(value=0)),
    "probes_all": on_request("probe")(lambda request: request.update(quantity="bandwidth.memory")),
    "probes_any_device": on_request("probe")(lambda request: request.update(device="cpu")),
    "ends_before_begin": on_reply("poll")(lambda reply, blobs: [end.update(completed_at_ns=1) for end in reply["ended"]]),
})

lock = threading.Lock()


def send(descriptor, message, blobs=()):
    data = json.dumps(message, separators=(",", ":")).encode() + b"\n" + b"".join(blobs)
    with lock:
        while data:
            data = data[os.write(descriptor, data):]


def messages(stream):
    for line in stream:
        try:
            message = json.loads(line)
        except ValueError:
            yield line, []
            continue
        yield message, [stream.read(blob["count"] * SIZES[blob["type"]]) for blob in message.get("blobs", [])]


def hear(bend, to):
    with os.fdopen(3, "rb") as stream:
        for request, blobs in messages(stream):
            if isinstance(request, bytes):
                if not hasattr(bend, "malformed"):
                    os.write(to, request)
                continue
            bend.asked[request["id"]] = dict(request)
            if bend.request(request) is not False:
                bend.open.add(request["id"])
                send(to, request, blobs)
    bend.end()
    os.close(to)


def main():
    bend = BENDS[os.environ["DEEPGAP_BENT"]]()
    program = os.environ["DEEPGAP_BENT_WORKER"]
    requests, to = os.pipe()
    back, replies = os.pipe()
    child = os.posix_spawn(program, [program], os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, requests, 3), (os.POSIX_SPAWN_DUP2, replies, 4)])
    os.close(requests)
    os.close(replies)
    threading.Thread(target=hear, args=(bend, to), daemon=True).start()
    with os.fdopen(back, "rb") as stream:
        for reply, blobs in messages(stream):
            asked = bend.asked.get(reply["id"])
            bend.reply(reply, blobs, asked)
            if "event" not in reply:
                bend.open.discard(reply["id"])
                bend.last = asked and asked["verb"]
            send(4, reply, blobs)
    _, status = os.waitpid(child, 0)
    sys.stdout.flush()
    os._exit(os.waitstatus_to_exitcode(status) & 127)


main()

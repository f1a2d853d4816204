#!/usr/bin/env python3
"""The repository keeps its layers, its map and its manners; and the checks themselves find what is planted."""

import pathlib
import tempfile
import unittest

import headers
import layers
import repository

ROOT = pathlib.Path(__file__).resolve().parents[2]


def plant(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


SMALL_TREE = {
    "src/LAYERS": "base:\nstats: base  # numbers\ngraph: base\n",
    "src/modules.cmake": "set(DEEPGAP_MODULES base stats graph)\n",
    "src/base/result.h": "#pragma once\n#include <string>\n",
    "src/stats/median.cpp": '#include "stats/median.h"\n#include "base/result.h"\n',
    "src/stats/median.h": "#pragma once\n",
    "src/graph/graph.h": '#include "base/result.h"\n',
    "workers/fake/main.cpp": '#include "stats/median.h"\n#include "noise.h"\n',
    "workers/fake/noise.h": "#pragma once\n",
}


class Planted(unittest.TestCase):
    def problems_with(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            plant(folder, SMALL_TREE | {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()})
            return layers.problems(folder)

    def test_a_tree_in_order_has_no_problem(self):
        self.assertEqual(self.problems_with(), [])

    def test_an_include_against_the_layers(self):
        found = self.problems_with(src__stats__median_dot_h='#pragma once\n\n#include "graph/graph.h"\n')
        self.assertEqual(found, ['src/stats/median.h:3: stats may not include graph; found "graph/graph.h"'])

    def test_a_worker_that_reaches_into_the_core(self):
        found = self.problems_with(workers__fake__noise_dot_h='#include "graph/graph.h"\n')
        self.assertEqual(found, ['workers/fake/noise.h:1: workers/ may not include graph; found "graph/graph.h"'])

    def test_a_line_that_names_a_module_below(self):
        found = self.problems_with(src__LAYERS="base: stats\nstats: base\ngraph: base\n")
        self.assertEqual(found, ["src/LAYERS:1: base names stats, which stands on no line above it"])

    def test_a_module_that_the_lists_do_not_share(self):
        found = self.problems_with(src__modules_dot_cmake="set(DEEPGAP_MODULES base stats)\n")
        self.assertEqual(len(found), 1)
        self.assertIn("must be the same", found[0])

    def test_a_folder_without_a_line(self):
        found = self.problems_with(src__gap__gap_dot_h="")
        self.assertEqual(found, ["src/gap: a folder without a line in src/LAYERS"])

    def test_a_header_that_is_not_there(self):
        found = self.problems_with(src__stats__median_dot_h='#include "base/nothing.h"\n')
        self.assertEqual(found, ['src/stats/median.h:1: "base/nothing.h" is no file of src/'])

    def test_a_way_around_the_layers(self):
        found = self.problems_with(src__stats__median_dot_h='#include "../graph/graph.h"\n')
        self.assertEqual(found, ['src/stats/median.h:1: a path with .. goes past src/LAYERS; found "../graph/graph.h"'])

    def header_problems_with(self, **files):
        tree = {"src/stats/CMakeLists.txt": "deepgap_module(stats SOURCES median.cpp)\n",
                "src/stats/median.h": "#pragma once\n",
                "src/stats/median.cpp": '#include "stats/median.h"\n#include <map>\n'}
        with tempfile.TemporaryDirectory() as folder:
            plant(folder, tree | {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()})
            return headers.problems(folder)

    def test_headers_in_order_have_no_problem(self):
        self.assertEqual(self.header_problems_with(src__stats__alone_dot_h="#pragma once\n"), [])

    def test_a_c_header_with_a_guard(self):
        self.assertEqual(self.header_problems_with(src__stats__c_dot_h="#ifndef STATS_C_H\n#define STATS_C_H\n#endif\n"), [])

    def test_a_header_that_may_be_included_once_only(self):
        found = self.header_problems_with(src__stats__alone_dot_h="// #pragma once\n")
        self.assertEqual(found, ["src/stats/alone.h: expected '#pragma once'"])

    def test_a_header_that_is_not_the_first_include_of_its_source(self):
        found = self.header_problems_with(src__stats__median_dot_cpp='// A median.\n#include <map>\n#include "stats/median.h"\n')
        self.assertEqual(found, ['src/stats/median.cpp:2: expected its own header "stats/median.h" as the first include, found <map>'])

    def test_a_source_that_its_module_does_not_compile(self):
        found = self.header_problems_with(src__stats__CMakeLists_dot_txt="deepgap_module(stats SOURCES other_median.cpp)\n")
        self.assertEqual(found, ["src/stats/median.cpp: expected src/stats/CMakeLists.txt to name it"])

    def test_a_map_that_names_a_path_that_is_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            plant(folder, {"src/base/result.h": "", "scripts/lint.sh": ""})
            text = "See `src/base/`, `src/base/{result,text}.h`, `scripts/*.sh`, `docs/x.md`, `base/no.h` and `deepgap.run/1`.\n"
            self.assertEqual(repository.missing_paths(text, pathlib.Path(folder)), ["src/base/text.h", "docs/x.md", "src/base/no.h"])

    def test_words_that_do_not_belong(self):
        self.assertEqual(
            repository.foreign_words("from https://" + "pypi" + ".org/simple\nfine\ncd /" + "work/main\n"),
            [(1, "pypi" + ".org"), (3, "/" + "work/")],
        )


class Repository(unittest.TestCase):
    maxDiff = None

    def test_layers(self):
        self.assertEqual(layers.problems(ROOT), [])

    def test_each_header_compiles_alone(self):
        self.assertEqual(headers.problems(ROOT), [])

    def test_each_path_that_the_map_names_exists(self):
        hacking = ROOT / "HACKING.md"
        if not hacking.exists():
            self.skipTest("there is no HACKING.md")
        self.assertEqual(repository.missing_paths(hacking.read_text(), ROOT), [])

    def test_no_file_names_a_machine_or_a_registry(self):
        found = []
        for path in repository.tracked_text_files(ROOT):
            for line, word in repository.foreign_words(path.read_text(errors="replace")):
                found.append(f"{path.relative_to(ROOT)}:{line}: {word}")
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)

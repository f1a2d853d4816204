#!/bin/sh
# Prints the folder that keeps libraries built or fetched for deepgap, so that a second clone is quick.
# $DEEPGAP_CACHE, else $XDG_CACHE_HOME/deepgap, else ~/.cache/deepgap.
echo "${DEEPGAP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/deepgap}"

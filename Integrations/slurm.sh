#!/bin/bash
# Fetches a list of URLs as a Slurm job array: one shard and one task for each group of hosts.
#
#   pawl pipe --partition 16 <jobs.jsonl >jobs.tsv
#   sbatch --array=0-15 slurm.sh jobs.tsv TO [OPTION ...]
#
# TO is a folder that all nodes share, or s3://bucket/prefix; the options are those of `pawl pipe`. A task that was
# killed or requeued is run again and makes the same shard; one that finished answers from what was published.
#SBATCH --job-name=pawl
#SBATCH --requeue
#SBATCH --cpus-per-task=1
#SBATCH --signal=B:TERM@60
set -euo pipefail
jobs=$1 to=$2
shift 2
part=$(printf 'part-%05d' "$SLURM_ARRAY_TASK_ID")
mine() { awk -F '\t' -v part="$SLURM_ARRAY_TASK_ID" '$1 == part { sub(/^[^\t]*\t/, ""); print }' "$jobs"; }
# Samples that failed stand in the shard's manifest and fail no task; a job without a result does.
answered=$({ mine && echo end-of-jobs; } | "${PAWL_BINARY:-pawl}" pipe --end end-of-jobs --to "$to" --shard "$part" --format tar "$@" | wc -l) || true
((answered == $(mine | wc -l)))

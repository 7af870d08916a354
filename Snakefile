"""The whole workflow. `snakemake --cores 8` runs config/config.yaml; `--configfile FILE` runs FILE instead."""

from snakemake.utils import min_version

min_version("9.20")


# A config file given by hand stands for itself: Snakemake would otherwise mix it with the default datasets.
if not workflow.configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/common.smk"


rule all:
    input:
        RUN.targets(),


include: "workflow/rules/ingest.smk"
include: "workflow/rules/preprocess.smk"
include: "workflow/rules/features.smk"
include: "workflow/rules/judge.smk"
include: "workflow/rules/paraphrase.smk"
include: "workflow/rules/outcomes.smk"
include: "workflow/rules/incoherence.smk"
include: "workflow/rules/prefix.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/report.smk"


onsuccess:
    if RUN.is_shown:
        shell("coherence show")


onerror:
    print(RUN.complaints())

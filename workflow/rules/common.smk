from coherence.cli.workflow import run_of

RUN = run_of(config, is_main=workflow.is_main_process)
PARAPHRASES = RUN.paraphrases

# Every job reads the same resolved settings. Not a parameter: only what a stage uses makes it stale (`version`).
shell.prefix(RUN.shell_prefix)


wildcard_constraints:
    dataset=RUN.dataset_pattern,
    judge=RUN.judge_pattern,
    paraphrase=RUN.paraphrase_pattern,
    shard=r"\d+",


localrules:
    all,

rule outcomes:
    input:
        RUN.outcome_files(),
        RUN.all_shards("index"),
        RUN.all_judged(),
    output:
        outcomes=RUN.layout.outcomes,
        sets=RUN.layout.outcome_sets,
        tables=RUN.outcome_tables(),
    log:
        RUN.layout.log("outcomes"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.outcomes_version(),
    shell:
        "coherence outcomes 2> {log:q}"

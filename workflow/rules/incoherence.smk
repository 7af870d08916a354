rule incoherence:
    input:
        RUN.layout.outcomes,
        RUN.layout.outcome_sets,
        RUN.all_shards("index", "features"),
        RUN.all_judged(),
    output:
        RUN.incoherence_tables(),
    log:
        RUN.layout.log("incoherence"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.incoherence_version(),
    shell:
        "coherence incoherence 2> {log:q}"


rule repeated_figures:
    input:
        RUN.incoherence_tables(),
    output:
        RUN.repeated_figures(),
    log:
        RUN.layout.log("repeated-figures"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.version("repeated_figures", RUN.incoherence_version()),
    shell:
        "coherence repeated_figures 2> {log:q}"

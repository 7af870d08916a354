rule incoherence:
    input:
        RUN.layout.outcomes,
        RUN.layout.outcome_sets,
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

rule report:
    input:
        RUN.tables(),
        RUN.figures(),
        RUN.outcome_tables(),
        RUN.incoherence_tables(),
        RUN.repeated_figures(),
        RUN.all_shards("index", "preprocess"),
        RUN.all_judged(),
        RUN.paraphrases.results(),
        RUN.all_prefixed(),
    output:
        report=RUN.layout.report,
        audit=RUN.layout.audit,
        provenance=RUN.layout.provenance,
        pages=RUN.layout.page_list,
    log:
        RUN.layout.log("report"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.report_version(),
    shell:
        "coherence report 2> {log:q}"

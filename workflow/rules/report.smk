rule report:
    input:
        RUN.tables(),
        RUN.figures(),
        RUN.each_dataset("spans.jsonl"),
    output:
        report=RUN.layout.report,
        provenance=RUN.layout.provenance,
    log:
        RUN.layout.log("report"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.version("report", RUN.config.report, RUN.evaluate_version()),
    shell:
        "coherence report 2> {log:q}"

rule table:
    input:
        lambda wc: RUN.shards("index", wc.dataset),
        lambda wc: RUN.shards("preprocess", wc.dataset),
        lambda wc: RUN.shards("features", wc.dataset),
        lambda wc: RUN.lent_features(wc.dataset),
        lambda wc: RUN.judged(wc.dataset),
    output:
        table=RUN.layout.dataset("{dataset}") / "table.csv",
        spans=RUN.layout.dataset("{dataset}") / "spans.csv",
        lines=RUN.layout.dataset("{dataset}") / "spans.jsonl",
    log:
        RUN.layout.log("table", "{dataset}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.version("table", RUN.gather_version(wc.dataset)),
    shell:
        "coherence table --dataset {wildcards.dataset} 2> {log:q}"


rule evaluate:
    input:
        RUN.all_shards("index", "preprocess", "features"),
        RUN.all_judged(),
        RUN.each_dataset("table.csv"),
        RUN.paraphrases.results(),
        RUN.all_prefixed(),
    output:
        RUN.tables(),
    log:
        RUN.layout.log("evaluate"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.evaluate_version(),
    shell:
        "coherence evaluate 2> {log:q}"


rule figures:
    input:
        RUN.tables(),
    output:
        RUN.figures(),
    log:
        RUN.layout.log("figures"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.version("figures", RUN.evaluate_version()),
    shell:
        "coherence figures 2> {log:q}"

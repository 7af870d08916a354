rule ingest:
    input:
        # Lists each raw file with its size and time: thousands of inputs would slow every start.
        RUN.layout.shard("{dataset}", "units", "{shard}"),
    output:
        index=RUN.layout.shard("{dataset}", "index", "{shard}"),
        reports=RUN.layout.shard("{dataset}", "reports", "{shard}"),
    log:
        RUN.layout.log("ingest", "{dataset}", "{shard}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.ingest_version(wc.dataset),
    shell:
        "coherence ingest --dataset {wildcards.dataset} --shard {wildcards.shard} 2> {log:q}"


rule gather_index:
    input:
        lambda wc: RUN.shards("index", wc.dataset),
        lambda wc: RUN.shards("reports", wc.dataset),
    output:
        index=RUN.layout.dataset("{dataset}") / "index.csv",
        ingest=RUN.layout.dataset("{dataset}") / "ingest.csv",
        attrition=RUN.layout.dataset("{dataset}") / "attrition.csv",
    log:
        RUN.layout.log("gather-index", "{dataset}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.gather_version(wc.dataset),
    shell:
        "coherence gather index --dataset {wildcards.dataset} 2> {log:q}"

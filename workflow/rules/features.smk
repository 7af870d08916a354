rule features:
    input:
        RUN.layout.shard("{dataset}", "index", "{shard}"),
    output:
        RUN.layout.shard("{dataset}", "features", "{shard}"),
    log:
        RUN.layout.log("features", "{dataset}", "{shard}"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.version("features"),
    shell:
        "coherence features --dataset {wildcards.dataset} --shard {wildcards.shard} 2> {log:q}"


rule gather_features:
    input:
        lambda wc: RUN.shards("features", wc.dataset),
    output:
        RUN.layout.dataset("{dataset}") / "features.csv",
    log:
        RUN.layout.log("gather-features", "{dataset}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.gather_version(wc.dataset),
    shell:
        "coherence gather features --dataset {wildcards.dataset} 2> {log:q}"

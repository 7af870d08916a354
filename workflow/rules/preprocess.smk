rule preprocess:
    input:
        RUN.layout.shard("{dataset}", "index", "{shard}"),
    output:
        RUN.layout.shard("{dataset}", "preprocess", "{shard}"),
    log:
        RUN.layout.log("preprocess", "{dataset}", "{shard}"),
    conda:
        "../../environment.yml"
    params:
        version=RUN.version("preprocess", RUN.config.preprocess),
    shell:
        "coherence preprocess --dataset {wildcards.dataset} --shard {wildcards.shard} 2> {log:q}"

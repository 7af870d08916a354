rule prefix:
    input:
        index=lambda wc: RUN.judge_index(wc.dataset, wc.judge, wc.shard),
        transcripts=RUN.layout.shard("{dataset}", "preprocess", "{shard}"),
        basis=lambda wc: RUN.prefix_files(wc.judge),
    output:
        RUN.layout.shard("{dataset}", "prefix-{judge}", "{shard}"),
    log:
        RUN.layout.log("prefix", "{dataset}", "{judge}", "{shard}"),
    conda:
        "../../environment.yml"
    resources:
        api_calls=1,
    params:
        version=lambda wc: RUN.prefix_version(wc.judge),
    shell:
        "coherence prefix --dataset {wildcards.dataset} --judge {wildcards.judge}"
        " --shard {wildcards.shard} 2> {log:q}"


rule gather_prefixes:
    input:
        lambda wc: RUN.shards(f"prefix-{wc.judge}", wc.dataset),
    output:
        RUN.layout.prefixes("{dataset}", "{judge}"),
    log:
        RUN.layout.log("gather-prefixes", "{dataset}", "{judge}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.gather_version(wc.dataset),
    shell:
        "coherence gather prefixes --dataset {wildcards.dataset} --judge {wildcards.judge} 2> {log:q}"

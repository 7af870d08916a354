rule judge:
    input:
        index=lambda wc: RUN.judge_index(wc.dataset, wc.judge, wc.shard),
        transcripts=RUN.layout.shard("{dataset}", "preprocess", "{shard}"),
        basis=lambda wc: RUN.judge_files(wc.judge),
        before=lambda wc: RUN.judged_before(wc.dataset, wc.judge),
    output:
        RUN.layout.shard("{dataset}", "judge-{judge}", "{shard}"),
    log:
        RUN.layout.log("judge", "{dataset}", "{judge}", "{shard}"),
    conda:
        "../../environment.yml"
    resources:
        api_calls=1,
    params:
        version=lambda wc: RUN.judge_version(wc.judge),
    shell:
        "coherence judge --dataset {wildcards.dataset} --judge {wildcards.judge}"
        " --shard {wildcards.shard} 2> {log:q}"


rule gather_judgements:
    input:
        lambda wc: RUN.shards(f"judge-{wc.judge}", wc.dataset),
    output:
        RUN.layout.judgements("{dataset}", "{judge}"),
    log:
        RUN.layout.log("gather-judgements", "{dataset}", "{judge}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.gather_version(wc.dataset),
    shell:
        "coherence gather judgements --dataset {wildcards.dataset} --judge {wildcards.judge}"
        " 2> {log:q}"

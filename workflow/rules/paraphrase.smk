rule choose_paraphrased:
    input:
        index=lambda wc: PARAPHRASES.index(wc.dataset),
        flags=lambda wc: PARAPHRASES.flags(wc.dataset, wc.paraphrase),
    output:
        PARAPHRASES.layout.chosen("{dataset}", "{paraphrase}"),
    log:
        RUN.layout.log("choose-paraphrased", "{dataset}", "{paraphrase}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.choice_version(wc.paraphrase),
    shell:
        "coherence paraphrase choose --dataset {wildcards.dataset}"
        " --paraphrase {wildcards.paraphrase} 2> {log:q}"


rule paraphrase:
    input:
        chosen=PARAPHRASES.layout.chosen("{dataset}", "{paraphrase}"),
        index=lambda wc: PARAPHRASES.index(wc.dataset),
        transcripts=RUN.layout.shard("{dataset}", "preprocess", "{shard}"),
        basis=lambda wc: PARAPHRASES.files(wc.paraphrase),
    output:
        PARAPHRASES.shard("rewrites"),
    log:
        RUN.layout.log("paraphrase", "{dataset}", "{paraphrase}", "{shard}"),
    conda:
        "../../environment.yml"
    resources:
        api_calls=1,
    params:
        version=lambda wc: RUN.paraphrase_version(wc.paraphrase),
    shell:
        "coherence paraphrase rewrite --dataset {wildcards.dataset}"
        " --paraphrase {wildcards.paraphrase} --shard {wildcards.shard} 2> {log:q}"


rule judge_paraphrased:
    input:
        rewrites=PARAPHRASES.shard("rewrites"),
        index=lambda wc: PARAPHRASES.index(wc.dataset),
        basis=lambda wc: RUN.judge_files(wc.judge),
        verdicts=lambda wc: PARAPHRASES.verdicts(wc.paraphrase, wc.judge),
    output:
        PARAPHRASES.shard("judge-{judge}"),
    log:
        RUN.layout.log(
            "judge-paraphrased", "{dataset}", "{paraphrase}", "{judge}", "{shard}"
        ),
    conda:
        "../../environment.yml"
    resources:
        api_calls=1,
    params:
        version=lambda wc: RUN.judge_after_version(wc.paraphrase, wc.judge),
    shell:
        "coherence paraphrase judge --dataset {wildcards.dataset}"
        " --paraphrase {wildcards.paraphrase} --judge {wildcards.judge}"
        " --shard {wildcards.shard} 2> {log:q}"


rule check_thoughts:
    input:
        lambda wc: PARAPHRASES.shards("rewrites", wc.dataset, wc.paraphrase),
    output:
        PARAPHRASES.thoughts(),
    log:
        RUN.layout.log("check-thoughts", "{dataset}", "{paraphrase}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.gather_version(wc.dataset),
    shell:
        "coherence paraphrase check --dataset {wildcards.dataset}"
        " --paraphrase {wildcards.paraphrase} 2> {log:q}"


rule gather_paraphrased:
    input:
        lambda wc: PARAPHRASES.shards(f"judge-{wc.judge}", wc.dataset, wc.paraphrase),
    output:
        PARAPHRASES.judgements(),
    log:
        RUN.layout.log("gather-paraphrased", "{dataset}", "{paraphrase}", "{judge}"),
    conda:
        "../../environment.yml"
    params:
        version=lambda wc: RUN.gather_version(wc.dataset),
    shell:
        "coherence paraphrase gather --dataset {wildcards.dataset}"
        " --paraphrase {wildcards.paraphrase} --judge {wildcards.judge} 2> {log:q}"

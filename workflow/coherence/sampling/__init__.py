"""Drawing repeated answers to the same items: what error incoherence is measured on.

A sample without an answer or outcome has a reason; a JudgeError is for a run that cannot go on.

    items      an item file and what each item asks
    samples    one sample: an answer or an outcome, or the reason why there is none
    asking     the request for one answer;  answers: what counts as one;  replies: a reply as a sample
    model      samples from a model, through the reply store
    command    samples from a command of the user's (command_settings);  process, runs and results: how it is
               run, kept and read
    rows       the samples as a table of outcomes, and what an item's samples come to
"""

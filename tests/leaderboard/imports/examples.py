"""Small files of each layout that reads tables, made up for the tests."""

import io
import json
from functools import partial

from leaderboard.files import only_file

DA_HEADER = (
    "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
)
DA_Z = DA_HEADER + "".join(
    "\t".join(line.split()) + "\n"
    for line in (
        "H1 M1 da en ad 7 red d1 SYSTEM 1 1.0 60.0",
        "H1 M1 da en ad 7 red d1 REPEAT 1 0.5 60.0",
        "H1 M1 da en ad 7 red d1 BAD_REF 2 -2.0 60.0",
        "H1 M2 da en ad 7 blue d1 SYSTEM 1 0.0 60.0",
        "H1 M2 da en ad 7 blue d1 REF 2 0.1 60.0",
    )
)
DA = {"ad-daen-good-stnd.csv": DA_Z}
DA_RAW = {
    "ratings-da-en.csv": (
        "hit,worker,system,rid,type,segment,raw,seconds\n"
        "H1,M1,red,d1,SYSTEM,1,70,60.0\nH1,M1,red,d1,REPEAT,1,65,60.0\n"
        "H1,M1,red,d1,BAD_REF,2,40,60.0\nH1,M2,blue,d1,SYSTEM,1,50,60.0\n"
    )
}

PAGES = {
    "tone.csv": (
        "page,judgment,worker,started_at,created_at,mr_id,mr,tone1,tone2,sys1,sys2,ref1,ref2\n"
        "P1,J1,W1,11/29/2017 03:28:06,11/29/2017 03:29:06,1,name[Ada],50,\"1,000\",red,blue,Hi.,Ho.\n"
        "P1,J2,W2,11/29/2017 03:28:06,11/29/2017 03:29:18,1,name[Ada],,100,blue,red,Ho.,Hi.\n"
    )
}  # fmt: skip
RANKME = {
    "a_likert_quality.csv": (
        "judgement,mr_id,system,position,worker,time,quality\n"
        "1,1,red,,w1,2018-01-05T15:51:32,6\n2,1,blue,,w1,2018-01-05T15:52:32,2\n"
    ),
    "a_likert_tone.csv": (
        "judgement,mr_id,system,position,worker,time,tone\n1,1,red,,w1,2018-01-05T15:51:32,5\n"
    ),
    "texts.csv": "mr_id,system,mr,text\n1,red,name[Ada],Ada is here.\n",
}

PLAIN = {
    "ratings.csv": (
        "Model;Item;Rater;Score;Criterion;Time;E-mail;note\n"
        "red;i1;w1;4,5;fluency;2026-03-01 10:00;a@b.co;x\n"
        "red;i1;w1;4;fluency;2026-03-01 10:01;a@b.co;x\n"
        "blue;i1;w2;NA;fluency;2026-03-01 10:01;a@b.co;x\n"
        + "".join(
            f"blue;i{n};w2;{n % 5};fluency;2026-03-01 10:01;a@b.co;x\n"
            for n in range(3, 9)
        )
        + "blue;i2;w2;oops;fluency;2026-03-01 10:01;a@b.co;\n"
        "\n"
        "blue;i2;w2\n"
        ";i2;w2;3;fluency;2026-03-01 10:01;a@b.co;\n"
    )
}
PLAIN_WIDE = {
    "r.jsonl": (
        '{"system": "red", "item": "i1", "worker": "w1", "fluency": 4, "adequacy": null,'
        ' "output": "Hi to you all.", "source": "Hej.", "reference": "Hello.", "type": "TGT"}\n'
        '{"system": "red", "item": "i2", "worker": "w1", "fluency": 1, "adequacy": 3,'
        ' "output": "Bad to you all.", "source": "Nej.", "reference": "", "type": "BAD"}\n'
    )
}

TWO = {
    "votes.csv": (
        "pair_id,worker,shown_a,shown_b,winner,accept_time,submit_time\n"
        "1,w1,red,blue,blue,2021-05-19T10:08:59-07:00,2021-05-19T10:09:09-07:00\n"
        "2,w1,blue,red,tie,2021-05-19T10:08:59-07:00,2021-05-19T10:09:09-07:00\n"
        "3,w1,red,red,red,2021-05-19T10:08:59-07:00,2021-05-19T10:09:09-07:00\n"
        "4,w2,red,blue,purple,2021-05-19T10:08:59-07:00,2021-05-19T10:09:09-07:00\n"
        "5,w2,red,blue,,2021-05-19T10:08:59-07:00,2021-05-19T10:09:09-07:00\n"
    ),
    "pairs.csv": (
        "pair_id,text_a,text_b,model_a,model_b,tense\n"
        "1,It was very nice.,It was not so nice.,blue,red,past\n"
        "9,It is nice here.,It is nice there.,x,y,now\n"
    ),
}


def _lines(*objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


_MODELS = {"model_a": "red", "model_b": "blue"}
_TALKS = {
    f"conversation_{side}": [
        {"role": "user", "content": "How do you do?"},
        {"role": "assistant", "content": answer},
    ]
    for side, answer in (("a", "Hej."), ("b", "Nej."))
}
BATTLES = {
    "logs.jsonl": _lines(
        {"question_id": "q1", **_MODELS, **_TALKS, "winner": "tie (bothbad)",
         "judge": "arena_user_5", "turn": 1, "anony": True, "tstamp": 1750000000.5},
        {"question_id": "q2", **_MODELS, **_TALKS, "winner": "model_b",
         "judge": "arena_user_5", "turn": 1, "anony": False, "tstamp": 1750000001.5},
        {"question_id": "q3", **_MODELS, **_TALKS, "winner": "model_a",
         "judge": "gpt-4", "turn": 1, "anony": True, "tstamp": 1750000002.5},
    )
}  # fmt: skip
BATTLES_FLAGS = {
    "train.csv": (
        "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
        '1,red,blue,"[""Hi"",""And?""]","[""Ho"",null]","[""Ha"",""So.""]",0,1,0\n'
        '2,red,blue,"[""Hi""]","[""Ho""]","[""Ha""]",0,1,1\n'
    )
}
MT_BENCH = {
    "human.jsonl": _lines(
        {"question_id": 81, **_MODELS, **_TALKS, "winner": "model_a", "judge": "expert_1", "turn": 1},
        {"question_id": 81, **_MODELS, **_TALKS, "winner": "tie", "judge": "author_1", "turn": 2},
    )
}  # fmt: skip

_LABELS = {
    f"text{i}__{system}__{criterion}": i % 5 + 1
    for i in range(11)
    for system in ("red", "blue")
    for criterion in ("fluency", "truth")
}
ALT_TEST = {
    "set/human_annotations.json": json.dumps(
        {"h1": _LABELS, "h2": {"text0__red__truth": 2}}
    ),
    "set/llm_annotations.json": json.dumps({"robot": _LABELS}),
}
ALT_TEST_PAIRS = {
    "human_annotations.json": json.dumps(
        {"h1": {f"{n}__red__blue__{k}": ("model_b", "tie")[k - 1]
                for n in range(82, 104) for k in (1, 2)}}
    )
}  # fmt: skip

QUALTRICS = {
    "survey.csv": (
        "StartDate,EndDate,Status,IPAddress,Duration (in seconds),Finished,ResponseId,RecipientEmail,"
        "PROLIFIC_PID,Q1_sysA_item1_fluency,Q2_sysB_item1_fluency,Q3_sysA_item2_fluency,"
        "Q4_sysB_item2_fluency,attention_1,Age\n"
        'Start,End,Type,IP,Duration,Finished,Response,Email,PID,"How fluent?\nReally",b,c,d,Pick 3,Age\n'
        + ",".join('"{""ImportId"":""x""}"' for _ in range(15))
        + "\n"
        "2026-01-02 10:00:00,2026-01-02 10:10:00,IP Address,10.0.0.1,600,True,R_1,,p1,5 - Very good,3,4,2,3,33\n"
        "2026-01-02 10:00:00,2026-01-02 10:10:00,Survey Preview,10.0.0.1,600,True,R_2,,p2,5,3,4,2,3,33\n"
        "2026-01-02 10:00:00,2026-01-02 10:10:00,IP Address,10.0.0.1,600,False,R_3,,p3,5,3,,,,33\n"
    )
}
WIDE = {
    "w.csv": (
        "Participant id,1_red_fluency,1_blue_fluency,2_red_fluency,2_blue_fluency\n"
        "P1,1,2,3,\nP2,4,5,6,7\n"
    )
}

APPRAISE = {
    "camp.scores.csv": (
        "engdan01,red,1,TGT,eng,dan,83,menu#red,False,1760000000.25,1760000031.5\n"
        "engdan01,blue,1,TGT,eng,dan,70,menu#blue,False,1760000031.5,1760000060.0\n"
        "engdan01,blue,2,BAD,eng,dan,12,menu#blue#bad2,False,1760000060.5,1760000090.0\n"
    )
}
ESA = {
    "esa.scores.csv": (
        'engdan01,red,1,TGT,eng,dan,83,menu#red,False,"[{""start_i"": 0, ""end_i"": 3, '
        '""severity"": ""major"", ""error_type"": null}]",1760000000.25,1760000031.5\n'
        "engdan01,blue,1,TGT,eng,dan,90,menu#blue,False,[],1760000031.5,1760000060.0\n"
    )
}
MT_METRICS_EVAL = {
    "en-da.seg-test.seg.score": "red\t0.5\nred\tNone\nblue\t-1\nblue\t2\n",
    "en-da.docs": "news\tmenu\nnews\tmenu\n",
}
MQM = {
    "mqm.tsv": (
        "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
        "red\tmenu\t1\t1\trater1\tHej.\t<v>Hi</v>.\tStyle/Awkward\tMinor\n"
        "red\tmenu\t1\t2\trater1\tNej.\tNo.\tNo-error\tNo-error\n"
    )
}
_ITEM = {"item_id": "s1", "src": "Soup.", "tgt": {"red": "Suppe.", "blue": "Suppen."}}
PEARMUT = {
    "campaign.json": json.dumps(
        {"campaign_id": "menu_en-da", "info": {"assignment": "task-based", "protocol": "ESA"},
         "data": [[[_ITEM]]]}
    ),
    "output.jsonl": _lines(
        {"user_id": "fork-12", "item_i": 0, "item": [_ITEM],
         "annotation": [{"red": {"score": 96, "error_spans": []},
                         "blue": {"score": 20, "error_spans": [
                             {"start_i": 0, "end_i": 5, "severity": "major"}]}}],
         "actions": [{"time": 1771000000.1, "action": "load"},
                     {"time": 1771000052.0, "action": "submit"}]}
    ),
}  # fmt: skip
POTATO = {
    "annotation_output/ann3/annotated_instances.jsonl": _lines(
        {"id": "q7", "displayed_text": "Yes.", "label_annotations": {"fluency": {"scale_4": "4"}},
         "span_annotations": {}, "behavioral_data": {}}
    ),
    "data.jsonl": _lines({"id": "q7", "text": "Yes.", "system": "red"}),
}  # fmt: skip
LABEL_STUDIO = {
    "export.json": json.dumps(
        [{"id": 41, "data": {"prompt": "Name a fruit.", "text1": "Pear.", "model1": "red"},
          "annotations": [{"id": 9, "completed_by": 2, "was_cancelled": False,
                           "ground_truth": False, "lead_time": 12.4,
                           "created_at": "2026-03-01T10:00:00Z",
                           "result": [{"id": "r2", "from_name": "quality", "to_name": "text1",
                                       "type": "rating", "value": {"rating": 4}}]}],
          "predictions": [], "drafts": []}]
    )
}  # fmt: skip

#: Slug of the layout, files, and what has to be chosen.
EXAMPLES = [
    ("wmt-da-z", DA, {}),
    ("wmt-da", DA_RAW, {}),
    ("rankme-pages", PAGES, {}),
    ("rankme-rows", RANKME, {"ranks": "quality"}),
    ("columns", PLAIN, {"lost": "yes", "words": "oops=none"}),
    ("columns", PLAIN_WIDE, {"ranks": "fluency"}),
    ("two-choice", TWO, {"lost": "yes", "words": "purple=none"}),
    ("battles", BATTLES, {"counted": "judgment"}),
    ("battles-flags", BATTLES_FLAGS, {"words": "model_b and tie=none"}),
    ("battles-turns", MT_BENCH, {}),
    ("alt-test", ALT_TEST, {"ranks": "truth"}),
    ("alt-test", ALT_TEST_PAIRS, {}),
    ("columns", QUALTRICS, {"rating": "Q{}_{system}_item{item}_fluency"}),
    ("columns", WIDE, {"rating": "{item}_{system}_fluency"}),
    ("appraise", APPRAISE, {}),
    ("appraise", ESA, {}),
    ("mt-metrics-eval", MT_METRICS_EVAL, {}),
    ("mqm-tsv", MQM, {}),
    ("pearmut", PEARMUT, {}),
    ("potato", POTATO, {}),
    ("label-studio", LABEL_STUDIO, {}),
]


def by_reader():
    """Return the layout, choices and files of each reader, by its name."""
    found = {}
    for slug, files, choices in EXAMPLES:
        name = ", ".join([slug, *choices.values()])
        found.setdefault(name, (slug, choices, []))[2].append(files)
    return found


def file_of(name, data):
    return only_file(name, partial(io.BytesIO, data))


def sources(files):
    return [file_of(name, text.encode()) for name, text in files.items()]

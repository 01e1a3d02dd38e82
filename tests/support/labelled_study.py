"""A study made from a small file of labelled posts, some with hostile titles, as `quaestor replicate` makes one."""

from __future__ import annotations

import csv
from datetime import datetime, timedelta
from pathlib import Path

from quaestor.publication.replicate.posts import load_labels
from quaestor.study.folder import Study

STUDY = "dl-implementation-issues"
LABELS = (
    "rotate,di,d", "slice,dt,d", "convert,d,d", "shuffle,ds,d", "freeze,lstm layer,m", "feed data,model,m",
    "load,bert trained model,m", "compute,loss,t", "compute,gradient,t", "get,dv,t", "test,model,p", "measure,metric,e",
    "use,gpu,r", "reset,tensorboard,v",
)  # fmt: skip
TAGS = ("<python>, <tensorflow>", "<pytorch>", "<tensorflow>, <keras>", "<theano>, <numpy>")
HOSTILE = (
    "How to close a </script><script>document.title='owned'</script> tag?",
    "<img src=x onerror=\"document.title='owned'\"> how to rotate",
    "How to write &amp; and &lt;b&gt; in a title",
    "\u202eHow to turn a tensor around\u202c, and \u05d0\u05d9\u05da \u05dc\u05e1\u05d5\u05d1\u05d1",
    f"How to name a {'verylongword' * 30}",
    "{{ 7 * 7 }} {% raw %} how to use ${braces} and `ticks`",
)
POSTS = 140


def write_labelled(path: Path, posts: int = POSTS) -> Path:
    """Posts of invented titles in the layout of the authors' replication data; the first titles are hostile."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["title", "tags", "id", "viewcount", "score", "question_created", "answer_created", "label"])
        for number in range(posts):
            label = LABELS[number * 5 % len(LABELS)] if number % 3 else LABELS[number // 3 % 6]
            verb, thing, _ = label.split(",")
            title = HOSTILE[number] if number < len(HOSTILE) else f"How to {verb} a {thing} in case {number}?"
            asked = datetime(2015 + number % 6, 1 + number % 12, 1 + number % 28, 9, number % 60)
            answered = asked + timedelta(minutes=7 + number**2)
            times = [moment.isoformat(timespec="milliseconds") for moment in (asked, answered)]
            numbers = [900_000_000 + number, 10 + number * 37 % 1000, number % 9 - 1]
            rows.writerow([title, TAGS[number % len(TAGS)], *numbers, *times, label])
    return path


def labelled_study(folder: Path, posts: int = POSTS) -> Study:
    """The study in `folder` with every label imported and recorded."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    loaded = load_labels(STUDY, write_labelled(folder.with_name("posts.csv"), posts), folder, lambda words: None)
    assert loaded.labelled == posts
    assert loaded.unread == ()
    return loaded.study

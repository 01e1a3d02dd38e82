"""A desk whose disk fills up while people use it; a script that prints the responses as JSON.

With `limit` the process may write to no file any more; with `small` the folder is on a small file system that fills up.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from httpx2 import Response
from starlette.testclient import TestClient

from quaestor.coding.codebook import import_codebook
from quaestor.coding.round_acts import list_rater_items, open_by_name
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.web.app import make_app
from tests.support.desk import CHOSEN, HERE, QUICK, SetClock, browser, closing_app, csrf_in, invited, signed_in
from tests.support.small_study import small_study

LEAD_READS = ("/", "/me", "/evidence", "/funnel", "/rounds", "/rounds/pilot", "/codebook", "/results", "/people")
RATER_READS = ("/", "/me", "/rounds/pilot/rate", "/rounds/pilot/mine", "/static/desk.css")
Answers = dict[str, tuple[int, str]]


def fill_disk(how: str, folder: Path) -> None:
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        return
    with (folder / "filler").open("wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 4096):
                pass
        except OSError as error:
            assert error.strerror == "No space left on device", error


def free_disk(how: str, folder: Path) -> None:
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    else:
        (folder / "filler").unlink()


def read(visitor: TestClient, paths: tuple[str, ...]) -> Answers:
    return {path: shown(visitor.get(path)) for path in paths}


def shown(answer: Response) -> tuple[int, str]:
    """The status, and the page where it is a refusal."""
    return answer.status_code, answer.text if answer.status_code >= 400 else ""


def main(how: str, folder: Path) -> dict[str, Answers]:
    study, clock = small_study(folder / "study"), SetClock()
    import_codebook(study)
    open_by_name(study, "pilot", None)
    with closing_app(make_app(study.root, clock, passwords=Passwords(QUICK))) as app:
        lead, rater = (signed_in(app, study.root, role, clock) for role in (Role.LEAD, Role.RATER))
        signing_in, joining = browser(app), browser(app)
        link = f"/join/{invited(study.root, Role.VIEWER, clock=clock)}"
        read(lead, LEAD_READS)
        read(rater, RATER_READS)
        tokens = {one: csrf_in(one.get("/me").text) for one in (lead, rater)}
        tokens |= {one: csrf_in(one.get("/sign-in").text) for one in (signing_in, joining)}
        item = list_rater_items(study, "pilot", "rater-1", left_only=True)[0]["item"]
        rating = {"item": item, "key": "k1", "answer.relevance": "keep"}

        def post(who: TestClient, path: str, **fields: str) -> tuple[int, str]:
            return shown(who.post(path, data={"csrf": tokens[who], **fields}, headers={"origin": HERE}))

        def save() -> Answers:
            return {
                "sign in": post(signing_in, "/sign-in", name="rater-1", password=CHOSEN),
                "join": post(joining, link, password=CHOSEN, again=CHOSEN),
                "invite": post(lead, "/people/acts", act="invite", name="somebody", role="viewer"),
                "rate": post(rater, "/rounds/pilot/ratings", **rating),
                "add a code": post(lead, "/codebook/acts", act="add", facet="issue", name="new", parent="training"),
            }

        fill_disk(how, folder)
        clock.pass_by(minutes=11)  # every session is due to be renewed
        answers = {"lead reads": read(lead, LEAD_READS), "rater reads": read(rater, RATER_READS), "saves": save()}
        free_disk(how, folder)
        return {**answers, "saves afterwards": save()}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))

"""The start of the desk: the state of the study for those who lead or read it, for raters what waits for them."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.people.roles import Permission
from quaestor.study.coding_status import Next
from quaestor.study.interviews.overview import InterviewsAtAGlance, has_interviews, interviews_at_a_glance
from quaestor.study.overview import overview
from quaestor.study.sight import Viewer
from quaestor.study.waiting import Waiting, waiting_for
from quaestor.web.access import Visitor
from quaestor.web.links import link_to
from quaestor.web.page import Pages, visitor


class StudyPages(Pages):
    """Where the study stands and what comes next."""

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/", self.home, name="home")]

    async def home(self, request: Request) -> Response:
        """The study at a glance for those who read; for those who rate, what waits for them and nothing else."""
        who = visitor(request)
        links = {"link_to": lambda route, query=None, **path: link_to(request, route, query, **path)}
        if who.can(Permission.PAY):
            return self.go(request, "claims")
        if not who.can(Permission.READ_EVIDENCE):
            waiting = await self.work(lambda: self._waiting(who.name))
            talks = await self.work(lambda: self._talks(who))
            return self.page(request, "waiting.html", {"rounds": waiting, "talks": talks, **links})
        study, coding = self.opened.study, self.opened.coding_if_any
        viewer, opened = Viewer(who.name, who.role), self.opened
        found = await self.work(lambda: overview(study, coding, viewer, opened.interviews_if_readable))
        context = {
            "overview": found,
            "result": found.funnel,
            "widest": found.funnel.steps[0].entered if found.funnel and found.funnel.steps else 0,
            "talks": await self.work(lambda: self._talks(who)),
            "erasing": await self.pending_erasures(),
            "next_link": _next_link(request, found.next),
            **links,
        }
        return self.page(request, "study.html", context)

    def _talks(self, who: Visitor) -> InterviewsAtAGlance | None:
        """The interviews for those who hold them; none where the study has none."""
        if not who.can(Permission.CONDUCT) or not has_interviews(self.opened.latest):
            return None
        return interviews_at_a_glance(self.opened.latest, self.opened.interviews_if_any, who.can(Permission.LEAD))

    def _waiting(self, name: str) -> list[Waiting]:
        with self.opened.looking() as state:
            return waiting_for(state, name)


def _next_link(request: Request, following: Next | None) -> str:
    """The page on which the next thing is done, or the nearest to it."""
    if following is None or not following.page:
        return ""
    if following.survey:
        return link_to(request, following.page, name=following.survey) or link_to(request, "surveys")
    if following.page == "rounds":
        return link_to(request, "round", name=following.round) or link_to(request, "rounds")
    if not following.round:
        return link_to(request, following.page)
    return link_to(request, following.page, name=following.round)

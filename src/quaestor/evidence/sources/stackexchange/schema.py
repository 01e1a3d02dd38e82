"""The eight tables of a dump: the attributes of their rows and the type of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

WHOLE = pa.int64()
TIME = pa.timestamp("ms")
TEXT = pa.string()
FLAG = pa.bool_()
TAGS = pa.list_(pa.string())

OTHER = "other_attributes"
"""The column with attributes outside the schema, as a map from name to value."""


@dataclass(frozen=True)
class DumpTable:
    """One table: the stem of its file name, its root element, its attributes in the order of storage."""

    stem: str
    root: str
    attributes: tuple[tuple[str, pa.DataType], ...]

    @property
    def name(self) -> str:
        """The table's name in evidence and JSON: the file stem in lower case."""
        return self.stem.lower()

    @cached_property
    def columns(self) -> dict[str, str]:
        """The column (`owner_user_id`) of each attribute (`OwnerUserId`)."""
        return {attribute: column_name(attribute) for attribute, _ in self.attributes}

    @cached_property
    def schema(self) -> pa.Schema:
        fields = [pa.field(column_name(name), kind) for name, kind in self.attributes]
        return pa.schema([*fields, pa.field(OTHER, pa.map_(pa.string(), pa.string()))])


def column_name(attribute: str) -> str:
    """Converts `OwnerUserId` to `owner_user_id` and `RevisionGUID` to `revision_guid`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", attribute).lower()


def _define_table(stem: str, root: str, **attributes: pa.DataType) -> DumpTable:
    return DumpTable(stem, root, tuple(attributes.items()))


POSTS = _define_table(
    "Posts", "posts", Id=WHOLE, PostTypeId=WHOLE, AcceptedAnswerId=WHOLE, ParentId=WHOLE, CreationDate=TIME,
    DeletionDate=TIME, Score=WHOLE, ViewCount=WHOLE, Body=TEXT, OwnerUserId=WHOLE, OwnerDisplayName=TEXT,
    LastEditorUserId=WHOLE, LastEditorDisplayName=TEXT, LastEditDate=TIME, LastActivityDate=TIME, Title=TEXT,
    Tags=TAGS, AnswerCount=WHOLE, CommentCount=WHOLE, FavoriteCount=WHOLE, ClosedDate=TIME,
    CommunityOwnedDate=TIME, ContentLicense=TEXT,
)  # fmt: skip

COMMENTS = _define_table(
    "Comments", "comments", Id=WHOLE, PostId=WHOLE, Score=WHOLE, Text=TEXT, CreationDate=TIME,
    UserDisplayName=TEXT, UserId=WHOLE, ContentLicense=TEXT,
)  # fmt: skip

USERS = _define_table(
    "Users", "users", Id=WHOLE, Reputation=WHOLE, CreationDate=TIME, DisplayName=TEXT, LastAccessDate=TIME,
    WebsiteUrl=TEXT, Location=TEXT, AboutMe=TEXT, Views=WHOLE, UpVotes=WHOLE, DownVotes=WHOLE,
    ProfileImageUrl=TEXT, EmailHash=TEXT, Age=WHOLE, AccountId=WHOLE,
)  # fmt: skip

VOTES = _define_table(
    "Votes", "votes", Id=WHOLE, PostId=WHOLE, VoteTypeId=WHOLE, UserId=WHOLE, CreationDate=TIME,
    BountyAmount=WHOLE,
)  # fmt: skip

POST_HISTORY = _define_table(
    "PostHistory", "posthistory", Id=WHOLE, PostHistoryTypeId=WHOLE, PostId=WHOLE, RevisionGUID=TEXT,
    CreationDate=TIME, UserId=WHOLE, UserDisplayName=TEXT, Comment=TEXT, Text=TEXT, CloseReasonId=WHOLE,
    ContentLicense=TEXT,
)  # fmt: skip

POST_LINKS = _define_table(
    "PostLinks", "postlinks", Id=WHOLE, CreationDate=TIME, PostId=WHOLE, RelatedPostId=WHOLE, LinkTypeId=WHOLE,
)  # fmt: skip

BADGES = _define_table(
    "Badges", "badges", Id=WHOLE, UserId=WHOLE, Name=TEXT, Date=TIME, Class=WHOLE, TagBased=FLAG,
)  # fmt: skip

TAG_LIST = _define_table(
    "Tags", "tags", Id=WHOLE, TagName=TEXT, Count=WHOLE, ExcerptPostId=WHOLE, WikiPostId=WHOLE,
    IsModeratorOnly=FLAG, IsRequired=FLAG,
)  # fmt: skip

TABLES = (POSTS, COMMENTS, USERS, VOTES, POST_HISTORY, POST_LINKS, BADGES, TAG_LIST)

QUESTION, ANSWER = 1, 2
"""The two values of PostTypeId that studies use."""

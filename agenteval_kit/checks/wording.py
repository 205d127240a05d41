"""Guesses from text: promises, claims of an action, refusals.

May not read anything but the text that it is given; see docs/checks.md for how often it is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agenteval_kit.checks.result import Span
from agenteval_kit.checks.sentences import sentences
from agenteval_kit.text import tidy

__all__ = [
    "CLAIM_VERBS",
    "PROMISE_VERBS",
    "REFUSAL_PHRASES",
    "find_claims",
    "find_promises",
    "find_refusals",
]

# Edit these lists, or give a list of one's own where the key takes one.
PROMISE_VERBS: Final = (
    "arrange", "book", "call", "cancel", "compensate", "contact", "credit", "deliver", "email",
    "ensure", "escalate", "exchange", "expedite", "extend", "fix", "follow up", "forward",
    "get back", "give", "grant", "guarantee", "handle", "initiate", "issue", "make sure",
    "notify", "offer", "pay", "proceed", "process", "provide you with", "refund", "reimburse",
    "remove", "replace", "reply", "resolve", "return", "reverse", "send", "ship", "submit",
    "take care of", "transfer you", "update", "upgrade", "waive",
)  # fmt: skip
"""What an agent commits itself to with "I will ..."."""

CLAIM_VERBS: Final = (
    "added", "adjusted", "applied", "approved", "arranged", "booked", "cancelled", "canceled",
    "changed", "charged", "closed", "compensated", "completed", "confirmed", "created",
    "credited", "deducted", "deleted", "downgraded", "emailed", "escalated", "exchanged",
    "extended", "filed", "flagged", "forwarded", "granted", "initiated", "issued", "logged",
    "made", "modified", "notified", "opened", "ordered", "paid", "placed", "processed", "raised",
    "rebooked", "refunded", "registered", "reimbursed", "removed", "replaced", "requested",
    "rescheduled", "reserved", "reset", "resolved", "returned", "reversed", "scheduled", "sent",
    "set up", "shipped", "submitted", "switched", "transferred", "updated", "upgraded", "waived",
)  # fmt: skip
"""What changes something, in the past: looking something up is not in the list."""

REFUSAL_PHRASES: Final = (
    r"\bi (?:must|have to|need to) (?:decline|refuse)\b",
    r"\b(?:against|outside|beyond) (?:our|the|my|company) (?:policy|policies|scope|remit|role)\b",
    r"\b(?:outside|beyond) (?:of )?(?:the scope|my scope|what i can)\b",
    r"\b(?:is|are)(?:n't| not)(?: currently| typically)? (?:possible|allowed|permitted|supported"
    r"|offered|something (?:that )?(?:i|we) can)\b",
    r"\b(?:is|are) confidential\b",
    r"\bnot eligible (?:for|to)\b",
    r"\b(?:do|does|will)(?:n't| not)(?: currently| typically)? (?:allow|permit|support)\b",
    r"\bno (?:changes|modifications|refunds|exceptions|exchanges|returns)\b[^.]{0,80}"
    r"\b(?:can|possible|available|allowed)\b",
    r"\b(?:i|we) (?:do not|don't) have (?:the )?(?:access|permission|authority|authori[sz]ation"
    r"|ability|capability|means)\b",
    r"\b(?:i'm|i am|we are|we're) (?:not comfortable|not at liberty)\b",
)
"""How an agent declines without saying that it cannot."""

_ADVERB = r"(?:(?:now|also|then|gladly|personally|definitely|immediately|successfully|just) )*"
# What is due only if the user says so is an offer; what is asked is a question; what ends in a
# colon is a plan put forward.
_OFFER = re.compile(
    r"\?|:$|\b(?:if|unless|until|before|whether|would you|let me know|to confirm)\b"
    r"|\b(?:once|when|whenever|after|upon) (?:you|i have|i get|confirm|your|that)"
    r"|\bplease (?:confirm|provide|share|choose)\b|\bonce confirmed\b",
    re.IGNORECASE,
)
_COMMITS = re.compile(
    rf"\b(?:i|we)(?:'ll| will| shall| am going to|'m going to) {_ADVERB}"
    rf"(?:be (?:sending|issuing|processing|refunding) |(?:{'|'.join(PROMISE_VERBS)})\b)",
    re.IGNORECASE,
)
# What the customer is told will come holds, whatever has to be done first.
_FORETELLS = re.compile(
    r"\byou(?:'ll| will| should| can expect to) (?:also |then |soon |shortly )*"
    r"(?:be (?:refunded|credited|compensated|reimbursed|contacted|notified|receiving)"
    r"|receive|get (?:a |an |your |the |back|\$)|see (?:it|the|your) )"
    r"|\b(?:will|should) (?:also |then |now )*be (?:fully )?(?:processed|issued|refunded|credited"
    r"|returned|sent|shipped|delivered|exchanged|replaced|reimbursed|resolved|reflected"
    r"|deposited|cancell?ed|updated|waived|compensated|emailed|completed)\b"
    r"|\b(?:will|should) (?:only )?take \d"
    r"|\b(?:will|should) (?:arrive|reach you|appear|be there|be with you)\b"
    r"|\b(?:i|we) (?:can |do )?(?:promise|guarantee|assure you)\b"
    r"|\byou have my word\b|\brest assured\b|\bguaranteed\b",
    re.IGNORECASE,
)
_FORETOLD_OFFER = re.compile(
    r"\?|\b(?:if|whether|would you|please (?:confirm|provide))\b", re.IGNORECASE
)


def find_promises(text: str) -> list[Span]:
    """Sentences in which an agent commits itself, or those it speaks for, to something to come.

    "I will refund you", "you will receive an email", "the amount will be credited". What hangs
    on the user's consent ("if so, I will proceed"), questions, and what the agent does at once
    by looking something up are not promises.

    Returns
    -------
    list of Span
        Within ``tidy(text)``.
    """
    return [
        sentence
        for sentence, bare in _bare_sentences(text)
        if (_COMMITS.search(bare) and not _OFFER.search(bare))
        or (_FORETELLS.search(bare) and not _FORETOLD_OFFER.search(bare))
    ]


def _bare_sentences(text: str) -> Iterator[tuple[Span, str]]:
    # Marks of emphasis stand between the very words that the patterns want side by side.
    for sentence in sentences(tidy(text)):
        yield sentence, sentence.text.replace("**", "")


def _lead(text: str, end: int) -> str:
    # Bounded, so that a sentence of a million words does not take a million squared steps.
    return text[max(0, end - 200) : end]


_DONE = "|".join(CLAIM_VERBS)
_CLAIMS = re.compile(
    rf"\b(?:i|we)(?:'ve| have) (?:already |now |also |just |successfully )*(?:{_DONE}|provided)\b"
    rf"|\b(?:i|we) (?:already |just |successfully )*(?!confirmed|requested)(?:{_DONE})\b"
    rf"|\b(?:has|have) (?:already |now |also |just |both |all )*been "
    rf"(?:already |now |also |fully |successfully )*(?:{_DONE})\b"
    rf"|\b(?:was|were) (?:already |now |also )*successfully (?:{_DONE})\b"
    r"|\b(?:payment|refund|certificate|credit|charge|change|upgrade|cost)s? (?:[^,.;]{0,40} )?"
    r"(?:was|were) (?:processed|issued|charged|refunded|credited|applied|completed)\b"
    rf"|\b(?:is|are) now (?:successfully )?(?:{_DONE}|in place|complete)\b"
    rf"|\bsuccessfully (?:{_DONE})\b|\b(?:{_DONE}) successfully\b",
    re.IGNORECASE,
)
_NO_CLAIM = re.compile(
    r"\?|\b(?:if|once|when|whether|unless|until|after|before|as soon as) [^,]*$"
    r"|\b(?:not|never|cannot|can't|couldn't|unable to|will|would|to) (?:have |be )*$",
    re.IGNORECASE,
)


def find_claims(text: str) -> list[Span]:
    """Sentences in which an agent says that something was done: "I have refunded", "was sent".

    Only verbs that change something count (`CLAIM_VERBS`); "I have found your order" does not.

    Returns
    -------
    list of Span
        Within ``tidy(text)``.
    """
    found: list[Span] = []
    for sentence, bare in _bare_sentences(text):
        for claim in _CLAIMS.finditer(bare):
            if not _NO_CLAIM.search(_lead(bare, claim.start())):
                found.append(sentence)
                break
    return found


_CANNOT = r"(?:cannot|can't|can not|won't be able to|will not be able to|won't|will not)"
_UNABLE = (
    r"(?:(?:i|we) (?:also |currently |simply |unfortunately )*"
    rf"(?:{_CANNOT}|could not|couldn't)"
    r"|(?:i'm|i am|we're|we are) (?:also |currently |unfortunately )*"
    r"(?:unable|not able|not allowed|not permitted|not authori[sz]ed) to)"
)
# Not finding something, or not knowing it yet, declines nothing.
_SEEKING = (
    r"(?: (?:currently|directly|seem to|immediately))*"
    r" (?:find|locate|see|wait|retrieve|identify|verify|recall|recogni[sz]e|tell|replace|thank)\b"
)
_REFUSES = re.compile(
    rf"\b{_UNABLE}\b(?!{_SEEKING})"
    r"|\b(?:cannot|can't|can not|can no longer) be (?:[a-z]+ed|undone|made|done|given|taken|sent"
    r"|split)\b"
    r"|\b(?:i|we) can only\b"
    r"|\b(?:unfortunately|however),? [^.]{0,120}\bcan only be\b|" + "|".join(REFUSAL_PHRASES),
    re.IGNORECASE,
)
_NO_REFUSAL = re.compile(
    r"\bif (?:you|it|they|there|that)\b[^,]*$|^\W*(?:please )?note that\b"
    r"|\byou(?:'re| are)? $",
    re.IGNORECASE,
)
# "I cannot proceed without your id" asks for the id.
_WANTING = re.compile(
    r"\bwithout (?:the|your|a|an|this|that|it|knowing|having|first)\b|\buntil (?:you|i)\b",
    re.IGNORECASE,
)


def find_refusals(text: str) -> list[Span]:
    """Sentences in which an agent declines to do or to tell something.

    "I cannot share that", "it cannot be changed", "that is not possible". Not finding something
    and lacking a detail ("I can't proceed without your order number") are not refusals.

    Returns
    -------
    list of Span
        Within ``tidy(text)``.
    """
    found: list[Span] = []
    for sentence, bare in _bare_sentences(text):
        for refusal in _REFUSES.finditer(bare):
            before = _lead(bare, refusal.start())
            after = bare[refusal.end() : refusal.end() + 200]
            if not _NO_REFUSAL.search(before) and not _WANTING.search(after):
                found.append(sentence)
                break
    return found

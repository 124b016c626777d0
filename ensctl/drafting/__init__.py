"""Throughput algebra of draft-then-verify: conventions, acceptance, cost, depth, pools, counters.

One cycle: a drafter proposes K units, a verifier checks them in one pass, and the accepted prefix
is committed.  Everything here is scalar algebra on survival functions S(j) and cycle costs C(K).
"""

__all__: list[str] = []

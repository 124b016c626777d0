"""A language model small enough to train in seconds, and speculative decoding with it."""

from ensctl.simulation.ngram.decoder import DecodedText, speculative_decode
from ensctl.simulation.ngram.drafters import NgramDrafter, PromptLookup
from ensctl.simulation.ngram.losslessness import LosslessnessTest, losslessness_test
from ensctl.simulation.ngram.model import NgramModel
from ensctl.simulation.ngram.training import train_ngrams
from ensctl.simulation.ngram.verifier import TokenVerifier

__all__ = [
    "DecodedText",
    "LosslessnessTest",
    "NgramDrafter",
    "NgramModel",
    "PromptLookup",
    "TokenVerifier",
    "losslessness_test",
    "speculative_decode",
    "train_ngrams",
]

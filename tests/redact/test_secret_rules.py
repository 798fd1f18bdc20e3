"""Every rule finds a made-up value of its kind, and nothing that merely resembles one."""

import base64
import re
from collections.abc import Callable, Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.redact.context_rules import CONTEXT_RULES
from recollect.redact.findings import Confidence
from recollect.redact.policy import find_secrets
from recollect.redact.token_rules import LONG_WORD, TOKEN_RULES, iter_long_words
from tests.redact.made_up_secrets import (
    ALNUM,
    BASE64,
    DIGITS,
    FAMILIES,
    HEX,
    LOWER,
    UPPER,
    URL_SAFE,
    draw,
    make_pem,
)

Make = Callable[[Random], str]
MIN_KINDS = 60


def _family(name: str) -> Make:
    return lambda rng: FAMILIES[name].make(rng).text


def _joined(*parts: str | tuple[str, int]) -> Make:
    """Return a maker of values: literal parts, and random ones as (alphabet, length)."""
    return lambda rng: "".join(
        part if isinstance(part, str) else draw(rng, part[0], part[1]) for part in parts
    )


def _basic(rng: Random) -> str:
    return "Basic " + base64.b64encode(f"mina:{draw(rng, ALNUM, 12)}".encode()).decode()


TOKENS: Mapping[str, tuple[Make, ...]] = {
    "1password-key": (
        _joined("A3-", (UPPER, 6), "-", (UPPER, 11), "-", (UPPER, 5), "-", (UPPER, 5), "-AAB2C"),
    ),
    "1password-token": (_joined("ops_", "eyJ", (ALNUM, 100)),),
    "adyen-key": (_joined("AQE", "yhmfxK", (BASE64, 70)),),
    "age-key": (_joined("AGE-SECRET-", "KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),),
    "alibaba-key": (_joined("LT", "AI", (ALNUM, 20)),),
    "anthropic-key": (
        _family("anthropic"),
        _family("anthropic-oauth"),
        _joined("sk-", "ant-admin01-", (URL_SAFE, 80), "AA"),
        _joined("sk-", "ant-sid01-", (URL_SAFE, 80), "AA"),
        _joined("sk-", "ant-ort01-", (URL_SAFE, 80), "AA"),
    ),
    "artifactory-key": (_joined("AK", "Cp", (ALNUM, 69)),),
    "atlassian-token": (_joined("ATA", "TT3", (URL_SAFE, 180), "=0A1B2C3D"),),
    "aws-bedrock-key": (_joined("AB", "SK", (BASE64, 120), "="),),
    "aws-key": (_family("aws-key"), _joined("AS", "IA", (UPPER + "234567", 16))),
    "azure-client-secret": (_family("azure-client"),),
    "azure-devops-token": (_joined("AZ", "DO", (ALNUM, 76)),),
    "azure-key": (_family("azure-storage"),),
    "azure-sas": (_joined("sv=2024-01-01&sr=b&sig=", (BASE64, 43), "="),),
    "bitbucket-token": (_joined("AT", "BB", (ALNUM, 32)),),
    "brevo-key": (_joined("xkey", "sib-", (HEX, 64), "-", (ALNUM, 16)),),
    "cloudflare-key": (_joined("v1.", "0-", (HEX, 24), "-", (HEX, 146)),),
    "databricks-token": (_family("databricks"),),
    "digitalocean-token": (_family("digitalocean"),),
    "discord-token": (_family("discord"),),
    "discord-webhook": (
        _joined("https://discord.example/api/", "webhooks/", (DIGITS, 18), "/", (URL_SAFE, 68)),
    ),
    "docker-token": (_joined("dckr_", "pat_", (URL_SAFE, 27)),),
    "dynatrace-token": (_joined("dt0", "c01.", (UPPER, 24), ".", (UPPER, 64)),),
    "elevenlabs-key": (_joined("sk", "_", (HEX, 48)),),
    "facebook-token": (_joined("EA", "AC", (ALNUM, 120)),),
    "firebase-key": (_joined("AAAA", (URL_SAFE, 7), ":AP", "A91b", (URL_SAFE, 134)),),
    "fly-token": (_joined("fm", "2_", (BASE64, 80)),),
    "gcp-key": (_family("gcp-api-key"),),
    "github-token": (_family("github"), _family("github-fine-grained")),
    "gitlab-token": (_family("gitlab"), _joined("gl", "rt-", (URL_SAFE, 19), "x")),
    "google-access-token": (_family("google-access"),),
    "google-client-secret": (_family("google-oauth"),),
    "google-refresh-token": (_joined("1/", "/0", (URL_SAFE, 60), "x"),),
    "groq-key": (_joined("gs", "k_", (ALNUM, 52)),),
    "heroku-key": (_joined("HR", "KU-", (ALNUM, 40)),),
    "hugging-face-token": (_family("hugging-face"),),
    "jwt": (_family("jwt"),),
    "langsmith-key": (_joined("lsv2", "_pt_", (HEX, 32), "_", (HEX, 10)),),
    "mailchimp-key": (_joined((HEX, 32), "-us", "12"),),
    "mailgun-key": (_family("mailgun"),),
    "matrix-token": (_joined("sy", "t_", (ALNUM, 12), "_", (ALNUM, 20), "_", (ALNUM, 6)),),
    "model-api-key": (_joined("s", "k-", (HEX, 32)),),
    "npm-token": (_family("npm"),),
    "nvidia-key": (_joined("nv", "api-", (URL_SAFE, 63), "x"),),
    "openai-key": (_family("openai"), _family("openai-classic")),
    "openrouter-key": (_joined("sk-", "or-v1-", (HEX, 64)),),
    "paypal-token": (_joined("access_token$", "production$", (LOWER, 16), "$", (HEX, 32)),),
    "perplexity-key": (_joined("pp", "lx-", (ALNUM, 48)),),
    "private-key": (_family("rsa-key"), _family("openssh-key"), _family("pgp-key")),
    "putty-key": (
        _joined("PuTTY-User-", "Key-File-3: ssh-rsa\n", (BASE64, 64), "\nPrivate-MAC: ", (HEX, 40)),
    ),
    "pypi-token": (_family("pypi"),),
    "replicate-token": (_joined("r", "8_", (ALNUM, 37)),),
    "resend-key": (_joined("r", "e_", (ALNUM, 8), "_", (ALNUM, 24)),),
    "sendgrid-key": (_family("sendgrid"),),
    "shopify-token": (_family("shopify"),),
    "slack-token": (
        _family("slack-bot"),
        _joined("xa", "pp-1-A", (UPPER, 8), "-", (DIGITS, 12), "-", (HEX, 64)),
    ),
    "slack-webhook": (_family("slack-webhook"),),
    "sourcegraph-token": (_joined("sg", "p_", (HEX, 40)),),
    "square-token": (_joined("sq0", "atp-", (URL_SAFE, 21), "x"), _joined("EA", "AA", (ALNUM, 60))),
    "stripe-key": (_family("stripe"), _joined("rk_", "test_", (ALNUM, 24))),
    "tavily-key": (_joined("tv", "ly-dev-", (ALNUM, 32)),),
    "teams-webhook": (
        _joined(
            "https://example.org/web", "hookb2/", (HEX, 36), "@", (HEX, 36), "/IncomingWebhook"
        ),
    ),
    "telegram-token": (_family("telegram"),),
    "tencent-key": (_joined("AK", "ID", (ALNUM, 32)),),
    "terraform-token": (_joined((ALNUM, 14), ".atla", "sv1.", (ALNUM, 64)),),
    "twilio-key": (_family("twilio"),),
    "twitter-token": (_joined("A" * 22, (ALNUM, 80)),),
    "vault-token": (_family("vault"),),
    "webhook-secret": (_family("stripe-webhook"),),
    "xai-key": (_joined("xa", "i-", (ALNUM, 80)),),
}
"""Values by kind, for the rules that know a value by its shape."""


def _mnemonic(rng: Random) -> str:
    words = "abandon brisk canal dwarf ember fossil gravel hollow island jungle kettle lunar"
    return 'MNEMONIC="' + " ".join(rng.sample(words.split(), 12)) + '"'


SURROUNDED: Mapping[str, tuple[Make, ...]] = {
    "authorization": (_joined("Authorization: Digest ", (ALNUM, 40)),),
    "basic-auth": (_basic,),
    "bearer-token": (_joined("Bearer ", (ALNUM, 40)),),
    "command-password": (
        _joined("curl -s -u mina:", (ALNUM, 16), " https://example.org"),
        _joined("mysql -u mina -p", (ALNUM, 16), " orders"),
        _joined("sshpass -p ", (ALNUM, 16), " ssh host"),
        _joined("openssl rsa -passin pass:", (ALNUM, 16)),
    ),
    "connection-string": (
        _family("postgres-url"),
        _joined("amqps://mina:", (ALNUM, 8), "@", (ALNUM, 8), "@mq.example.org/orders"),
    ),
    "cookie": (_joined("Set-Cookie: sid=", (ALNUM, 40), "; HttpOnly"),),
    "mnemonic": (_mnemonic,),
    "password": (_joined("machine example.org login mina password ", (ALNUM, 20)),),
    "token-in-url": (_joined("https://", (ALNUM, 40), "@git.example.org/a.git"),),
    "webhook-url": (
        _joined("curl https://hooks.example.org/catch/", (ALNUM, 24)),
        _joined("POST https://chat.example.org/hooks/", (ALNUM, 26), "/send"),
        _joined("https://example.org/api/webhooks/", (ALNUM, 32)),
    ),
    "wireguard-key": (_joined("PrivateKey = ", (BASE64, 43), "="),),
}
"""Values with what they are recognised by."""


def test_every_rule_has_a_made_up_value() -> None:
    """No rule is without a test, and there are at least sixty kinds of secrets."""
    assert {rule.kind for rule in TOKEN_RULES} == set(TOKENS)
    assert {rule.kind for rule in CONTEXT_RULES} == set(SURROUNDED)
    assert len(TOKENS) + len(SURROUNDED) >= MIN_KINDS


@pytest.mark.parametrize("kind", sorted(TOKENS))
def test_a_token_is_known_by_its_shape(kind: str) -> None:
    """A value alone in a sentence is found under the name of its kind, without doubt."""
    rng = Random(11)
    for make in TOKENS[kind] * 5:
        value = make(rng)
        found = find_secrets(f"Please use {value} from now on.")
        assert [(each.kind, each.confidence) for each in found] == [(kind, Confidence.DEFINITE)], (
            value
        )


@pytest.mark.parametrize("kind", sorted(SURROUNDED))
def test_a_value_is_known_by_its_surroundings(kind: str) -> None:
    """A value without a shape of its own is found by what is around it."""
    rng = Random(12)
    for make in SURROUNDED[kind] * 5:
        value = make(rng)
        found = find_secrets(f"$ {value}\n")
        assert [each.kind for each in found] == [kind], value


@pytest.mark.parametrize("kind", sorted(set(TOKENS) - {"private-key", "putty-key"}))
def test_a_part_of_a_longer_word_is_no_token(kind: str) -> None:
    """The rule for a kind does not match in the middle of base64."""
    rng = Random(13)
    value = TOKENS[kind][0](rng)
    around = draw(rng, ALNUM, 30)
    found = find_secrets(f"{around}{value}{around}")
    standalone = {rule.kind for rule in TOKEN_RULES if rule.standalone}
    assert kind not in standalone or kind not in {each.kind for each in found}


def test_a_wrong_checksum_makes_a_token_likely_only() -> None:
    """A GitHub token with a wrong checksum is masked in exports, but is not definite."""
    value = "gh" + "p_" + draw(Random(14), ALNUM, 36)
    assert [each.confidence for each in find_secrets(f"see {value}")] == [Confidence.LIKELY]


@pytest.mark.parametrize(
    "text",
    [
        "AWS_ACCESS_KEY_ID=AKIA" + "IOSFODNN7EXAMPLE",
        "export API_KEY=<your-api-key>",
        "password: ${DB_PASSWORD}",
        "DATABASE_URL=postgres://user:password@localhost/db",
        "token = os.environ['GITHUB_TOKEN']",
        "TOKEN=" + "x" * 40,
        "Authorization: Bearer $TOKEN",
        "password=********",
        '{"max_tokens": 4096, "stop_token": "<|endoftext|>"}',
        "secret_name: letterpress-production-2",
        '"betas": ["thinking-token-count-2026-05-13", "per-turn-control-2026-07-01"]',
    ],
)
def test_placeholders_and_references_are_no_secrets(text: str) -> None:
    """Documentation, templates and code that reads a secret contain no secrets."""
    assert find_secrets(text) == ()


def test_a_private_key_that_was_cut_off_is_found() -> None:
    """The output of a tool is often truncated in the middle of a key."""
    plant = make_pem(Random(15), "RSA " + "PRIVATE KEY")
    text = plant.text[:400] + "\n... [12 lines truncated] ..."
    (finding,) = find_secrets(text)
    assert finding.kind == "private-key"
    assert all(line in text[finding.start : finding.end] for line in plant.secrets[:5])


@pytest.mark.parametrize("mark", ["", "+", "-"])
@pytest.mark.parametrize("length", [1_000, 30_000, 150_000])
def test_a_long_private_key_is_found_as_a_whole(length: int, mark: str) -> None:
    """From its first line to its last, also in a diff."""
    body = draw(Random(16), BASE64, length)
    lines = [body[at : at + 64] for at in range(0, length, 64)]
    name = "PGP " + "PRIVATE KEY BLOCK-----"
    block = "\n".join(mark + line for line in (f"-----BEGIN {name}", *lines, f"-----END {name}"))
    (finding,) = find_secrets(f"before\n{block}\nafter\n")
    assert finding.kind == "private-key"
    assert (finding.start, finding.end) == (len("before\n" + mark), len("before\n" + block))


@given(st.lists(st.sampled_from(["a", "Z0-", "_.~" * 8, "x" * 21, " ", "é", "+"])).map("".join))
def test_long_words_are_found_as_their_pattern_says(text: str) -> None:
    """The quick search finds what the regular expression matches."""
    data = text.encode()
    expected = [found.span() for found in re.finditer(LONG_WORD, data)]
    assert list(iter_long_words(data)) == expected

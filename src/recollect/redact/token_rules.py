"""Secrets that can be recognised by their shape: the prefix of a vendor, then random characters.

Lengths are lower bounds where a vendor does not promise one. docs/secrets.md lists the kinds.
"""

from typing import Final

from recollect.redact.checksums import check_crc, check_jwt
from recollect.redact.findings import Confidence
from recollect.redact.randomness import looks_random
from recollect.redact.rule import Rule, token

_KEY_BLOCK_REACH: Final = 200_000
"""A PGP key with many subkeys and signatures has some ten thousand characters."""

_NO_RULER: Final = r"(?:-{0,4}[^\-])*?"
"""Anything but five dashes, so that a block without an end is not searched for beyond the next."""


def _if_random(value: bytes) -> Confidence | None:
    """Keep only random values, for prefixes that are words too."""
    return Confidence.DEFINITE if looks_random(value) else None


_CLOUD: Final = (
    token("aws-key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    token("aws-bedrock-key", "absk", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    token("gcp-key", "aiza", r"AIza[A-Za-z0-9_\-]{35}"),
    token("google-client-secret", "gocspx-", r"GOCSPX-[A-Za-z0-9_\-]{28}"),
    token("google-access-token", "ya29.", r"ya29\.[A-Za-z0-9_\-.]{20,}"),
    token("google-refresh-token", "1//0", r"1//0[A-Za-z0-9_\-]{40,}", _if_random),
    Rule(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{42,86}={0,2})",
        standalone=False,
    ),
    Rule(
        "azure-client-secret",
        ("q~",),
        r"[A-Za-z0-9_~.\-]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34}",
        before=4,
        reach=60,
    ),
    Rule("azure-sas", ("sig=",), r"sig=([A-Za-z0-9+/%]{40,60}={0,2})", standalone=False),
    token("azure-devops-token", "azdo", r"AZDO[A-Za-z0-9]{40,}"),
    token("alibaba-key", "ltai", r"LTAI[A-Za-z0-9]{16,24}", _if_random),
    token("tencent-key", "akid", r"AKID[A-Za-z0-9]{32}", _if_random),
    token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    token("cloudflare-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    token("heroku-key", "hrku-", r"HRKU-[A-Za-z0-9_\-]{36,}"),
    token("fly-token", "fm2_ fo1_", r"(?:fm2_|fo1_)[A-Za-z0-9+/=_\-]{40,}"),
    token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?"),
    token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_\-]{24,}", _if_random),
    Rule(
        "terraform-token",
        (".atlasv1.",),
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{60,70}",
        before=14,
        reach=90,
    ),
    token("dynatrace-token", "dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
)

_CODE_HOSTS: Final = (
    token(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_[A-Za-z0-9]{36}",
        check_crc,
    ),
    token("github-token", "github_pat_", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    token(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glimt- glagent- glft- gloas- glffct-",
        r"gl(?:pat|dt|rt|ptt|cbt|soat|imt|agent|ft|oas|ffct)-[A-Za-z0-9_\-.]{20,}",
        _if_random,
    ),
    token("bitbucket-token", "atbb atctt3", r"(?:ATBB[A-Za-z0-9]{32,}|ATCTT3[A-Za-z0-9_\-=]{60,})"),
    token("atlassian-token", "atatt3", r"ATATT3[A-Za-z0-9_\-=]{60,}"),
    token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}", check_crc),
    token("pypi-token", "pypi-ageichlwas", r"pypi-AgEIcHlwaS[A-Za-z0-9_\-]{50,}"),
    token("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_\-]{27,}"),
    token("artifactory-key", "akcp", r"AKCp[A-Za-z0-9]{10,}", _if_random),
    token("sourcegraph-token", "sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
)

_CHAT: Final = (
    token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe. xoxc- xoxd-",
        r"xox[abcdeprs][-.][A-Za-z0-9%\-.]{20,}",
        _if_random,
    ),
    token("slack-token", "xapp-", r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{40,}"),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,})",
        standalone=False,
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        r"/api/webhooks/([0-9]{15,20}/[A-Za-z0-9_\-]{50,})",
        standalone=False,
    ),
    Rule(
        "teams-webhook",
        ("/webhookb2/",),
        r"/webhookb2/([A-Za-z0-9@/\-]{60,})",
        standalone=False,
    ),
    Rule(
        "telegram-token",
        (":aa",),
        r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{33}",
        before=10,
        reach=60,
    ),
    token("matrix-token", "syt_", r"syt_[A-Za-z0-9]+_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}"),
)

_PAYMENT_AND_MAIL: Final = (
    token(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_",
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{20,}",
        _if_random,
    ),
    token("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}", _if_random),
    token("square-token", "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[A-Za-z0-9_\-]{22,}"),
    token("square-token", "eaaa", r"EAAA[A-Za-z0-9_\-]{60}", _if_random),
    token(
        "paypal-token",
        "access_token$production$",
        r"access_token\$production\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    token("adyen-key", "aqe", r"AQE[a-z]hmfxK[A-Za-z0-9+/=\-<>^{}]{60,}"),
    token("twilio-key", " ".join(f"sk{digit}" for digit in "0123456789abcdef"), r"SK[a-f0-9]{32}"),
    token("sendgrid-key", "sg.", r"SG\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43}"),
    token("mailgun-key", "key-", r"key-[a-f0-9]{32}"),
    Rule("mailchimp-key", ("-us",), r"[a-f0-9]{32}-us[0-9]{1,2}", before=32, reach=40),
    token("brevo-key", "xkeysib- xsmtpsib-", r"x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", _if_random),
    token("facebook-token", "eaac", r"EAAC[A-Za-z0-9]{80,}", _if_random),
    token("twitter-token", "aaaaaaaaaaaaaaaaaaaaa", r"A{21,24}[A-Za-z0-9%]{60,}"),
    Rule(
        "firebase-key", (":apa91b",), r"[A-Za-z0-9_\-]{7,20}:APA91b[A-Za-z0-9_\-]{100,}", before=20
    ),
)

_MODELS: Final = (
    token(
        "anthropic-key", "sk-ant-", r"sk-ant-[a-z]{2,12}[0-9]{2}-[A-Za-z0-9_\-]{20,}", _if_random
    ),
    token(
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_\-]{40,}",
        _if_random,
    ),
    token("openai-key", "sk-", r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    token("openrouter-key", "sk-or-", r"sk-or-(?:v1-)?[a-f0-9]{64}"),
    # DeepSeek, Moonshot, Alibaba's models and others have taken over OpenAI's first form.
    token("model-api-key", "sk-", r"sk-[A-Za-z0-9]{32,64}", _if_random),
    token("hugging-face-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z]{34}"),
    token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    token("xai-key", "xai-", r"xai-[A-Za-z0-9]{70,}"),
    token("nvidia-key", "nvapi-", r"nvapi-[A-Za-z0-9_\-]{60,}"),
    token("langsmith-key", "lsv2_pt_ lsv2_sk_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    token("tavily-key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{30,}", _if_random),
    token("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}"),
)

_KEYS: Final = (
    token(
        "jwt", "eyj", r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}", check_jwt
    ),
    # Two forms: with its end, and cut off after some lines of base64.
    Rule(
        "private-key",
        ("-----begin",),
        r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
        rf"{_NO_RULER}-{{5,6}}END (?:[A-Z0-9]+ ){{0,4}}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:[\s0-9→+|>:\-]*[A-Za-z0-9+/=]{30,})+)",
        reach=_KEY_BLOCK_REACH,
        standalone=False,
    ),
    token("age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    Rule(
        "putty-key",
        ("putty-user-key-file",),
        r"PuTTY-User-Key-File-(?s:.*?)Private-MAC: [a-f0-9]+",
        reach=20_000,
    ),
    token("1password-token", "ops_ey", r"ops_eyJ[A-Za-z0-9+/=_\-]{80,}"),
    token(
        "1password-key",
        "a3-",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-(?:[A-Z0-9]{5}-){2}[A-Z0-9]{5}",
    ),
    Rule(
        "discord-token", (), r"[MNO][A-Za-z0-9_\-]{23,25}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,38}"
    ),
)

TOKEN_RULES: Final[tuple[Rule, ...]] = (
    *_CLOUD, *_CODE_HOSTS, *_CHAT, *_PAYMENT_AND_MAIL, *_MODELS, *_KEYS
)  # fmt: skip
"""Rules for values that speak for themselves."""

import random
import string
import time

import pytest

from coherence.judges.secrets import Secret, entropy, find_secrets, looks_random

# Written in pieces, so that no scanner takes these made-up keys for real ones.
GITHUB = "ghp_" + "aQ7xkLmN92vBcD3fGhJ5kPqRsTuVwX1yZ0Ab"
KEYS = {
    "AWS": "AKIA" + "Q3EGRIOM5JLXZ7PL",
    "GCP": "AIza" + "SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe",
    "GitHub": GITHUB,
    "Slack": "xoxb-" + "2345678901-2345678901234-AbCdEfGhIjKlMnOpQrStUvWx",
    "OpenAI": "sk-proj-" + "aB3dE5fG7hI9jK1lM3nOT3BlbkFJpQ7rS9tU1vW3xY5zA7bC",
    "Anthropic": "sk-ant-" + "api03-aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC",
    "Hugging Face": "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi",
    "JWT": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    + "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
}
BODY = "MIIEpAIBAAKCAQEA7bq1qkzM8mA0V8mGx0C2gU7dRj3r0z9gkVw4l1lO2u7sJ8xT\ntV0r1T3x9yqz"


def found(text: str) -> list[str]:
    return [text[secret.start : secret.end].strip() for secret in find_secrets(text)]


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(
    "around",
    ["{}", "export KEY={}\n", "It is {}.", 'the key is "{}".', '{{"k": "{}"}}', '{{\\"k\\": \\"{}\\"}}',
     "line\\n{}\\nline", "né {}"],
    ids=["bare", "shell", "prose", "quoted", "JSON", "escaped JSON", "escaped line ends", "not ASCII"],
)  # fmt: skip
def test_a_key_of_a_known_format_is_found_wherever_it_stands(key: str, around: str) -> None:
    assert found(around.format(key)) == [key]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password = 'tr0ub4dor&3x'", "tr0ub4dor&3x"),
        ("DB_PASSWORD=8fJ2kdQ9", "8fJ2kdQ9"),
        ('{"client_secret": "zQ8vTn3LkP0wXy6R"}', "zQ8vTn3LkP0wXy6R"),
        ("api-key: 0f8b2b5f8b7d6c5e4f3a2b1c0d9e8f7a", "0f8b2b5f8b7d6c5e4f3a2b1c0d9e8f7a"),
        ('self.token: str = "8fj2KdkQ9sLx01mZ"', "8fj2KdkQ9sLx01mZ"),
        ("mysql --password=S3cr3t!pw9 -u me", "S3cr3t!pw9"),
        ("login --api-token 8fj2KdkQ9sLx01mZ", "8fj2KdkQ9sLx01mZ"),
        ("<password>8fJ2kdQ9!</password>", "8fJ2kdQ9!"),
        ("Authorization: Bearer 8fj2KdkQ9sLx01mZ", "8fj2KdkQ9sLx01mZ"),
        ("postgres://bob:hunter2@db.internal/x", "hunter2"),
        ("redis://:s3cr3tPa55@localhost:6379", "s3cr3tPa55"),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----", BODY),
        (f"-----BEGIN PRIVATE KEY-----\n{BODY[:40]}\n[... 9 characters left out ...]", BODY[:40]),
        (f"[... 9 characters left out ...]\n{BODY}\n-----END PRIVATE KEY-----", BODY),
        ("x ghp_aQ7xk\n[... 100 characters left out ...]\n", "ghp_aQ7xk"),
    ],
)
def test_a_secret_is_found(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "commit 9fceb02a0f8b2b5f8b7d6c5e4f3a2b1c0d9e8f7a",
        "index 83db48f..bf269f4 100644",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  file.tar.gz",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        '"key": "9fceb02a0f8b2b5f8b7d6c5e4f3a2b1c0d9e8f7a"',
        "max_tokens: 4096, total_tokens=137788211200.json",
        "token_type_ids = input_ids_for_batch_2",
        'password = os.environ["DB_PASSWORD"]',
        "password = get_password_from_user()",
        'password: "password123", secret: "changeme-please1"',
        "API_KEY=your_api_key_here_123",
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
        "token=${GITHUB_TOKEN}",
        "curl http://user:pass@host/ and https://user:password@host:80/",
        "git clone ssh://git@github.com:22/x.git http://localhost:8000/@me",
        "hf_dataset_name_2024_v1 and npm_config_registry_url_1",
        "-----BEGIN PRIVATE KEY----- opens such a file, and then the lines of the key follow",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n",
        "self.assertEqual(parser.next_token, Token(kind='identifier', value='abc123def'))",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert found(text) == []


def test_secrets_that_overlap_are_one() -> None:
    text = f"token={GITHUB}"

    assert find_secrets(text) == [Secret("github-pat", 6, len(text))]


def test_digests_and_encoded_data_stay_by_the_thousand() -> None:
    draw = random.Random(1)
    base64 = string.ascii_letters + string.digits + "+/"
    lines = ["".join(draw.choices("0123456789abcdef", k=40)) + "  src/file.py" for _ in range(2000)]
    lines += ["".join(draw.choices(base64, k=76)) for _ in range(2000)]

    assert found("\n".join(lines)) == []


@pytest.mark.parametrize(
    ("value", "random_looking"),
    [
        ("os.environ.get", False),
        ("0f8b2b5f8b7d6c5e", True),
        ("aaaaaaaaaaaaaaaa1a", False),
        ("short1X", False),
    ],
)
def test_a_random_value_is_told_from_words(value: str, random_looking: bool) -> None:
    assert looks_random(value) == random_looking


def test_a_long_row_of_separators_is_decided_at_once() -> None:
    start = time.process_time()
    assert not looks_random("-" * 26 + "1a2b3c4d5e")

    assert time.process_time() - start < 1  # each separator more doubled it


def test_entropy_is_in_bits_a_character() -> None:
    assert (entropy("aaaa"), entropy("abab"), entropy("abcd")) == (0, 1, 2)


@pytest.mark.parametrize(
    "piece", ["token=", "A" * 30 + "\n-----END PRIVATE KEY-----\n", "-eyJ", "://a:b", "password: a | "]
)  # fmt: skip
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    find_secrets("the rules are compiled once")
    times = []
    for size in (20_000, 160_000):
        start = time.process_time()
        find_secrets(piece * (size // len(piece)))
        times.append(time.process_time() - start)

    assert times[1] < 24 * times[0] + 0.2  # 64 times, were it quadratic

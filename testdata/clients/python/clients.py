"""Makes two logical calls to the stub through a Python client library, as that
library does when nobody has configured it, or as its documentation shows.

usage: STUB=http://127.0.0.1:PORT python3 clients.py LIBRARY
"""

import os
import sys

BASE = os.environ.get("STUB", "")


def plain(url):
    """One request; a refusal is an exception, for libraries that retry those."""
    import requests

    requests.get(url, timeout=10).raise_for_status()


def urllib3_retry():
    import urllib3

    retry = urllib3.Retry(total=4, backoff_factor=0.5, status_forcelist=[503])
    pool = urllib3.PoolManager(retries=retry)
    return urllib3.__version__, lambda call: pool.request("GET", f"{BASE}/{call}")


def requests_retry():
    """As urllib3, whose waits are 0 where nobody names a factor."""
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=Retry(total=4, status_forcelist=[503])))
    return requests.__version__, lambda call: session.get(f"{BASE}/{call}")


def tenacity_random():
    from tenacity import retry, stop_after_attempt, wait_random_exponential

    call = retry(wait=wait_random_exponential(multiplier=1, max=60), stop=stop_after_attempt(5))(plain)
    return version("tenacity"), lambda name: call(f"{BASE}/{name}")


def tenacity_fixed():
    from tenacity import retry, stop_after_attempt, wait_fixed

    call = retry(wait=wait_fixed(2), stop=stop_after_attempt(4))(plain)
    return version("tenacity"), lambda name: call(f"{BASE}/{name}")


def backoff_expo():
    import backoff
    import requests

    call = backoff.on_exception(backoff.expo, requests.RequestException, max_tries=5)(plain)
    return version("backoff"), lambda name: call(f"{BASE}/{name}")


def retrying_exponential():
    from retrying import Retrying

    retry = Retrying(wait_exponential_multiplier=1000, wait_exponential_max=10000, stop_max_attempt_number=4)
    return version("retrying"), lambda name: retry.call(plain, f"{BASE}/{name}")


def botocore(mode):
    def make():
        import botocore
        import botocore.session
        from botocore.config import Config

        os.environ["AWS_EC2_METADATA_DISABLED"] = "true"

        def call(name):
            botocore.session.Session().create_client(
                "dynamodb", region_name="us-east-1", endpoint_url=f"{BASE}/{name}",
                aws_access_key_id="key", aws_secret_access_key="none",
                config=Config(retries={"mode": mode} if mode else {}),
            ).list_tables()

        return botocore.__version__, call

    return make


def google():
    from googleapiclient.http import HttpRequest
    import httplib2

    def call(name):
        HttpRequest(httplib2.Http(), lambda resp, content: content, f"{BASE}/{name}").execute(num_retries=4)

    return version("google-api-python-client"), call


def gitlab():
    import gitlab as lib

    client = lib.Gitlab(BASE, private_token="none", retry_transient_errors=True)
    return lib.__version__, lambda name: client.http_get(f"/{name}", max_retries=5)


def stripe():
    import platform

    import stripe as lib

    # It sends the machine's name and kernel along; captures are kept.
    platform.platform, platform.uname = lambda: "Linux", lambda: ("Linux", "stub")
    lib.api_base, lib.api_key, lib.max_network_retries = BASE, "sk_test_none", 3
    lib.enable_telemetry = False
    return version("stripe"), lambda name: lib.Customer.retrieve(name)


def swift():
    import swiftclient

    connection = swiftclient.Connection(preauthurl=f"{BASE}/v1/AUTH_stub", preauthtoken="none", retries=3, retry_on_ratelimit=True)
    return swiftclient.__version__, lambda name: connection.get_container(name)


def version(package):
    from importlib import metadata

    return metadata.version(package)


LIBRARIES = {
    "urllib3": urllib3_retry,
    "requests": requests_retry,
    "tenacity": tenacity_random,
    "tenacity-fixed": tenacity_fixed,
    "backoff": backoff_expo,
    "retrying": retrying_exponential,
    "botocore": botocore("standard"),
    "botocore-legacy": botocore(""),
    "google-api-python": google,
    "python-gitlab": gitlab,
    "stripe-python": stripe,
    "swiftclient": swift,
}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in LIBRARIES or not BASE:
        sys.exit(__doc__)
    number, call = LIBRARIES[sys.argv[1]]()
    print("version", number, flush=True)
    for name in ("call-a", "call-b"):
        try:
            call(name)
            print(f"{name}: ok", flush=True)
        except Exception as e:  # what a library raises is not the point
            print(f"{name}: {type(e).__name__}: {str(e)[:300]}", flush=True)

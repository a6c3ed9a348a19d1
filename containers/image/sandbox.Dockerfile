# The image of cloudflareSandbox(): the SDK's own at the package's version (they speak one protocol), berth-exec, and the
# user that tool calls run as.
FROM cloudflare/sandbox:0.12.10

# Only what the base lacks. setpriv and setsid, by which berth-exec and the file verbs become the user, are part of
# util-linux; Ubuntu, of which the SDK makes its image, has it always.
RUN set -eu; missing=""; \
    want() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }; \
    want rg ripgrep; want setpriv util-linux; want setsid util-linux; \
    if [ -n "$missing" ]; then \
      apt-get update; \
      DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; \
      rm -rf /var/lib/apt/lists/*; \
    fi

# Tool calls run as this user; its home is the workspace. The SDK's server stays root. New names in /opt are free, what
# stands there stays (sticky).
RUN useradd --user-group --no-create-home --home-dir /workspace --shell /bin/bash berth \
    && install -d -o berth -g berth /workspace \
    && chmod 1777 /opt

COPY --chmod=755 berth-exec /usr/local/bin/berth-exec

# wrangler dev wants a port that is exposed; the SDK's server listens on it.
EXPOSE 3000

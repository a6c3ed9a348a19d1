# The image of cloudflareSandbox(): the SDK's own at the package's version (they speak one protocol), and berth-exec.
FROM cloudflare/sandbox:0.12.10

RUN command -v rg >/dev/null \
  || (apt-get update && apt-get install -y --no-install-recommends ripgrep && rm -rf /var/lib/apt/lists/*)
COPY --chmod=755 berth-exec /usr/local/bin/berth-exec
RUN mkdir -p /workspace

# wrangler dev wants a port that is exposed; the SDK's server listens on it.
EXPOSE 3000

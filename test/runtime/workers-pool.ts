/**
 * The one place that names the package which runs tests inside workerd, so that moving to its successor is a rename.
 * The runtime is the deployment's own: bindings, flags and dates come from `wrangler.toml`.
 */
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";

/** Variables of the runtime tests; the rest is as deployed. */
export interface WorkersPoolOptions {
  variables: Record<string, string>;
}

export function workersPool(options: WorkersPoolOptions) {
  return cloudflareTest({
    wrangler: { configPath: "./wrangler.toml" },
    // Without this the AI binding asks for an account's token.
    remoteBindings: false,
    miniflare: { bindings: options.variables },
  });
}

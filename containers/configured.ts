/**
 * `sandbox()`: the sandbox the deployment chose with the variable `SANDBOX`, never by a failed call.
 *
 * The value is only a mark. The engine knows the setting and puts the real factory in its place with
 * `resolveConfigured` (containers/drivers/index.ts).
 *
 * Source: contract RUNTIME 9 (`SANDBOX`).
 */
import type { SandboxFactory } from "./sandbox.ts";

export const CONFIGURED_KIND = "configured";

/** @example `useSandbox(sandbox());` */
export function sandbox(): SandboxFactory {
  return {
    kind: CONFIGURED_KIND,
    createSandbox() {
      return Promise.reject(
        new Error("sandbox() stands for the setting SANDBOX and must be resolved before it is opened."),
      );
    },
  };
}

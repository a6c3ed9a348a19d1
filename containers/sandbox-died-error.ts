/**
 * What a call is told that was in flight when its sandbox died: the outcome is unknown, the files may be gone.
 *
 * Source: contract TOOLS 12, 13.3.
 */

export type SandboxDeathReason = "stopped" | "probe_silent";

const HOW: Readonly<Record<SandboxDeathReason, string>> = {
  stopped: "the sandbox stopped while the call was in flight.",
  probe_silent:
    "the sandbox state probe went unanswered while the call was in flight, so the sandbox is presumed dead.",
};

export class SandboxDiedError extends Error {
  override readonly name = "SandboxDiedError";
  readonly type = "sandbox_died";
  readonly meta: { operation: string; reason: SandboxDeathReason };

  /** @param operation the call that was in flight: `exec`, `readFile`, ... */
  constructor(operation: string, reason: SandboxDeathReason, options?: ErrorOptions) {
    super(`Sandbox ${operation} failed: ${HOW[reason]}`, options);
    this.meta = { operation, reason };
  }
}

/** Across RPC an error is told by its `type`, never by its class. */
export function isSandboxDied(error: unknown): boolean {
  return error instanceof Error && "type" in error && error.type === "sandbox_died";
}

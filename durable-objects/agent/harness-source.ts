/** Where harnesses come from: the engine gives a source to every tool that wants one. Source: contract RUNTIME 4. */
import type { Harness } from "./harness.ts";

export interface HarnessInvocation {
  /** The tool or hook the harness is for. */
  name: string;
  /** The same in the texts of errors: `Tool "triage"`. */
  owner: string;
  /** Names the invocation in the conversation: the id of the tool call. */
  id: string;
  /** Ends what the harness does. */
  signal: AbortSignal | undefined;
}

export interface OpenHarness {
  harness: Harness;
  /** The invocation is over: what still runs is aborted, and the harness does nothing more. */
  close(): void;
}

export interface HarnessSource {
  /** Throws `delegation_depth_exceeded` where no further level is allowed. */
  open(invocation: HarnessInvocation): OpenHarness;
}

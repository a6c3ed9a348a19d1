/**
 * Harnesses for the tools and hooks of an attempt. Each has a thread of its own as its scratch conversation: the agent's
 * frozen prompt and tools as they are now, so that the provider's cache stays warm, and a history that starts empty.
 *
 * The thread's name holds the invocation and the attempt: what runs again after a crash begins afresh, and a command of a
 * lost conversation is never taken for one of the new.
 *
 * Source: contract RUNTIME 4 ("Harness", "Programmatic shell"), 7 (depth).
 */

import { abortError } from "../../../containers/abort-error.ts";
import type { Sandbox } from "../../../containers/sandbox.ts";
import type { CallHandle, Harness, PromptOptions, ShellOptions } from "../../agent/harness.ts";
import type { HarnessInvocation, HarnessSource, OpenHarness } from "../../agent/harness-source.ts";
import { parsePromptOptions } from "../../agent/prompt-options.ts";
import { BerthError } from "../../protocol/errors.ts";
import { MAX_DELEGATION_DEPTH, SETTLE_GRACE_MS } from "../../protocol/limits.ts";
import { createCallHandle } from "./call-handle.ts";
import type { HarnessEnvironment } from "./harness-environment.ts";
import { findShellFault, runHarnessShell } from "./harness-shell.ts";
import { openScratchConversation } from "./scratch-conversation.ts";

export function createHarnessSource(environment: HarnessEnvironment): HarnessSource {
  return {
    open(invocation) {
      if (environment.depth >= MAX_DELEGATION_DEPTH) {
        throw new BerthError(
          "delegation_depth_exceeded",
          `Maximum delegation depth (${MAX_DELEGATION_DEPTH}) exceeded.`,
        );
      }
      return openHarness(environment, invocation);
    },
  };
}

function openHarness(environment: HarnessEnvironment, { name, owner, id, signal }: HarnessInvocation): OpenHarness {
  const { ports } = environment;
  const deeper = { ...environment, depth: environment.depth + 1 };
  const thread = `harness/${id}/${ports.attempt}`;
  const conversation = openScratchConversation(deeper, thread, createHarnessSource(deeper));
  const life = new AbortController();
  // A call's own fires with the attempt's, and earlier when the conversation that made the call is aborted.
  const signals = [life.signal, signal ?? ports.signal];
  let running: { signal: AbortSignal; ended: Promise<unknown> } | undefined;

  const throwIfOver = (): void => {
    if (!life.signal.aborted) return;
    throw new Error(
      `${owner} used its harness after its call had ended. A harness belongs to one call: await its work.`,
    );
  };

  const busy = () =>
    new BerthError("session_busy", `${owner}: another operation of its harness is running. Await it first.`);

  /**
   * One operation at a time: the next must see what the one before established. An aborted one is over for its caller
   * before its thread is closed: the next waits for that, but not for a provider that hears no abort.
   */
  const exclusively = async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const before = running;
    if (before && !before.signal.aborted) throw busy();
    const ended = before ? waitFor(before.ended, signal).then(work) : work();
    const own = { signal, ended };
    running = own;
    try {
      return await ended;
    } finally {
      if (running === own) running = undefined;
    }
  };

  async function waitFor(ended: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const overdue = Promise.withResolvers<never>();
    const cancel = ports.timers.after(SETTLE_GRACE_MS, () => overdue.reject(busy()));
    await Promise.race([ended.catch(() => {}), overdue.promise]).finally(cancel);
    if (signal.aborted) throw abortError(signal);
  }

  function start<T>(asked: AbortSignal | undefined, work: (merged: AbortSignal) => Promise<T>): CallHandle<T> {
    const all = asked ? [...signals, asked] : signals;
    return createCallHandle((merged) => exclusively(merged, () => work(merged)), all, ports.timers);
  }

  function prompt(text: string, options?: PromptOptions): CallHandle<unknown> {
    throwIfOver();
    const parsed = parsePromptOptions(owner, text, options);
    return start(parsed.signal, (merged) => conversation.prompt(parsed, merged));
  }

  function requireSandbox(): Sandbox {
    const attached = environment.readAttached();
    if (attached) return attached.sandbox;
    throw new Error("[flue] This agent has no sandbox. Call useSandbox() in the agent to attach one.");
  }

  const harness: Harness = {
    name,
    // The overloads say what comes of which options.
    prompt: prompt as Harness["prompt"],
    compact() {
      throwIfOver();
      return start(undefined, (merged) => conversation.compact(merged));
    },
    get sandbox() {
      throwIfOver();
      return requireSandbox();
    },
    shell(command: string, options: ShellOptions = {}) {
      throwIfOver();
      const fault = findShellFault(command, options);
      if (fault !== undefined) throw new Error(`${owner} misused harness.shell(): ${fault}`);
      return start(options.signal, async (merged) =>
        runHarnessShell(conversation.ports, requireSandbox(), command, options, merged),
      );
    },
  };
  return { harness, close: () => life.abort(new Error(`${owner} ended.`)) };
}

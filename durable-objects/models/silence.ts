/**
 * Ends a response whose provider has fallen silent: the request is cancelled and the response becomes a transient fault,
 * to be tried again.
 *
 * Source: contract RUNTIME 2.7 (provider stream silent), 9.
 */
import type { StreamFn } from "@earendil-works/pi-agent-core";
import type { AssistantMessage } from "@earendil-works/pi-ai";
import { AssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import type { Timers } from "../protocol/clock.ts";
import { emptyMessage } from "./empty-message.ts";

/** The same stream function, except that `silenceMs` without an event end the response with stop reason `error`. */
export function failWhenSilent(stream: StreamFn, silenceMs: number, timers: Timers): StreamFn {
  return (model, context, options) => {
    const target = new AssistantMessageEventStream();
    const silence = new AbortController();
    const signals = options?.signal ? [options.signal, silence.signal] : [silence.signal];
    let latest: AssistantMessage | undefined;
    let isOver = false;
    const fail = (errorMessage: string): void => {
      if (isOver) return;
      isOver = true;
      const error: AssistantMessage = {
        ...(latest ?? emptyMessage(model, "error", 0)),
        stopReason: "error",
        errorMessage,
      };
      target.push({ type: "error", reason: "error", error });
      target.end(error);
    };
    const watch = (): (() => void) =>
      timers.after(silenceMs, () => {
        fail(`The provider was silent for ${silenceMs} ms.`);
        silence.abort();
      });
    const forward = async (): Promise<void> => {
      let cancel = watch();
      try {
        const source = await stream(model, context, { ...options, signal: AbortSignal.any(signals) });
        for await (const event of source) {
          cancel();
          if (isOver) return;
          cancel = watch();
          if ("partial" in event) latest = event.partial;
          if (event.type === "done" || event.type === "error") isOver = true;
          target.push(event);
        }
        target.end();
      } finally {
        cancel();
      }
    };
    forward().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
    return target;
  };
}

/**
 * Binds what agent code writes to the tool call it writes in: the call's result takes it along. A call that was cut, or
 * whose outcome nobody knows, has written nothing.
 *
 * Source: contract RUNTIME 4.
 */
import { INTERRUPTED_RESULT } from "../../protocol/interrupted.ts";
import type { DurableTool } from "../../tools/define-tool.ts";
import type { SeamPort } from "./ports.ts";

export function bindWrites(tools: readonly DurableTool[], seams: SeamPort): DurableTool[] {
  return tools.map((tool) => ({
    ...tool,
    async execute(id, args, signal, onUpdate) {
      const seam = seams.openCall(id);
      try {
        return await seams.run(seam, () => tool.execute(id, args, signal, onUpdate));
      } catch (error) {
        const isUnknown = error instanceof Error && error.message === INTERRUPTED_RESULT;
        if (signal?.aborted || isUnknown) seams.discard(seam);
        throw error;
      } finally {
        seams.close(seam);
      }
    },
  }));
}

/** Names the framework keeps for its own tools, built or to come. Source: contract RUNTIME 4, TOOLS 14. */
import { BerthError } from "../protocol/errors.ts";

const RESERVED_TOOL_NAMES: readonly string[] = ["task", "activate_skill", "read_skill_resource", "finish", "give_up"];

export function throwIfReserved(name: string): void {
  if (RESERVED_TOOL_NAMES.includes(name)) {
    throw new BerthError("tool_name_conflict", `Tool name "${name}" is reserved by the framework.`);
  }
}

/**
 * The folder a conversation works in: what `BERTH_LOCAL_DIR` says, with the conversation's name for `{id}`.
 */
import { createHash } from "node:crypto";
import path from "node:path";

const PLACEHOLDER = "{id}";
const MAX_NAME_BYTES = 120;

/** An id as the name of one folder: never a path, never hidden, never that of another id. */
export function folderName(id: string): string {
  const name = [...new TextEncoder().encode(id)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
  if (name !== "" && name.length <= MAX_NAME_BYTES) return name;
  return `${name.slice(0, MAX_NAME_BYTES)}%${createHash("sha256").update(id).digest("hex").slice(0, 16)}`;
}

export function workspaceFolder(template: string, id: string): string {
  return path.resolve(template.replaceAll(PLACEHOLDER, folderName(id)));
}

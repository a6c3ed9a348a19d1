/** A summary as the model reads it in the place of what was summarised. Source: contract RUNTIME 3.1, 6. */
import type { CompactionFacts } from "../../../protocol/records.ts";

function renderFiles(tag: string, files: readonly string[]): string[] {
  return files.length === 0 ? [] : [`<${tag}>\n${files.join("\n")}\n</${tag}>`];
}

export function renderSummary(text: string, facts: Pick<CompactionFacts, "readFiles" | "modifiedFiles">): string {
  const files = [...renderFiles("read-files", facts.readFiles), ...renderFiles("modified-files", facts.modifiedFiles)];
  // What was summarised may hold the closing tag; nothing may seem to stand behind the summary that is part of it.
  const body = [text, ...files].join("\n\n").replaceAll("</compaction", "&lt;/compaction");
  return `<compaction type="context_summary">\n${body}\n</compaction>`;
}

/**
 * What a model was told it has: the baseline that a change is told against. Plain data, stored with the conversation.
 *
 * Source: contract RUNTIME 5 ("Signals on change").
 */

export interface CatalogueEntry {
  name: string;
  description: string;
}

export interface ToolEntry extends CatalogueEntry {
  /** Of description and parameters: another one means that the tool was updated. */
  digest: string;
}

export interface Surface {
  /** SHA-256 of the instruction document, in hex. */
  instructions: string;
  /** Absent: no sandbox. */
  sandbox?: { kind: string; cwd: string };
  /** In the order in which the model was given them. */
  tools: readonly ToolEntry[];
  skills: readonly CatalogueEntry[];
  /** Declared delegates. */
  agents: readonly CatalogueEntry[];
}

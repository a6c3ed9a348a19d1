/**
 * The shape of a conformance vector, and how an outcome is compared with one.
 *
 * Source: ../shared/vectors/README.md.
 */
import { createHash } from "node:crypto";
import type { Script } from "./drivers/scripted.ts";

export type FileContent = string | { base64: string } | { generator: string };

/** A text too long to be kept whole. */
export interface TextDigest {
  sha256utf16le: string;
  length: number;
  lines: number;
  tail: string;
}

export type ExpectedText = string | RegExp | TextDigest;

export interface Expectation {
  text?: ExpectedText;
  error?: string;
  errorName?: string;
  details?: unknown;
  order?: string;
}

export interface Call {
  tool: string;
  params: Record<string, unknown>;
}

/** A packaged skill; every content is base64, `kind` says what it is shown as. */
export interface VectorSkill {
  id: string;
  name: string;
  files: Record<string, { kind: "text" | "binary"; content: string }>;
}

export interface Vector {
  id: string;
  tool: string;
  setup?: {
    files?: Record<string, FileContent>;
    commands?: string[];
    cwd?: string;
    ripgrep?: boolean;
    stub?: Script;
    skills?: Record<string, VectorSkill>;
  };
  params?: Record<string, unknown>;
  parallel?: Call[];
  sequence?: Call[];
  expect: Expectation & { results?: Expectation[]; path?: string; cwd?: string };
  abort?: { afterMs?: number; reason?: { error?: string; value?: unknown } };
  after?: {
    files?: Record<string, string | { absent: string } | { base64: string } | { sha256: string; length: number }>;
    command?: string;
    stdout?: string;
  };
  adapterText?: boolean;
  /** The same case on the other search program has the same word here. */
  pair?: string;
  backend?: string;
  deviation?: string;
  note: string;
}

export interface Outcome {
  text?: string;
  details?: unknown;
  error?: string;
  errorName?: string;
}

/** The value of a generator: the vectors are our own data, not input. */
function evaluate(expression: string): unknown {
  return new Function(`return (${expression});`)();
}

export function contentBytes(content: FileContent): Uint8Array {
  if (typeof content === "string") return Buffer.from(content);
  if ("base64" in content) return Buffer.from(content.base64, "base64");
  const made = evaluate(content.generator);
  return typeof made === "string" ? Buffer.from(made) : (made as Uint8Array);
}

export function expandParams(params: Record<string, unknown> = {}): Record<string, unknown> {
  const expand = (value: unknown) =>
    typeof value === "object" && value !== null && "$gen" in value ? evaluate(String(value.$gen)) : value;
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, expand(value)]));
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const sortedLines = (text: string) => text.split("\n").sort().join("\n");

/** Ours is sorted (D16): where the recorded order was the file system's, lines are compared as a set. */
export function sameText(expected: ExpectedText, actual: string, order?: string): boolean {
  if (typeof expected === "string") {
    return actual === expected || (order !== undefined && sortedLines(actual) === sortedLines(expected));
  }
  if (expected instanceof RegExp) return expected.test(actual);
  if (sha256(Buffer.from(actual, "utf16le")) === expected.sha256utf16le) return true;
  return order !== undefined && actual.length === expected.length && actual.split("\n").length === expected.lines;
}

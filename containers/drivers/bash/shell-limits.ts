/** The limits of just-bash inside an isolate: for the shell of `virtual()` and for the search engine. */
import type { BashOptions } from "just-bash";

/** What one just-bash may take: sizes for an isolate of 128 MB, counts that end an endless loop within seconds. */
export const SHELL_LIMITS: NonNullable<BashOptions["executionLimits"]> = {
  maxSourceBytes: 4 * 1024 * 1024,
  maxCommandCount: 100_000,
  maxLoopIterations: 100_000,
  maxAwkIterations: 1_000_000,
  maxSedIterations: 1_000_000,
  maxJqIterations: 1_000_000,
  maxQueryElements: 200_000,
  maxCsvRows: 200_000,
  maxCsvCells: 1_000_000,
  maxStringLength: 32 * 1024 * 1024,
  maxOutputSize: 16 * 1024 * 1024,
  maxLiveBytes: 48 * 1024 * 1024,
  maxInputBytes: 256 * 1024 * 1024,
  maxHeredocSize: 4 * 1024 * 1024,
  maxArchiveBytes: 32 * 1024 * 1024,
  maxArchiveEntryBytes: 32 * 1024 * 1024,
  maxArchiveCompressedBytes: 32 * 1024 * 1024,
  maxArrayElements: 100_000,
  maxBraceExpansionResults: 10_000,
  maxGlobOperations: 200_000,
  maxTraversalEntries: 200_000,
  maxFileDescriptors: 256,
};

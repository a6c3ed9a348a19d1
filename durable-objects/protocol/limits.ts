/**
 * Every number the runtime enforces, with its unit in its name.
 *
 * Source: contract RUNTIME 1.3, 1.6, 1.8, 1.12, 2.3, 2.7 and TOOLS 1; ARCHITECTURE invariant B1.
 */

export const MAX_BODY_BYTES = 20 * 1024 * 1024;
export const MAX_ATTACHMENT_CHARS = 14 * 1024 * 1024;
export const MAX_ID_CHARS = 256;
export const MAX_UNSETTLED_SUBMISSIONS = 1000;

/** Text above this many UTF-16 units leaves its cell for spill rows; three bytes a unit keep a cell under 2 MB (B1). */
export const MAX_CELL_UNITS = 512 * 1024;

export const UPDATES_PAGE_BATCHES = 100;
export const UPDATES_PAGE_BYTES = 1024 * 1024;
export const LONG_POLL_MS = 30_000;
export const SSE_HEARTBEAT_MS = 15_000;

/** Deltas while somebody reads the first seconds of a message, and otherwise (RUNTIME 1.8; issue of streaming). */
export const DELTA_LIVE_WINDOW_MS = 2_000;
export const DELTA_LIVE_FLUSH_MS = 60;
export const DELTA_LIVE_FLUSH_UNITS = 512;
export const DELTA_IDLE_FLUSH_MS = 500;
export const DELTA_IDLE_FLUSH_UNITS = 4096;

export const MAX_ATTEMPTS_WITHOUT_PROGRESS = 10;
export const SUBMISSION_TIMEOUT_MS = 3_600_000;
/** How long a deadline or an abort waits for a hung attempt before it settles over it. */
export const SETTLE_GRACE_MS = 3_000;
/** An alarm is never further away than this while an attempt lives: keeps the object in memory, bounds crash detection. */
export const ATTEMPT_TICK_MS = 5_000;
export const SUPERVISOR_BACKSTOP_MS = 30_000;
export const MAX_PARALLEL_TOOLS = 8;

export const PROVIDER_RETRIES = 5;
export const PROVIDER_RETRY_BASE_MS = 2_000;
export const PROVIDER_RETRY_MAX_MS = 60_000;
export const PROVIDER_IDLE_TIMEOUT_MS = 120_000;

export const MAX_READ_LINES = 2000;
/** UTF-16 units, which the tool texts call bytes (TOOLS 3). */
export const MAX_READ_UNITS = 51_200;
export const MAX_GREP_MATCHES = 100;
export const MAX_GREP_LINE_UNITS = 500;
export const MAX_GLOB_RESULTS = 1000;
/** The most that crosses from a sandbox into the object for one call (D18). */
export const MAX_EXEC_OUTPUT_UNITS = 1024 * 1024;

export const MAX_INSTRUCTION_FILE_BYTES = 32 * 1024;
export const MAX_LISTED_ENTRIES = 200;

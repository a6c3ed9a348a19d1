/**
 * Every number the runtime enforces, with its unit in its name.
 *
 * Source: contract RUNTIME 1.3, 1.6, 1.8, 1.12, 2.3, 2.7 and TOOLS 1; ARCHITECTURE invariant B1.
 */

export const MAX_BODY_BYTES = 20 * 1024 * 1024;
export const MAX_ATTACHMENT_CHARS = 14 * 1024 * 1024;
export const MAX_ID_CHARS = 256;
export const MAX_IDEMPOTENCY_KEY_CHARS = 256;
/** Levels of objects and lists within each other. */
export const MAX_INITIAL_DATA_DEPTH = 100;
/** Longest `?wait=` of an admission. */
export const MAX_WAIT_SECONDS = 60;
export const DEFAULT_HISTORY_PAGE_MESSAGES = 50;
export const MAX_HISTORY_PAGE_MESSAGES = 200;
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
/** How long a deadline or an abort waits for a hung attempt before it settles over it; so long a harness waits too. */
export const SETTLE_GRACE_MS = 3_000;
/** An alarm is never further away than this while an attempt lives: keeps the object in memory, bounds crash detection. */
export const ATTEMPT_TICK_MS = 5_000;
export const SUPERVISOR_BACKSTOP_MS = 30_000;
export const MAX_PARALLEL_TOOLS = 8;
/** Levels of conversations below the root: delegated children and harnesses alike. */
export const MAX_DELEGATION_DEPTH = 4;
/** How often a model that stops without the result it was asked for is reminded of it. */
export const MAX_RESULT_REMINDERS = 3;
/** How often finish hooks may send one response on. */
export const MAX_FINISH_CONTINUATIONS = 32;

export const PROVIDER_RETRIES = 5;
export const PROVIDER_RETRY_BASE_MS = 2_000;
export const PROVIDER_RETRY_MAX_MS = 60_000;
/** The shortest wait, whatever a provider asks for: five tries are not to be gone in a moment. */
export const PROVIDER_RETRY_MIN_MS = 1_000;
export const PROVIDER_IDLE_TIMEOUT_MS = 120_000;

export const MAX_READ_LINES = 2000;
/** UTF-16 units, which the tool texts call bytes (TOOLS 3). */
export const MAX_READ_UNITS = 51_200;
export const MAX_GREP_MATCHES = 100;
export const MAX_GREP_LINE_UNITS = 500;
export const MAX_GLOB_RESULTS = 1000;
/** The most that crosses from a sandbox into the object for one call (D18). */
export const MAX_EXEC_OUTPUT_UNITS = 1024 * 1024;
/** The same on a real machine: three quarters for stdout, one for stderr. A multiple of 16. */
export const MAX_EXEC_OUTPUT_BYTES = 1024 * 1024;
/** The longest a timer can wait; a longer one fires at once (D10). */
export const MAX_TIMER_MS = 2 ** 31 - 1;
/** How much later than a driver the bash tool itself gives a timed-out command up (D9). */
export const BASH_TIMEOUT_GRACE_MS = 5_000;
export const RIPGREP_PROBE_TIMEOUT_MS = 10_000;
/** How long the object waits for the probe's answer before it takes grep for good. */
export const RIPGREP_PROBE_GIVE_UP_MS = 15_000;
/** How long the search for hidden or ignored matches may take (D5). */
export const HIDDEN_SEARCH_TIMEOUT_MS = 2_000;

/** While a call to a container is in flight its state is asked for this often, and this long a silence is a death. */
export const SANDBOX_PROBE_INTERVAL_MS = 5_000;
export const SANDBOX_PROBE_SILENCE_MS = 10_000;
/** The longest a call to a container may take, a cold start (30 s for an instance, 90 s for its port) included. */
export const SANDBOX_CALL_DEADLINE_MS = 150_000;
/** How long one call waits for a command before it is asked for again. */
export const SANDBOX_EXEC_SLICE_MS = 30_000;
/** The longest command line sent as such: the kernel takes 128 KiB in one argument. */
export const MAX_SANDBOX_LINE_BYTES = 100_000;
/** A file up to this size is written by one such line, which holds it in base64. */
export const MAX_SANDBOX_INLINE_BYTES = 64 * 1024;
/** What a program of the driver's own (`stat`, `find`, `rm`) may take in the container. */
export const SANDBOX_HELPER_TIMEOUT_MS = 60_000;
/** Before the one retry of a call that found its container starting, where the container names no delay. */
export const SANDBOX_START_RETRY_MS = 1_000;
export const MAX_SANDBOX_START_RETRY_MS = 10_000;
/** Bytes of a file in one RPC message: a quarter of its 32 MiB in base64, since several are held at once. */
export const SANDBOX_CHUNK_BYTES = 6 * 1024 * 1024;
/** The largest file a verb reads or writes as a whole: an isolate has 128 MB for everything. */
export const MAX_SANDBOX_FILE_BYTES = 32 * 1024 * 1024;
/** How long a container stays up with nothing at work. */
export const SANDBOX_SLEEP_AFTER_MS = 600_000;
/** How soon a container that was busy when it should have gone to sleep is looked at again. */
export const SANDBOX_SLEEP_CHECK_MS = 1_000;
/** How long a container may take until it runs its first program; pulling an image counts. */
export const CONTAINER_START_MS = 120_000;
/** How long after a failed program the news may take that the whole container stopped. */
export const CONTAINER_DEATH_NOTICE_MS = 2_000;
/** How often and how late a keyed command is asked for again when the object that owns its container was restarted. */
export const EXEC_RETRIES = 3;
export const EXEC_RETRY_MS = 500;
/** The largest file that is read or written whole; one message between objects holds 32 MiB. */
export const MAX_CONTAINER_FILE_BYTES = 24 * 1024 * 1024;

export const MAX_INSTRUCTION_FILE_BYTES = 32 * 1024;
export const MAX_LISTED_ENTRIES = 200;
/** An instruction file above this is read through a command that stops, not into memory as a whole. */
export const MAX_WHOLE_INSTRUCTION_FILE_BYTES = 1024 * 1024;

export const MAX_SKILL_NAME_CHARS = 64;
export const MAX_SKILL_DESCRIPTION_CHARS = 1024;
export const MAX_SKILL_COMPATIBILITY_CHARS = 500;
/** How often the front matter of a skill may repeat a value by name; more is an attempt to blow it up. */
export const MAX_SKILL_ALIASES = 10;
/** What an activation shows of a workspace skill, in UTF-16 units: as much as one `read`. */
export const MAX_SKILL_INSTRUCTION_UNITS = MAX_READ_UNITS;
/** Skills of a workspace that discovery lists. */
export const MAX_WORKSPACE_SKILLS = 200;
/** How far into a workspace skill discovery reads for its front matter. */
export const MAX_SKILL_HEAD_BYTES = 16 * 1024;
/** The front matters of a workspace in base64, all together: they come in one answer with the instruction file. */
export const MAX_SKILL_HEADS_UNITS = 512 * 1024;

/** What of a refused body is still taken before the connection is given up. */
export const MAX_DRAINED_BODY_BYTES = 100 * 1024 * 1024;

/** What every provider takes back as a tool-call id (OpenAI's limit is the smallest). */
export const MAX_TOOL_CALL_ID_CHARS = 40;
export const MAX_TOOL_NAME_CHARS = 64;

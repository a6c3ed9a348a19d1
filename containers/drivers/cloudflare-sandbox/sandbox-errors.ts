/**
 * What a failure of the SDK means. Its errors cross RPC as plain `Error`s: they are told by `name` and
 * `errorResponse.code`, those of the platform below it by their words.
 *
 * Source: contract TOOLS 13.3; the codes and messages of @cloudflare/sandbox 0.12.10.
 */
import { SandboxDiedError } from "../../sandbox-died-error.ts";

/** The codes of Node's `fs` behind the SDK's; its texts stay as they are. */
const FILE_CODES: Readonly<Record<string, string>> = {
  FILE_NOT_FOUND: "ENOENT",
  FILE_EXISTS: "EEXIST",
  FILE_TOO_LARGE: "EFBIG",
  IS_DIRECTORY: "EISDIR",
  NOT_DIRECTORY: "ENOTDIR",
  PERMISSION_DENIED: "EACCES",
  READ_ONLY: "EROFS",
  NO_SPACE: "ENOSPC",
  NAME_TOO_LONG: "ENAMETOOLONG",
  TOO_MANY_LINKS: "ELOOP",
};

const STARTING_NAMES = new Set(["ContainerUnavailableError"]);
const STARTING_CODES = new Set(["CONTAINER_UNAVAILABLE"]);
const STARTING_TEXT =
  /container is starting|no container instance (?:that can be provided|available)|too many containers per second|maximum number of running container instances|the container is not listening|container port not found/i;

const LOST_NAMES = new Set(["OperationInterruptedError", "RPCTransportError", "SessionTerminatedError"]);
const LOST_CODES = new Set([
  "OPERATION_INTERRUPTED",
  "RPC_TRANSPORT_ERROR",
  "SESSION_TERMINATED",
  "SESSION_DESTROYED",
  "SERVICE_NOT_RESPONDING",
]);
const LOST_TEXT =
  /network connection lost|container (?:suddenly disconnected|exited|is not running|has stopped|crashed)|monitor failed to find container|durable object reset|websocket (?:closed|connection)/i;

const NO_CONTAINERS_TEXT = /containers have not been enabled|no such container class|ctx\.container|enable_containers/i;
const NO_IMAGE_TEXT = /no such image|failed to start due to a permanent error|image .* not found/i;

interface ErrorFacts {
  name: string;
  code: string;
  text: string;
  retryAfterMs: number | undefined;
}

function factsOf(error: unknown): ErrorFacts {
  const name = readText(error, "name");
  const response = read(error, "errorResponse");
  const retryAfterMs = read(read(response, "context"), "retryAfterMs");
  return {
    name,
    code: readText(response, "code") || readText(error, "code"),
    text: error instanceof Error ? error.message : String(error),
    retryAfterMs: typeof retryAfterMs === "number" ? retryAfterMs : undefined,
  };
}

/** How long to wait before the one retry of a call that found its container only starting; otherwise `undefined`. */
export function startingDelayMs(error: unknown, { defaultMs, maxMs }: { defaultMs: number; maxMs: number }) {
  const { name, code, text, retryAfterMs } = factsOf(error);
  if (!STARTING_CODES.has(code) && !STARTING_NAMES.has(name) && !STARTING_TEXT.test(text)) return undefined;
  return Math.min(retryAfterMs ?? defaultMs, maxMs);
}

/** The error the caller of `operation` is given: a death as such, what set-up lacks with what to do, else the SDK's own. */
export function describeFailure(operation: string, error: unknown): unknown {
  const { name, code, text } = factsOf(error);
  if (LOST_CODES.has(code) || LOST_NAMES.has(name) || LOST_TEXT.test(text)) {
    return new SandboxDiedError(operation, "stopped", { cause: error });
  }
  if (NO_CONTAINERS_TEXT.test(text)) {
    return new Error(
      "The sandbox cannot start: this Worker runs without containers. Deploy it with the [[containers]] entry of wrangler.toml; on this machine start Docker and run SANDBOX=cloudflare npm start, or set SANDBOX=virtual.",
      { cause: error },
    );
  }
  if (NO_IMAGE_TEXT.test(text)) {
    return new Error(
      `The sandbox cannot start its image: ${text} Build and deploy containers/image/sandbox.Dockerfile again (npx wrangler deploy), or set SANDBOX=virtual.`,
      { cause: error },
    );
  }
  const fileCode = FILE_CODES[code];
  return fileCode !== undefined && error instanceof Error ? Object.assign(error, { code: fileCode }) : error;
}

function read(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function readText(value: unknown, key: string): string {
  const text = read(value, key);
  return typeof text === "string" ? text : "";
}

/**
 * A fault that a provider tells in JSON where a status should have told it: in the body of a 200, or in the middle of a
 * stream. It is given the status that the same fault has as an answer.
 */

/** Error types of the two protocols. What is not named here is taken for a fault of the moment. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};
const UNKNOWN_FAULT = 500;
const FIRST_FAULT_STATUS = 400;
const LAST_FAULT_STATUS = 599;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isFaultStatus(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= FIRST_FAULT_STATUS && Number(value) <= LAST_FAULT_STATUS;
}

/** The status of the fault that a provider's JSON tells; nothing where it tells none. */
export function readEmbeddedStatus(json: unknown): number | undefined {
  if (!isObject(json) || !json.error) return undefined;
  const { error } = json;
  if (!isObject(error)) return UNKNOWN_FAULT;
  const told = [error.code, error.status, json.code, json.status].map(Number).find(isFaultStatus);
  if (told !== undefined) return told;
  const type = [error.code, error.type].find((name) => typeof name === "string" && Object.hasOwn(STATUS_OF_TYPE, name));
  return typeof type === "string" ? STATUS_OF_TYPE[type] : UNKNOWN_FAULT;
}

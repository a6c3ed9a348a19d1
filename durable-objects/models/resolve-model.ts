/**
 * From `provider/model` to something that answers.
 *
 * Source: contract RUNTIME 9.
 */
import { BerthError } from "../protocol/errors.ts";
import type { Settings } from "../protocol/settings.ts";
import { PROVIDERS } from "./index.ts";
import type { ModelProvider, ResolvedModel } from "./model.ts";

interface ParsedSpec {
  provider: ModelProvider;
  modelId: string;
}

function parseSpec(spec: string): ParsedSpec {
  const slash = spec.indexOf("/");
  const modelId = spec.slice(slash + 1);
  if (slash < 1 || modelId.trim() === "") {
    throw new BerthError("model_not_configured", `The model "${spec}" is not of the form provider/model.`);
  }
  const provider = PROVIDERS.find((candidate) => candidate.name === spec.slice(0, slash));
  if (provider === undefined) {
    const known = PROVIDERS.map((candidate) => candidate.name).join(", ");
    throw new BerthError("model_not_configured", `The model "${spec}" names an unknown provider. Known: ${known}.`);
  }
  return { provider, modelId };
}

/** Throws `model_not_configured`, which names the secret or binding to set. */
export function resolveModel(spec: string, settings: Settings): ResolvedModel {
  const { provider, modelId } = parseSpec(spec);
  const missing = provider.missing(modelId, settings);
  if (missing !== undefined) {
    throw new BerthError("model_not_configured", `The model "${spec}" needs ${missing}, which is not set.`, {
      meta: { missing },
    });
  }
  const resolved = provider.resolve(modelId, settings);
  if (resolved === undefined) {
    throw new BerthError("model_not_configured", `The model "${spec}" does not exist.`);
  }
  return resolved;
}

/** The secret, variable or binding a model still needs; also for a spec that cannot be read: then `BERTH_MODEL`. */
export function missingSecret(spec: string, settings: Settings): string | undefined {
  try {
    const { provider, modelId } = parseSpec(spec);
    return provider.missing(modelId, settings);
  } catch {
    return "BERTH_MODEL (provider/model)";
  }
}

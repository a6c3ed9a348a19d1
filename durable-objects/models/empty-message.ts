/** An answer that nothing has come of yet, in the shape pi wants. */
import type { Api, AssistantMessage, Model, StopReason } from "@earendil-works/pi-ai";
import { noUsage } from "../protocol/usage.ts";

/** @param timestamp milliseconds since the epoch. */
export function emptyMessage(model: Model<Api>, stopReason: StopReason, timestamp: number): AssistantMessage {
  const { api, provider, id } = model;
  return { role: "assistant", content: [], api, provider, model: id, usage: noUsage(), stopReason, timestamp };
}

/**
 * A delivered message as the model reads it.
 *
 * Source: contract RUNTIME 3.1.
 */
import type { DeliveredMessage, SignalDelivery } from "../../protocol/submission.ts";

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', "&quot;");
}

export function renderSignalText(signal: Omit<SignalDelivery, "kind">): string {
  const { type, body, attributes = {}, tagName = "signal" } = signal;
  const pairs = [["type", type] as const, ...Object.entries(attributes)];
  const rendered = pairs.map(([name, value]) => ` ${name}="${escapeAttribute(value)}"`).join("");
  return `<${tagName}${rendered}>\n${escapeText(body)}\n</${tagName}>`;
}

export function renderDelivery(message: DeliveredMessage): string {
  return message.kind === "user" ? message.body : renderSignalText(message);
}

/**
 * A delivered message as the model reads it.
 *
 * Source: contract RUNTIME 1.9, 3.1.
 */
import type { UserMessage } from "@earendil-works/pi-ai";
import type { AttachedImage } from "../../models/omit-images.ts";
import type { AttachmentRef, RecordedMessage, SignalDelivery } from "../../protocol/submission.ts";

/** Providers refuse an empty or blank message; the record keeps it as it was. */
const EMPTY_MESSAGE = "(empty)";

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
  return `<${tagName}${rendered}>\n${escapeText(body)}\n</${tagName}>`.toWellFormed();
}

/** What a model may name to hand an image on. */
function renderManifest(attachments: readonly AttachmentRef[]): string {
  const lines = attachments.map(
    ({ id, mimeType }) => `<image id="${escapeAttribute(id)}" mimeType="${escapeAttribute(mimeType)}" />`,
  );
  return ["<attachments>", ...lines, "</attachments>"].join("\n");
}

export function renderDelivery(
  message: RecordedMessage,
  readAttachment: (id: string) => string | undefined,
): UserMessage["content"] {
  if (message.kind === "signal") return renderSignalText(message);
  const body = message.body.toWellFormed();
  const { attachments = [] } = message;
  if (attachments.length === 0) return body.trim() === "" ? EMPTY_MESSAGE : body;
  const text = [body, renderManifest(attachments)].filter((part) => part.trim() !== "").join("\n\n");
  const images = attachments.flatMap(({ id, mimeType }): AttachedImage[] => {
    const data = readAttachment(id);
    return data === undefined ? [] : [{ type: "image", data, mimeType, attachmentId: id }];
  });
  return [{ type: "text", text }, ...images];
}

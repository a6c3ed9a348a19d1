/**
 * Images that a model is not shown: a text that names its attachment stands in the place of each.
 *
 * Source: contract RUNTIME 1.9, 9.
 */
import type { ImageContent, Message, UserMessage } from "@earendil-works/pi-ai";

/** An image of a delivered message; a model names it by its id. */
export interface AttachedImage extends ImageContent {
  attachmentId: string;
}

function isAttached(image: ImageContent): image is AttachedImage {
  return "attachmentId" in image;
}

function standIn(image: ImageContent): string {
  const name = isAttached(image) ? `image ${image.attachmentId}` : "image";
  return `(${name} left out: this model or its provider does not take it)`;
}

export function countImages(messages: readonly Message[]): number {
  const parts = messages.flatMap(({ role, content }) => (role === "user" && Array.isArray(content) ? content : []));
  return parts.filter((part) => part.type === "image").length;
}

/** A message without images is given back as it is. */
export function omitImages(message: UserMessage): UserMessage {
  if (countImages([message]) === 0 || typeof message.content === "string") return message;
  const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const standIns = message.content.flatMap((part) => (part.type === "image" ? [standIn(part)] : []));
  return { ...message, content: [...text, standIns.join("\n")].join("\n\n") };
}

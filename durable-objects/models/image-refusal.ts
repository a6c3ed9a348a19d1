/**
 * Whether a provider refused a request for the images in it. Providers have no code for that: their words tell, or that
 * the images are what is new in a request that is called wrong.
 *
 * Source: contract RUNTIME 9.
 */
import type { AssistantMessage, Message } from "@earendil-works/pi-ai";
import { countImages } from "./omit-images.ts";
import { classifyProviderFault } from "./provider-fault.ts";

const FIRST_REFUSAL = 400;
const FIRST_SERVER_FAULT = 500;
/** About who asks, or how often. */
const NOT_ABOUT_CONTENT: readonly number[] = [401, 402, 408, 429];
/** That something in the request is wrong or too large, if nothing more is said. */
const ABOUT_CONTENT: readonly number[] = [400, 413, 415, 422];
const TOO_LARGE = 413;

const SPEAKS_OF_IMAGES = /\b(?:images?|image_url|pictures?|vision|multi-?modal|media_?type)\b/i;
/** Local servers tell it with a 500. */
const UNSUPPORTED_IMAGES = /\bimages?\b.*\bnot support|\bnot support.*\bimages?\b/i;

function countNewImages(messages: readonly Message[]): number {
  return countImages(messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1));
}

/**
 * @param fault a message for which `isProviderFault` holds.
 * @param messages what the provider was sent.
 */
export function isImageRefusal(fault: AssistantMessage, messages: readonly Message[]): boolean {
  if (countImages(messages) === 0) return false;
  const { kind, status } = classifyProviderFault(fault);
  if (status === undefined || status < FIRST_REFUSAL || NOT_ABOUT_CONTENT.includes(status)) return false;
  const text = fault.errorMessage ?? "";
  if (status >= FIRST_SERVER_FAULT) return UNSUPPORTED_IMAGES.test(text);
  if (SPEAKS_OF_IMAGES.test(text)) return true;
  const isWindowFull = kind === "overflow" && status !== TOO_LARGE;
  return !isWindowFull && ABOUT_CONTENT.includes(status) && countNewImages(messages) > 0;
}

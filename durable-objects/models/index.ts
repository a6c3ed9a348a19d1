/** The catalogue of model providers. */
import { anthropic } from "./anthropic.ts";
import { cloudflare } from "./cloudflare.ts";
import type { ModelProvider } from "./model.ts";
import { openai } from "./openai.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import { scripted } from "./scripted.ts";

export const PROVIDERS: readonly ModelProvider[] = [anthropic, openai, openaiCompatible, cloudflare, scripted];

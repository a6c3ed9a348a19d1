/** Bytes as UTF-8 text: a byte order mark stays, what is invalid becomes U+FFFD (TOOLS 16). */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
}

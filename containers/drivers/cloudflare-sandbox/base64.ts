/** Base64 with the platform's own coders, in slices that fit an argument list. */

const SLICE_BYTES = 0x6000;

export function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    // A slice is a multiple of three bytes, so that no padding stands in the middle.
    parts.push(btoa(String.fromCharCode(...bytes.subarray(start, start + SLICE_BYTES))));
  }
  return parts.join("");
}

/** Line breaks are allowed. */
export function decodeBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

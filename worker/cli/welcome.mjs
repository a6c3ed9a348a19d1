/** What `npm start` prints once Berth answers. */

/**
 * @typedef {object} Health What `/health` says.
 * @property {string[]} [missing] Settings that are not there.
 * @property {string} [fault] The setting that cannot be read, and why.
 */

/** @param {Health} health */
function renderTrouble({ missing = [], fault }) {
  if (fault !== undefined) return [`Nothing can be answered yet: ${fault}`, ""];
  return missing.length > 0 ? [`Not set yet: ${missing.join(", ")}`, ""] : [];
}

/** @param {string} address @param {boolean} open Whether it answers without a token. @param {Health} health */
export function renderWelcome(address, open, health) {
  const token = open ? "" : ' -H "authorization: Bearer $TOKEN"';
  const conversation = `${address}/agents/coder/demo`;
  return [
    "",
    `Berth is ready at ${address}`,
    "",
    ...renderTrouble(health),
    "Try (the demo model needs no key; set BERTH_MODEL and a key for a real one):",
    `  curl${token} ${conversation} -H 'content-type: application/json' -d '{"kind":"user","body":"/bash echo hello"}'`,
    `  curl${token} '${conversation}?view=history'`,
    `  curl${token} -N '${conversation}?view=updates&offset=-1&live=sse'`,
    "",
  ].join("\n");
}

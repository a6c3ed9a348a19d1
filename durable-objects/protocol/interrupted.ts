/** What a model is told of a call whose outcome nobody knows. Source: contract RUNTIME 2.6. */
export const INTERRUPTED_RESULT = JSON.stringify({
  type: "interrupted",
  message: "Tool execution was interrupted before completion. The outcome is unknown.",
});

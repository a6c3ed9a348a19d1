/** What the model is shown of a response that was aborted, with its next request. Source: contract RUNTIME 1.10, 2.5. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scriptToken, textOf } from "../model-server/script.ts";
import { freshId, openConversation, replyOf } from "../wire/conversation-client.ts";
import { foldChunks } from "../wire/fold-chunks.ts";
import { type ScriptedBerth, startScriptedBerth } from "./scripted-berth.ts";

let scripted: ScriptedBerth;
beforeAll(async () => {
  scripted = await startScriptedBerth();
});
afterAll(() => scripted.stop());

describe("an abort", () => {
  it("in the middle of an answer leaves its half in the next request, before the signal that tells of the abort", async () => {
    const { berth, model } = scripted;
    const key = freshId();
    model.script(key, [{ text: "half ", fault: { kind: "hang", after: "text" } }, { text: "whole" }]);
    const conversation = openConversation(berth.baseUrl, "assistant", key);
    const message = `a ${scriptToken(key)}`;
    const { submissionId } = await conversation.send(message);
    const stream = await conversation.live("-1");
    await stream.until(({ chunks }) => replyOf(foldChunks(chunks).messages, submissionId) === "half ");
    expect(await conversation.abort()).toEqual({ aborted: true });
    stream.close();
    expect((await conversation.settled(submissionId)).outcome).toBe("aborted");
    const second = await conversation.send("b");
    expect((await conversation.settled(second.submissionId)).outcome).toBe("completed");
    const { body } = await model.waitForRequest(key, 2);
    const shown = body.messages.filter(({ role }) => role !== "system");
    expect(shown.map(({ role, content }) => [role, textOf(content)])).toEqual([
      ["user", message],
      ["assistant", "half "],
      ["user", expect.stringContaining('<signal type="submission_aborted">')],
      ["user", "b"],
    ]);
    expect(model.problemsOf(key)).toEqual([]);
  });
});

/** `harness.compact()`: the scratch conversation's own summary. Source: contract RUNTIME 4, 6. */
import { describe, expect, it } from "vitest";
import { isRecordOf } from "../../../durable-objects/protocol/records.ts";
import { harnessed, resultOf, THREAD, textsOf } from "../fixtures/harnessed.ts";

const LONG = "word ".repeat(20_000);

describe("harness.compact", () => {
  it("does nothing where there is nothing to summarise", async () => {
    const conversation = harnessed(
      async (harness) => {
        await harness.compact();
        return (await harness.prompt("short")).text;
      },
      [{ text: "answer" }],
    );
    await conversation.send("go");
    expect(resultOf(conversation)).toEqual({ isError: false, text: '"answer"' });
  });

  it("puts a summary in the place of what was said, and counts what it cost", async () => {
    const requests: string[][] = [];
    const conversation = harnessed(
      async (harness) => {
        await harness.prompt(LONG);
        await harness.compact();
        return (await harness.prompt("and now?")).text;
      },
      [{ text: "first" }, { text: "The notes." }, { text: "second" }],
      {
        wrapModel: ({ model, stream }) => ({
          model,
          stream(used, context, options) {
            requests.push(textsOf(context.messages.slice(1)));
            return stream(used, context, options);
          },
        }),
      },
    );
    const { settlement } = await conversation.send("go");
    expect(settlement.outcome).toBe("completed");
    expect(resultOf(conversation).text).toBe('"second"');
    expect(requests[3]).toEqual([
      'user: <compaction type="context_summary">\nNo prior history.\n\n---\n\n**Turn Context (split turn):**\n\nThe notes.\n</compaction>',
      "assistant: first",
      "user: and now?",
    ]);
    const compactions = conversation
      .records(THREAD)
      .filter((record) => isRecordOf(record, "signal") && record.body.compaction);
    expect(compactions).toHaveLength(1);
  });

  it("rejects when the summary cannot be had", async () => {
    const conversation = harnessed(
      async (harness) => {
        await harness.prompt(LONG);
        await harness.compact();
      },
      [{ text: "first" }, { stopReason: "error", errorMessage: "authentication_error: bad key" }],
    );
    await conversation.send("go");
    expect(resultOf(conversation)).toMatchObject({
      isError: true,
      text: expect.stringContaining("The summary failed"),
    });
  });
});

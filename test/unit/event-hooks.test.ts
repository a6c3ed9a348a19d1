/** The rules of declaring callbacks for the seams of a response. Source: contract RUNTIME 4. */
import { describe, expect, it } from "vitest";
import {
  useAgentFinish,
  useAgentStart,
  useDataWriter,
  useDelivery,
  useDispatchMessage,
  useInitialData,
  usePersistentState,
  useResponseFinish,
  useResponseStart,
} from "../../durable-objects/agent/index.ts";
import { render, renderDelegate, untyped } from "./fixtures/render-body.ts";
import { recordingRuntime } from "./fixtures/render-runtime.ts";

describe("the event hooks", () => {
  const hooks: [string, (run: () => undefined) => void][] = [
    ["useAgentStart", useAgentStart],
    ["useAgentFinish", useAgentFinish],
    ["useResponseStart", useResponseStart],
    ["useResponseFinish", useResponseFinish],
  ];

  it("record their callbacks in declaration order, each for its seam", () => {
    const [a, b, c] = [() => {}, () => {}, () => ({})];
    const rendered = render(() => {
      useAgentStart(a);
      useAgentStart(b);
      useAgentFinish(b);
      useResponseStart(c);
      useResponseFinish(c);
    });
    expect(rendered.eventHooks).toEqual({
      agentStart: [a, b],
      agentFinish: [b],
      responseStart: [c],
      responseFinish: [c],
    });
  });

  it.each(hooks)("%s refuses what is no function and names itself", (name, hook) => {
    expect(() => render(() => hook(untyped("run")))).toThrow(`Agent "tester" misused ${name}(): the callback must`);
  });

  it("type their callbacks: observers of a response are synchronous and cannot append", () => {
    render(() => {
      // @ts-expect-error an observer is synchronous
      useResponseStart(async () => ({}));
      // @ts-expect-error metadata is an object
      useResponseFinish(() => "done");
      // @ts-expect-error only signals can be appended
      useAgentStart(({ append }) => append({ kind: "user", body: "x" }));
      // @ts-expect-error a start has no response to look at
      useAgentStart(({ response }) => void response);
      useAgentFinish(({ response }) => void response.usage.totalTokens);
    });
  });

  it.each<[string, () => unknown]>([
    ...hooks.map(([name, hook]): [string, () => unknown] => [name, () => hook(() => undefined)]),
    ["usePersistentState", () => usePersistentState("n")],
    ["useDataWriter", () => useDataWriter("n")],
    ["useDispatchMessage", () => useDispatchMessage()],
  ])("and other hooks of the whole conversation throw in a delegate: %s", (name, hook) => {
    expect(() => renderDelegate(() => void hook(), recordingRuntime())).toThrow(
      `Agent "tester" misused ${name}(): it is not available in a subagent render`,
    );
  });

  it.each<[string, () => unknown]>([
    ...hooks.map(([name, hook]): [string, () => unknown] => [name, () => hook(() => undefined)]),
    ["usePersistentState", () => usePersistentState("n")],
    ["useDataWriter", () => useDataWriter("n")],
    ["useDispatchMessage", () => useDispatchMessage()],
    ["useInitialData", () => useInitialData()],
    ["useDelivery", () => useDelivery()],
  ])("and all others throw outside a render: %s", (name, hook) => {
    expect(hook).toThrow(new RegExp(`^${name}\\(\\) was called outside the render`));
  });
});

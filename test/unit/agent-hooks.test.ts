/** The rules of the hooks that read and write what a conversation keeps. Source: contract RUNTIME 4. */
import { describe, expect, it } from "vitest";
import {
  type StateSetter,
  Type,
  useDataWriter,
  useDelivery,
  useDispatchMessage,
  useInitialData,
  usePersistentState,
} from "../../durable-objects/agent/index.ts";
import { given, render, renderDelegate, untyped } from "./fixtures/render-body.ts";
import { recordingRuntime } from "./fixtures/render-runtime.ts";

describe("usePersistentState", () => {
  it("gives the default before the first write and what was written after it", () => {
    const runtime = recordingRuntime();
    const [before, set] = given(() => usePersistentState("n", 1), runtime);
    expect(before).toBe(1);
    set(5);
    expect(given(() => usePersistentState("n", 1)[0], runtime)).toBe(5);
  });

  it("never stores the default", () => {
    const runtime = recordingRuntime();
    given(() => usePersistentState("n", 1), runtime);
    expect(runtime.state.size).toBe(0);
  });

  it("gives the value as of the render, whatever was set since", () => {
    const runtime = recordingRuntime();
    const [value, set] = given(() => usePersistentState("list", ["a"]), runtime);
    set(["b"]);
    expect(value).toEqual(["a"]);
  });

  it("gives an updater the value of now, not that of its render", () => {
    const runtime = recordingRuntime();
    const [, set] = given(() => usePersistentState("n", 1), runtime);
    set((previous) => previous + 1);
    set((previous) => previous + 1);
    expect(runtime.state.get("n")).toBe(3);
  });

  it("stores what is left after a round trip through JSON", () => {
    const runtime = recordingRuntime();
    given(() => usePersistentState<unknown>("d"), runtime)[1]({ at: new Date(0), gone: undefined });
    expect(runtime.state.get("d")).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  });

  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["an updater's undefined", () => undefined],
    ["a symbol", Symbol("s")],
    ["a big integer", 1n],
  ])("refuses %s and names agent, hook and name", (_what, value) => {
    const set = given(() => usePersistentState<unknown>("d"), recordingRuntime())[1];
    expect(() => set(untyped(value))).toThrow(/Agent "tester" misused usePersistentState\(\): "d" cannot be set/);
  });

  it("refuses the same name twice in a render, and a name that is none", () => {
    expect(() =>
      render(() => {
        usePersistentState("n");
        usePersistentState("n");
      }),
    ).toThrow(/Agent "tester" misused usePersistentState\(\): "n" was declared twice/);
    expect(() => render(() => usePersistentState(" "))).toThrow(/name must be a non-empty string/);
  });

  it("is typed by its default, or by its type argument with undefined before the first write", () => {
    render(() => {
      const [count, setCount] = usePersistentState("count", 0);
      const twice: number = count * 2;
      const [plan, setPlan] = usePersistentState<{ steps: string[] }>("plan");
      void [twice, plan?.steps, setCount, setPlan];
      const later = () => {
        // @ts-expect-error before the first write there is none
        void plan.steps;
        // @ts-expect-error a count is a number
        setCount("one");
        // @ts-expect-error there is no unset
        setPlan(undefined);
        // @ts-expect-error an updater may not unset either
        setPlan(() => undefined);
      };
      void (later satisfies () => void);
    });
    const setter: StateSetter<number> = (_value) => {};
    setter((previous) => previous + 1);
  });
});

describe("useDataWriter", () => {
  it("writes each value through JSON, and nothing by being declared", () => {
    const runtime = recordingRuntime();
    const write = given(() => useDataWriter("progress"), runtime);
    expect(runtime.data).toEqual([]);
    write({ at: new Date(0) });
    write(2);
    expect(runtime.data).toEqual([
      ["progress", { at: "1970-01-01T00:00:00.000Z" }],
      ["progress", 2],
    ]);
  });

  it("refuses what does not fit the schema, and writes nothing", () => {
    const runtime = recordingRuntime();
    const schema = Type.Object({ done: Type.Integer() });
    const write = given(() => useDataWriter("progress", { schema }), runtime);
    write({ done: 1 });
    expect(() => write(untyped({ done: "all" }))).toThrow(
      /Agent "tester" misused useDataWriter\(\): "progress" cannot be written: \/done/,
    );
    expect(runtime.data).toHaveLength(1);
  });

  it("refuses undefined", () => {
    const write = given(() => useDataWriter("progress"), recordingRuntime());
    expect(() => write(undefined)).toThrow(/must not be undefined/);
  });

  it("tells the engine its names in call order, and refuses one twice", () => {
    const names = render(() => {
      useDataWriter("b");
      useDataWriter("a");
    }).dataParts;
    expect(names).toEqual(["b", "a"]);
    expect(() =>
      render(() => {
        useDataWriter("a");
        useDataWriter("a");
      }),
    ).toThrow(/"a" was declared twice/);
  });

  it.each<[unknown, RegExp]>([
    ["x", /options must be an object/],
    [{ shape: 1 }, /unknown field "shape"/],
    [{ schema: "string" }, /options.schema must be a schema/],
  ])("refuses the options %j", (options, text) => {
    expect(() => render(() => untyped(useDataWriter("a", untyped(options))))).toThrow(text);
  });

  it("is typed by its schema", () => {
    const runtime = recordingRuntime();
    const write = given(() => useDataWriter("n", { schema: Type.Object({ done: Type.Integer() }) }), runtime);
    // @ts-expect-error the schema wants a number
    expect(() => write({ done: "all" })).toThrow();
  });
});

describe("useInitialData", () => {
  it("gives what the conversation was created with, a copy each time", () => {
    const runtime = recordingRuntime({ initialData: { issue: 7 } });
    const first = given(() => useInitialData<{ issue: number }>(), runtime);
    first.issue = 8;
    expect(given(() => useInitialData<{ issue: number }>(), runtime)).toEqual({ issue: 7 });
  });

  it("is undefined in a bare render and in a delegate", () => {
    expect(given(() => useInitialData())).toBeUndefined();
    let seen: unknown = "nothing";
    renderDelegate(
      () => {
        seen = useInitialData();
      },
      recordingRuntime({ initialData: { issue: 7 } }),
    );
    expect(seen).toBeUndefined();
  });
});

describe("useDelivery", () => {
  it("gives the message in front of the model, to a delegate its task", () => {
    expect(given(() => useDelivery(), recordingRuntime())).toEqual({ kind: "user", body: "hello" });
    let seen: unknown;
    renderDelegate(
      () => {
        seen = useDelivery();
      },
      recordingRuntime({ readDelivery: () => ({ kind: "user", body: "the task" }) }),
    );
    expect(seen).toEqual({ kind: "user", body: "the task" });
  });

  it("throws in a bare render", () => {
    expect(() => render(() => useDelivery())).toThrow(/Agent "tester" misused useDelivery\(\): a bare render/);
  });
});

describe("useDispatchMessage", () => {
  it("takes a string for a user message, and gives the receipt", async () => {
    const runtime = recordingRuntime();
    const receipt = await given(() => useDispatchMessage(), runtime)("hi");
    expect(runtime.dispatched).toEqual([{ kind: "user", body: "hi" }]);
    expect(receipt).toEqual({ submissionId: "sub_1", acceptedAt: "2026-11-30T00:00:00.000Z", uid: "inst_1" });
  });

  it.each<[unknown, RegExp]>([
    [{ kind: "robot", body: "x" }, /"kind" must be "user" or "signal"/],
    [{ kind: "signal", type: "environment", body: "x" }, /reserved for the runtime/],
    [{ kind: "user", body: "x", uid: "inst_1" }, /unknown key "uid"/],
    [{ kind: "user" }, /"body" is not valid/],
  ])("refuses %j", async (message, text) => {
    const runtime = recordingRuntime();
    await expect(given(() => useDispatchMessage(), runtime)(untyped(message))).rejects.toThrow(text);
    expect(runtime.dispatched).toEqual([]);
  });
});

describe("what hooks give to write with", () => {
  const hooks: [string, () => (value: number) => unknown][] = [
    ['the setter of usePersistentState("n")', () => usePersistentState("n", 0)[1]],
    ['the writer of useDataWriter("n")', () => useDataWriter("n")],
    ["the dispatcher of useDispatchMessage()", () => untyped(useDispatchMessage())],
  ];

  it.each(hooks)("makes a render throw that uses it, though nobody awaits it there: %s", (what, hook) => {
    const attempt = () => render(() => void hook()(1), recordingRuntime());
    expect(attempt).toThrow(`Agent "tester" called ${what} during a render`);
  });

  it.each(hooks)("throws on a bare render: %s", async (what, hook) => {
    const write = given(hook);
    await expect((async () => write(1))()).rejects.toThrow(`Agent "tester" called ${what} of a bare render`);
  });

  it.each(hooks)("throws once its call has ended: %s", async (what, hook) => {
    const runtime = recordingRuntime();
    const write = given(hook, runtime);
    runtime.isLive = false;
    await expect((async () => write(1))()).rejects.toThrow(`Agent "tester" called ${what} outside of a running`);
    expect([runtime.state.size, runtime.data.length, runtime.dispatched.length]).toEqual([0, 0, 0]);
  });
});

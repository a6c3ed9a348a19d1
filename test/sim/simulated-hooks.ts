/**
 * The hooks of a simulated agent: callbacks that take their time, may hang, write state, append signals and send messages
 * to themselves, and a tool that writes state and data. Each leaves what `hook-invariants.ts` can count.
 */
import { Type } from "@sinclair/typebox";
import {
  useAgentFinish,
  useAgentStart,
  useDataWriter,
  useDelivery,
  useDispatchMessage,
  usePersistentState,
  useResponseFinish,
  useResponseStart,
  useTool,
} from "../../durable-objects/agent/index.ts";
import type { World } from "./world.ts";

/** A batch has at most as many calls, each of which has a list of its own. */
export const SLOTS = [0, 1, 2] as const;

export const STARTED = ["started.slow", "started.quick"] as const;

export function useSimulatedHooks(world: World): void {
  const { random } = world;
  const delivery = useDelivery();
  const dispatch = useDispatchMessage();
  const report = useDataWriter("progress");
  const [, setStarts] = usePersistentState("starts", 0);
  const [, setCycles] = usePersistentState("cycles", 0);
  const [, setLast] = usePersistentState("last", "");
  const slots = SLOTS.map((slot) => usePersistentState<string[]>(`slot.${slot}`, [])[1]);
  const hangOrSleep = async (): Promise<void> => {
    if (random.chance(0.01)) await new Promise(() => {});
    if (random.chance(0.7)) await world.sleep(random.below(1500));
  };

  useTool({
    name: "tally",
    description: "Counts its command.",
    input: Type.Object({ command: Type.String() }),
    durable: true,
    async run({ data }) {
      const { command } = data;
      report(command);
      slots[Number(command.at(-1))]?.((before) => [...before, command]);
      setLast(command);
      await hangOrSleep();
      report(`did ${command}`);
      return `did ${command}`;
    },
  });
  useAgentStart(async ({ append }) => {
    setStarts((before) => before + 1);
    await hangOrSleep();
    append({ kind: "signal", type: STARTED[0], body: "by the slow one" });
    if (delivery.kind === "user" && random.chance(0.2)) {
      await dispatch({ kind: "signal", type: "self", body: "a note to self" });
    }
  });
  useAgentStart(({ append }) => append({ kind: "signal", type: STARTED[1], body: "by the quick one" }));
  useAgentFinish(async ({ append }) => {
    setCycles((before) => before + 1);
    await hangOrSleep();
    if (random.chance(0.3)) append({ kind: "signal", type: "again", body: "look again" });
  });
  useResponseStart(() => ({ response: { woken: delivery.kind } }));
  useResponseFinish(({ response }) => ({ response: { calls: response.toolCalls.length } }));
}

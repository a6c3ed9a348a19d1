/** Sample agent: a support desk with tools of its own, state, a durable payment and a sandbox only when it is needed. */
import {
  type Agent,
  defaultModel,
  Type,
  useModel,
  usePersistentState,
  useSandbox,
  useTool,
  virtual,
} from "../../durable-objects/agent/index.ts";

const ORDERS: Readonly<Record<string, { item: string; cents: number }>> = {
  "A-1": { item: "lamp", cents: 2900 },
  "A-2": { item: "kettle", cents: 4500 },
};

export const desk: Agent = () => {
  useModel(defaultModel());
  const [isInvestigating, setInvestigating] = usePersistentState("investigating", false);
  const [refunded, setRefunded] = usePersistentState<string[]>("refunded", []);

  useTool({
    name: "look_up_order",
    description: "Look up an order by its number.",
    input: Type.Object({ order: Type.String() }),
    run: ({ data }) => ({ output: ORDERS[data.order] ?? null }),
  });

  // After a crash it runs again, and a step that was done is not done a second time.
  useTool({
    name: "refund",
    description: "Pay an order back. Only once for each order.",
    input: Type.Object({ order: Type.String() }),
    durable: true,
    async run({ data: { order }, step }) {
      if (refunded.includes(order)) return `Order ${order} was paid back before.`;
      const payment = await step.do("pay back", () => ({ id: `payment-of-${order}` }));
      setRefunded((before) => [...before, order]);
      return `Order ${order} is paid back: ${payment.id}.`;
    },
  });

  useTool({
    name: "investigate",
    description: "Get or give back a sandbox with files and a shell, to look into data a customer sent.",
    input: Type.Object({ on: Type.Boolean() }),
    run: ({ data }) => setInvestigating(data.on),
  });
  if (isInvestigating) useSandbox(virtual());

  return "You work at the support desk of a small shop. Look orders up before you pay anything back.";
};
desk.description = "Answers customers, pays orders back, and looks into data in a sandbox when it has to.";

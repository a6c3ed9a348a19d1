/** An agent whose sandbox, tools and skills come and go as it is told: what is mounted is its persistent state. */
import {
  type Agent,
  defaultModel,
  defineSkill,
  sandbox,
  Type,
  useModel,
  usePersistentState,
  useSandbox,
  useSkill,
  useTool,
} from "../../../durable-objects/agent/index.ts";

export const MOUNTABLE = ["sandbox", "alpha", "beta", "faq", "refunds"] as const;
export type Mountable = (typeof MOUNTABLE)[number];

const faq = defineSkill({ name: "faq", description: "Answers what is asked often.", instructions: "Answer." });
const refunds = defineSkill({ name: "refunds", description: "Pays money back.", instructions: "Pay." });

export function driftingAgent(instructions: string): Agent {
  return () => {
    useModel(defaultModel());
    const [mounted, setMounted] = usePersistentState<Mountable[]>("mounted", []);
    if (mounted.includes("sandbox")) useSandbox(sandbox());
    if (mounted.includes("alpha")) useTool({ name: "alpha", description: "Does alpha.", run: () => "alpha" });
    if (mounted.includes("beta")) useTool({ name: "beta", description: "Does beta.", run: () => "beta" });
    if (mounted.includes("faq")) useSkill(faq);
    if (mounted.includes("refunds")) useSkill(refunds);
    useTool({
      name: "mount",
      description: "Mounts exactly what is named.",
      input: Type.Object({ names: Type.Array(Type.Union(MOUNTABLE.map((name) => Type.Literal(name)))) }),
      run({ data }) {
        setMounted(data.names);
        return "mounted";
      },
    });
    return instructions;
  };
}

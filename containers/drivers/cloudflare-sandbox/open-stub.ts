/**
 * Opens the deployment's `Sandbox` binding for one conversation, without a session: parallel commands, true exit codes,
 * nothing kept from one command to the next.
 *
 * The SDK is loaded when a sandbox is opened; it cannot be imported outside workerd.
 *
 * Source: ARCHITECTURE 6; FACTS (@cloudflare/sandbox).
 */
import type { CreateSandboxOptions } from "../../sandbox.ts";
import { deriveSandboxId } from "../../sandbox-id.ts";
import type { SandboxStub } from "./stub.ts";

export async function openStub({ host }: CreateSandboxOptions): Promise<SandboxStub> {
  const namespace = host?.sandboxes;
  if (namespace === undefined || namespace === null) {
    throw new Error(
      'SANDBOX=cloudflare needs the Durable Object binding "Sandbox" (class Sandbox, with its [[containers]] and [[migrations]] entries): add them to wrangler.toml as the repository has them and deploy again, or set SANDBOX=virtual.',
    );
  }
  if (host?.workspace === undefined) {
    throw new Error(
      "cloudflareSandbox() without a stub belongs to a conversation: createSandbox() needs its workspace.",
    );
  }
  const { getSandbox } = await import("@cloudflare/sandbox");
  // A binding is whatever the deployment declared under the name; the SDK checks it by using it.
  const declared = namespace as Parameters<typeof getSandbox>[0];
  const { objectName, uid } = host.workspace;
  return getSandbox(declared, deriveSandboxId(objectName, uid), { enableDefaultSession: false });
}

/**
 * Admission: checks a send against what is stored, then makes it durable, in one transaction with the birth of the
 * conversation if it is the first. A send that is refused leaves nothing behind, not even tables.
 *
 * A keyed send is adopted when the same one is there already; the key names it for the conversation's life.
 *
 * Source: contract RUNTIME 1.3 to 1.5, 1.9, 2.2.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../protocol/clock.ts";
import { BerthError } from "../protocol/errors.ts";
import type { Ids } from "../protocol/ids.ts";
import { MAX_UNSETTLED_SUBMISSIONS } from "../protocol/limits.ts";
import { renderOffset } from "../protocol/offset.ts";
import { ROOT_THREAD } from "../protocol/records.ts";
import type { Admission, Receipt } from "../protocol/rpc.ts";
import type { AttachmentRef, DeliveredMessage, RecordedMessage } from "../protocol/submission.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { AttachmentStore } from "./store/attachments.ts";
import type { Database } from "./store/database.ts";
import { type Instance, insertInstance } from "./store/instance.ts";
import type { Journal } from "./store/journal.ts";
import { migrate } from "./store/migrations.ts";
import type { SubmissionQueue } from "./store/submission-queue.ts";

const KEY_NAMESPACE = "flue-submission-key";
const KEYED_ID_HEX = 32;

export interface AdmissionParts {
  db: Database;
  journal: Journal;
  queue: SubmissionQueue;
  attachments: AttachmentStore;
  clock: Clock;
  ids: Ids;
  /** Kind of sandbox the deployment offers; recorded at birth. */
  sandboxKind: string;
  readInstance(): Instance | undefined;
  /** What is wrong with a new conversation's initial data, by its agent's schema. */
  findInitialDataFault(agent: string, initialData: unknown): string | undefined;
}

function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The same key in the same conversation is the same submission, whatever carried it. */
export function keyedSubmissionId(agent: string, id: string, key: string): string {
  return `sub_ik_${sha256Hex([KEY_NAMESPACE, agent, id, key].join("\n")).slice(0, KEYED_ID_HEX)}`;
}

function identityOf({ agent, id, message, initialData }: Admission): string {
  return sha256Hex(canonicalJson({ agent, id, message, initialData }));
}

/** Throws `BerthError`; the caller may be told of the receipt once the transaction is in. */
export function admitSubmission(parts: AdmissionParts, admission: Admission): Receipt {
  const instance = parts.readInstance();
  const { agent, id, idempotencyKey } = admission;
  const keyedId = idempotencyKey === undefined ? undefined : keyedSubmissionId(agent, id, idempotencyKey);
  const known = instance && keyedId !== undefined ? adopt(parts, instance, keyedId, admission) : undefined;
  if (known) return known;
  checkCondition(instance, admission.uid);
  if (!instance) checkInitialData(parts, admission);
  const { db, journal, queue, clock, ids } = parts;
  migrate(db);
  return db.transaction(() => {
    if (queue.countUnsettled() >= MAX_UNSETTLED_SUBMISSIONS) {
      throw new BerthError("too_many_requests", "Too many messages of this conversation are waiting.", {
        details: `At most ${MAX_UNSETTLED_SUBMISSIONS} submissions may be unsettled; wait for some to settle.`,
      });
    }
    const { uid } = instance ?? bear(parts, admission);
    const submissionId = keyedId ?? ids.next("sub");
    const offsetSeq = journal.headOf(ROOT_THREAD);
    queue.insert({
      id: submissionId,
      message: storeAttachments(parts.attachments, submissionId, admission.message),
      acceptedAt: clock.now(),
      offsetSeq,
      ...(keyedId !== undefined && { identity: identityOf(admission) }),
      ...(admission.trace && { trace: admission.trace }),
      ...(admission.subject !== undefined && { subject: admission.subject }),
    });
    return { offset: renderOffset(offsetSeq), submissionId, uid };
  });
}

/** The first receipt of a keyed send that is there already; a different send under its key is a conflict. */
function adopt(
  { queue }: AdmissionParts,
  instance: Instance,
  submissionId: string,
  admission: Admission,
): Receipt | undefined {
  const known = queue.find(submissionId);
  if (!known) return undefined;
  if (known.identity !== identityOf(admission)) {
    throw new BerthError("submission_conflict", "The idempotency key was used for another message.", {
      details: "Use a new key for a new message; repeat a message exactly to get its receipt again.",
      meta: { submissionId },
    });
  }
  return { offset: renderOffset(known.offsetSeq), submissionId, uid: instance.uid, deduplicated: true };
}

function checkCondition(instance: Instance | undefined, uid: string | null | undefined): void {
  if (uid === null && instance) {
    throw new BerthError("agent_instance_exists", "The conversation exists already.", { meta: { uid: instance.uid } });
  }
  if (typeof uid === "string" && instance?.uid !== uid) {
    throw new BerthError("agent_instance_not_found", "The conversation to continue does not exist.", {
      details: "It was never created, or it was deleted and created anew.",
    });
  }
}

function checkInitialData(parts: AdmissionParts, { agent, initialData }: Admission): void {
  const fault = parts.findInitialDataFault(agent, initialData);
  if (fault !== undefined) throw new BerthError("invalid_request", `"initialData" is not valid: ${fault}`);
}

function bear({ db, journal, ids, sandboxKind }: AdmissionParts, admission: Admission): Instance {
  const instance: Instance = {
    uid: ids.next("inst"),
    incarnation: ids.next("inc"),
    agent: admission.agent,
    id: admission.id,
    ...(admission.initialData !== undefined && { initialData: admission.initialData }),
  };
  insertInstance(db, instance);
  journal.append(ROOT_THREAD, { type: "birth", ...instance, sandbox: sandboxKind });
  return instance;
}

/** The message as it is recorded; the bytes go beside it. */
function storeAttachments(store: AttachmentStore, submissionId: string, message: DeliveredMessage): RecordedMessage {
  if (message.kind !== "user" || !message.attachments) return message as RecordedMessage;
  const attachments = message.attachments.map((attachment, index): AttachmentRef => {
    const { type, data, mimeType, filename } = attachment;
    const id = `att_${type}_${submissionId}_${index}`;
    const bytes = new Uint8Array(Buffer.from(data, "base64"));
    store.insert(id, mimeType, bytes);
    return { type, id, mimeType, size: bytes.length, ...(filename !== undefined && { filename }) };
  });
  return { ...message, attachments };
}

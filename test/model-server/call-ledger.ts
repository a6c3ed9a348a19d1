/** Follows the calls through the messages of a request: which are open, which ids were used. Notes what is wrong. */

const SAFE_ID = /^[A-Za-z0-9_-]{1,64}$/;
const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export interface SeenCall {
  id: string;
  name: string;
  hasObject: boolean;
}

export class CallLedger {
  readonly #used = new Set<string>();
  readonly #open = new Set<string>();
  readonly #problems: string[];

  constructor(problems: string[]) {
    this.#problems = problems;
  }

  call(at: number, { id, name, hasObject }: SeenCall): void {
    if (!SAFE_ID.test(id)) this.#problems.push(`message ${at}: call id ${JSON.stringify(id)} is not safe`);
    if (this.#used.has(id)) this.#problems.push(`message ${at}: call id ${id} was used before`);
    if (name === "") this.#problems.push(`message ${at}: call ${id} names no tool`);
    else if (!SAFE_NAME.test(name)) this.#problems.push(`message ${at}: call ${id} has the name ${name}`);
    if (!hasObject) this.#problems.push(`message ${at}: the arguments of call ${id} are no JSON object`);
    this.#used.add(id);
    this.#open.add(id);
  }

  result(at: number, id: string): void {
    if (this.#open.delete(id)) return;
    const why = this.#used.has(id) ? "is a second one or comes late" : "belongs to no call";
    this.#problems.push(`message ${at}: the result of ${id} ${why}`);
  }

  /** No result may come any more: another message stands at `at`, or the request ends. */
  close(at: number): void {
    for (const id of this.#open) this.#problems.push(`message ${at}: call ${id} has no result before it`);
    this.#open.clear();
  }
}

/** A change of one text in one file that switches a guard off. */
export interface Mutation {
  /** The guard that is off, as a name for the report. */
  name: string;
  /** Below `durable-objects/`. */
  file: string;
  find: string;
  replace: string;
}

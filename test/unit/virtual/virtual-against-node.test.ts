/** The file operations of a staged view, against the same random operations on a real directory. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import * as operations from "../../../containers/drivers/virtual/file-operations.ts";
import { mergeChanges } from "../../../containers/drivers/virtual/merge-changes.ts";
import { StagedFiles } from "../../../containers/drivers/virtual/staged-files.ts";
import { createFileStore } from "../../../durable-objects/conversation/store/files.ts";
import { emptyDatabase, orphansOf } from "./open-driver.ts";

/** Operations stay below here, so that a target with one `..` stays below its parent in both worlds. */
const ROOT = "/box/root";
const NAMES = ["a", "b", "c", "d"];

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Step = [name: string, real: () => unknown, virtual: (files: StagedFiles) => unknown];

/** One operation in both worlds; `at` makes a path of ours the real one. */
function randomStep(random: () => number, at: (path: string) => string): Step {
  const pick = <T>(from: readonly [T, ...T[]]): T => from[Math.floor(random() * from.length)] ?? from[0];
  const name = (): string => pick(["a", "b", "c", "d"]);
  const somePath = (): string => [ROOT, ...Array.from({ length: 1 + Math.floor(random() * 3) }, name)].join("/");
  const one = somePath();
  const two = somePath();
  const bytes = new TextEncoder().encode(`${name()}${Math.floor(random() * 100)}`.repeat(1 + Math.floor(random() * 5)));
  const recursive = random() < 0.5;
  const mode = pick([0o600, 0o644, 0o755, 0o400]);
  const target = pick([name(), `${name()}/${name()}`, `../${name()}`]);
  const removeOptions = { recursive: true, force: recursive, emptyDirectory: false };
  return pick<Step>([
    [`write ${one}`, () => fs.writeFileSync(at(one), bytes), (files) => operations.writeFile(files, one, bytes)],
    [`append ${one}`, () => fs.appendFileSync(at(one), bytes), (files) => operations.appendFile(files, one, bytes)],
    [
      `mkdir ${one}`,
      () => fs.mkdirSync(at(one)),
      (files) => operations.makeDirectory(files, one, { recursive: false }),
    ],
    [
      `mkdir -p ${one}`,
      () => void fs.mkdirSync(at(one), { recursive: true }),
      (files) => operations.makeDirectory(files, one, { recursive: true }),
    ],
    [
      `rm -r ${one} ${recursive}`,
      () => fs.rmSync(at(one), { recursive: true, force: recursive }),
      (files) => operations.remove(files, one, removeOptions),
    ],
    [`mv ${one} ${two}`, () => fs.renameSync(at(one), at(two)), (files) => operations.rename(files, one, two)],
    [`ln ${one} ${two}`, () => fs.linkSync(at(one), at(two)), (files) => operations.makeHardLink(files, one, two)],
    [
      `ln -s ${target} ${one}`,
      () => fs.symlinkSync(target, at(one)),
      (files) => operations.makeSymlink(files, target, one),
    ],
    [
      `chmod ${mode.toString(8)} ${one}`,
      () => fs.statSync(at(one)).isFile() && fs.chmodSync(at(one), mode),
      (files) => operations.stat(files, one).kind === "file" && operations.changeMode(files, one, mode),
    ],
    [
      `read ${one}`,
      () => fs.readFileSync(at(one), "utf8"),
      (files) => new TextDecoder().decode(operations.readFile(files, one)),
    ],
    [
      `realpath ${one}`,
      () => fs.realpathSync(at(one)).slice(at("").length),
      (files) => operations.realPath(files, one),
    ],
  ]);
}

/** What an operation came to: its answer, or the code of its error. */
function outcomeOf(work: () => unknown): unknown {
  try {
    return work() ?? "done";
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

function realTree(at: (path: string) => string, directory: string): string[] {
  return fs.readdirSync(at(directory)).flatMap((name) => {
    const own = `${directory}/${name}`;
    const stat = fs.lstatSync(at(own));
    if (stat.isDirectory()) return [`${own}/`, ...realTree(at, own)];
    if (stat.isSymbolicLink()) return [`${own} -> ${fs.readlinkSync(at(own))}`];
    return [`${own} ${(stat.mode & 0o777).toString(8)} x${stat.nlink} ${fs.readFileSync(at(own), "utf8")}`];
  });
}

function virtualTree(files: StagedFiles, directory: string): string[] {
  return operations.readDirectory(files, directory).flatMap(({ name, kind }) => {
    const own = `${directory}/${name}`;
    if (kind === "directory") return [`${own}/`, ...virtualTree(files, own)];
    if (kind === "symlink") return [`${own} -> ${operations.readLink(files, own)}`];
    const { mode, links } = operations.lstat(files, own);
    return [`${own} ${mode.toString(8)} x${links} ${new TextDecoder().decode(operations.readFile(files, own))}`];
  });
}

describe("random file operations on the virtual files", () => {
  it("answer, fail and leave a tree as the same operations on a real directory do, however they are committed", () => {
    for (let seed = 1; seed <= 120; seed += 1) {
      const base = fs.mkdtempSync(path.join(fs.realpathSync(tmpdir()), "berth-"));
      const at = (own: string): string => base + own;
      const db = emptyDatabase();
      const store = createFileStore(db);
      let files = new StagedFiles(store, () => 0);
      try {
        const random = seededRandom(seed);
        fs.mkdirSync(at(ROOT), { recursive: true });
        operations.makeDirectory(files, ROOT, { recursive: true });
        for (const name of NAMES.slice(0, 2)) {
          fs.mkdirSync(at(`${ROOT}/${name}`));
          operations.makeDirectory(files, `${ROOT}/${name}`, { recursive: false });
        }
        const log: string[] = [];
        for (let count = 0; count < 60; count += 1) {
          const [name, real, virtual] = randomStep(random, at);
          log.push(name);
          const trail = `seed ${seed}\n${log.join("\n")}`;
          expect(
            outcomeOf(() => virtual(files)),
            trail,
          ).toEqual(outcomeOf(real));
          if (random() < 0.2) {
            store.commit(mergeChanges(files, store));
            files = new StagedFiles(store, () => 0);
            expect(virtualTree(files, "/box"), trail).toEqual(realTree(at, "/box").toSorted(treeOrder));
            expect(orphansOf(db), trail).toEqual([]);
          }
        }
        expect(virtualTree(files, "/box"), `seed ${seed}`).toEqual(realTree(at, "/box").toSorted(treeOrder));
      } finally {
        fs.rmSync(base, { recursive: true, force: true });
      }
    }
  });
});

/** Siblings by name; the names are single ASCII letters, so the path decides up to its first blank. */
function treeOrder(a: string, b: string): number {
  const left = (a.split(" ")[0] ?? "").replace(/\/$/, "");
  const right = (b.split(" ")[0] ?? "").replace(/\/$/, "");
  return left < right ? -1 : left > right ? 1 : 0;
}

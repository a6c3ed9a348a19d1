/** What is a skill and what is not. Source: contract RUNTIME 8. */
import { describe, expect, it } from "vitest";
import { parseSkill } from "../../../durable-objects/skills/parse-skill.ts";

function skill(frontMatter: string, body = "Body\n"): string {
  return `---\n${frontMatter}\n---\n${body}`;
}

const FIELDS = "name: s\ndescription: d";
const parse = (text: string) => parseSkill(text, "s");

describe("a SKILL.md", () => {
  it("gives name, description and the trimmed body", () => {
    expect(parse(skill(FIELDS, "\n# Do\n\nthis\n\n"))).toEqual({
      name: "s",
      description: "d",
      instructions: "# Do\n\nthis",
    });
  });

  it.each([
    ["a byte order mark", `\uFEFF${skill(FIELDS)}`],
    ["line ends of Windows", skill(FIELDS).replaceAll("\n", "\r\n")],
    ["blanks behind the rules", `--- \n${FIELDS}\n---\t \r\nBody`],
    ["no line end behind the last line", skill(FIELDS, "Body")],
    [
      "fields nobody knows, and those that are not enforced",
      skill(`${FIELDS}\nx: [1, {y: z}]\nallowed-tools: Bash Read`),
    ],
    [
      "every optional field",
      skill(`${FIELDS}\nlicense: MIT\ncompatibility: git\nmetadata:\n  version: 1.0\n  on: yes`),
    ],
    ["optional fields that are left empty", skill(`${FIELDS}\nlicense:\ncompatibility:\nmetadata:`)],
    ["a tag that means nothing here", skill("name: !!str s\ndescription: !x d")],
    ["a value repeated by name", skill("author: &me d\nname: s\ndescription: *me")],
    ["comments and quotes", skill("# c\nname: 's' # c\ndescription: \"d\"")],
  ])("may have %s", (_what, text) => {
    expect(parse(text)).toEqual({ name: "s", description: "d", instructions: "Body" });
  });

  it("keeps the rules of its body, so that nothing behind one is lost", () => {
    const { instructions } = parse(skill(FIELDS, "PART-1\n\n---\n\nPART-2\n---\nPART-3\n"));
    expect(instructions).toBe("PART-1\n\n---\n\nPART-2\n---\nPART-3");
  });

  it("ends its front matter only at a line that is nothing but three hyphens", () => {
    expect(parse(skill(`${FIELDS}\nnote: |\n  ---\n  ----`)).instructions).toBe("Body");
  });

  it.each([["123"], ["true"], ["null"], ["0x10"], ["1e3"]])("takes the name %s for text", (name) => {
    expect(parseSkill(skill(`name: ${name}\ndescription: 007`), name)).toMatchObject({ name, description: "007" });
  });

  it("shows a description of several lines on one", () => {
    expect(parse(skill("name: s\ndescription: >\n  first\n  second\n\n  third")).description).toBe(
      "first second third",
    );
    expect(parse(skill("name: s\ndescription: |\n  first\n  - second")).description).toBe("first - second");
  });

  it("shows no control character and no half of a surrogate pair, which a prompt would carry on", () => {
    expect(parse(skill('name: s\ndescription: "\\e[31ma\\0b\\x85c\\uD83D"')).description).toBe("[31ma b c\uFFFD");
    expect(() => parse(skill('name: s\ndescription: "\\0\\e"'))).toThrow("description is missing.");
  });

  it.each([
    ["a colon in prose", "For old code: finishing work, never new.", "For old code: finishing work, never new."],
    ["several colons, quotes and a hash", `Use: "a", 'b': c #1`, `Use: "a", 'b': c #1`],
    ["a value that only begins quoted", '"Quoted" words: then more', '"Quoted" words: then more'],
    ["a sign that YAML keeps for itself", "@team and `code`: yes", "@team and `code`: yes"],
    ["a bracket that is none", "[WIP] Do this: now", "[WIP] Do this: now"],
    ["a star", "*important*: read first", "*important*: read first"],
    ["a second line", "For old code: finishing\n  work, never: new.", "For old code: finishing work, never: new."],
    ["a quote left open", '"never: again', '"never: again'],
    ["a backslash", "In C:\\dir: look", "In C:\\dir: look"],
    ["an apostrophe in single quotes", "'Don't use: it's old'", "Don't use: it's old"],
    ["quotes in quotes", '"Use for "old" code"', 'Use for "old" code'],
  ])("is read as it was meant when the description has %s", (_what, written, meant) => {
    const parsed = parse(skill(`name: s\ndescription: ${written}\nmetadata:\n  a: "b: c"\nlicense: 'x'`));
    expect(parsed.description).toBe(meant);
  });

  it.each([
    ["that is empty", "", /does not begin with front matter/],
    ["without front matter", "# Title\n", /does not begin with front matter/],
    ["that begins with a blank line", `\n${skill(FIELDS)}`, /does not begin with front matter/],
    ["whose front matter has no end", `---\n${FIELDS}\nBody\n`, /no end/],
    ["whose end is indented", `---\n${FIELDS}\n ---\nBody\n`, /no end/],
    ["with nothing in the front matter", "---\n---\nBody", /not a list of `name: value` lines/],
    ["with prose for front matter", skill("just words"), /not a list of `name: value` lines/],
    ["with a list for front matter", skill("- a\n- b"), /not a list of `name: value` lines/],
    ["indented with tabs", skill(`${FIELDS}\nmetadata:\n\ta: b`), /not valid YAML: .*at line 5/],
    ["with an alias that leads nowhere", skill("name: s\ndescription: *nope"), /not valid YAML: Unresolved alias/],
    ["with one field twice", skill(`${FIELDS}\nname: t`), /not valid YAML: Map keys must be unique at line 4/],
    ["without a name", skill("description: d"), /^name is missing\.$/],
    ["with a blank name", skill("name:\ndescription: d"), /^name is missing\.$/],
    ["without a description", skill("name: s"), /^description is missing\.$/],
    ["with a blank description", skill('name: s\ndescription: " "'), /^description is missing\.$/],
    ["whose description is a list", skill("name: s\ndescription: [a]"), /^description must be text\.$/],
    ["whose name is a list", skill("name: [s]\ndescription: d"), /^name must be text\.$/],
    ["of another folder's name", skill("name: t\ndescription: d"), /name "t" is not the name of its folder, "s"/],
    ["with a long description", skill(`name: s\ndescription: ${"x".repeat(1025)}`), /longer than 1024 characters/],
    ["with a long compatibility", skill(`${FIELDS}\ncompatibility: ${"x".repeat(501)}`), /longer than 500 characters/],
    ["whose metadata is a list", skill(`${FIELDS}\nmetadata: [a]`), /^metadata must map names to text\.$/],
    ["whose metadata is deep", skill(`${FIELDS}\nmetadata:\n  a:\n    b: c`), /^metadata must map names to text\.$/],
    ["whose license is a list", skill(`${FIELDS}\nlicense: [a]`), /^license must be text\.$/],
  ])("%s is none, and the reason says why", (_what, text, reason) => {
    expect(() => parse(text)).toThrow(reason);
  });

  it.each([["Upper"], ["-a"], ["a-"], ["a--b"], ["a_b"], ["a b"], ["ä"], ["a.b"], ["x".repeat(65)]])(
    "may not be named %s",
    (name) => {
      expect(() => parseSkill(skill(`name: "${name}"\ndescription: d`), name)).toThrow(/^name ".*" is not allowed/);
    },
  );

  it("counts a description in characters, at its limits", () => {
    expect(parse(skill(`name: s\ndescription: ${"😀".repeat(1024)}`)).description).toHaveLength(2048);
    expect(parseSkill(skill(`name: ${"x".repeat(64)}\ndescription: d`), "x".repeat(64)).name).toHaveLength(64);
  });

  it("is refused when its values multiply by repetition, before they fill memory", () => {
    const levels = Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`);
    expect(() => parse(skill(`${FIELDS}\na0: &a0 x\n${levels.join("\n")}`))).toThrow(/not valid YAML: .*alias/i);
  });

  it("cannot reach the prototype of anything by a field's name", () => {
    expect(parse(skill(`${FIELDS}\n__proto__: {polluted: yes}`))).not.toHaveProperty("polluted");
    expect(Object.prototype).not.toHaveProperty("polluted");
  });
});

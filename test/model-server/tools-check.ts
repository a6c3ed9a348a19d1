/** What a fussy provider would refuse of the names of a request's tools. */

const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function findToolProblems(names: readonly string[]): string[] {
  const unsafe = names.filter((name) => !SAFE_NAME.test(name)).map((name) => `the tool name ${name} is not safe`);
  const twice = names.filter((name, at) => names.indexOf(name) !== at).map((name) => `the tool ${name} is there twice`);
  return [...unsafe, ...twice];
}

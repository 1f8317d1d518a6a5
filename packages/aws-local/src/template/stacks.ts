import { LocalRunError } from '../errors.ts';

/** Unresolved sections of a stack's template. */
export interface StackContent {
  stackName: string;
  content: Readonly<Record<string, unknown>>;
}

export interface JoinedStacks {
  /** Common prefix of the stacks' names; of one stack, its name. */
  stackName: string;
  content: Record<string, unknown>;
}

type Section = Readonly<Record<string, unknown>>;

/**
 * Merges an assembly's stacks, which run together here, and replaces imports by the other stacks' exports
 * (CloudFormation, `Fn::ImportValue`).
 * @throws LocalRunError when stacks use a name twice, or an import has no export
 */
export function joinStacks(stacks: readonly StackContent[]): JoinedStacks {
  const outputs = stacks.flatMap(({ content }) => Object.entries(section(content, 'Outputs')));
  const exported = new Map(
    outputs.flatMap(([, output]) => {
      const { Export, Value } = { Export: undefined, Value: undefined, ...Object(output) };
      return Export === undefined ? [] : [[nameOf(Export), Value]];
    }),
  );
  const resolve = (value: unknown): unknown => replaceImports(value, exported);
  const joined: Record<string, unknown> = {};
  for (const { stackName, content } of stacks)
    for (const [name, value] of Object.entries(content))
      joined[name] =
        typeof value === 'object'
          ? union(Object(joined[name]), Object(resolve(value)), `${name} of ${stackName}`)
          : value;
  return {
    stackName: findCommonPrefix(stacks.map(({ stackName }) => stackName)),
    // Exported outputs are for other stacks only.
    content: {
      ...joined,
      Outputs: Object.fromEntries(
        outputs.filter(([, { Export }]) => !Export).map(([name, output]) => [name, resolve(output)]),
      ),
    },
  };
}

const section = (content: Section, name: string): Record<string, { Export?: unknown }> =>
  Object(content[name]);

const nameOf = (exported: unknown): string => String(Object(exported).Name);

function union(first: Section, second: Section, where: string): Section {
  for (const [name, value] of Object.entries(second))
    if (Object.hasOwn(first, name) && JSON.stringify(first[name]) !== JSON.stringify(value))
      throw new LocalRunError(
        `${where}: another stack has a different ${name}, and the local run makes one of all stacks`,
      );
  return { ...first, ...second };
}

/** Replaces imports by the exported values. */
function replaceImports(value: unknown, exported: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceImports(item, exported));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value);
  const [[intrinsic, name] = []] = entries;
  if (entries.length !== 1 || intrinsic !== 'Fn::ImportValue')
    return Object.fromEntries(entries.map(([key, part]) => [key, replaceImports(part, exported)]));
  if (typeof name !== 'string' || !exported.has(name))
    throw new LocalRunError(
      `A stack imports ${JSON.stringify(name)}, which no stack of the assembly exports`,
    );
  return replaceImports(exported.get(name), exported);
}

/** Without trailing separators. */
function findCommonPrefix([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return others.length === 0 ? first : first.slice(0, length).replace(/-+$/, '');
}

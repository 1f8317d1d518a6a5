import { LocalRunError } from '../errors.ts';
import { importApis } from './api-import.ts';

type Section = Readonly<Record<string, unknown>>;

/** Unresolved sections of a stack's template. */
export interface StackContent {
  stackName: string;
  content: Section;
  /** Of a nested stack: the stack that contains it, and its resource there. */
  nested?: { parent: string; logicalId: string; parameters: Section };
}

export interface JoinedStacks {
  /** Common prefix of the stacks' names; of one stack, its name. */
  stackName: string;
  content: Record<string, unknown>;
}

const NESTED_STACK = 'AWS::CloudFormation::Stack';

/**
 * A stack and those nested in it.
 * @param readAsset reads a template by its object key in the bucket of assets
 */
export function withNestedStacks(
  stack: StackContent,
  readAsset: (objectKey: string) => Section,
): StackContent[] {
  const nested = Object.entries(section(stack.content, 'Resources')).flatMap(([logicalId, resource]) => {
    const { Type, Properties } = Object(resource);
    if (Type !== NESTED_STACK) return [];
    const { Parameters, TemplateURL } = Object(Properties);
    const { stackName: parent } = stack;
    return withNestedStacks(
      {
        stackName: `${parent}-${logicalId}`,
        content: readAsset(objectKeyOf(TemplateURL)),
        nested: { parent, logicalId, parameters: Object(Parameters) },
      },
      readAsset,
    );
  });
  return [stack, ...nested];
}

/** The last part of a URL that may contain intrinsic functions. */
const objectKeyOf = (url: unknown): string => /([^/"]+)[\]}"]*$/.exec(JSON.stringify(url))?.[1] ?? '';

/**
 * Merges an assembly's stacks, which run together here: imports are replaced by the other stacks' exports,
 * parameters of nested stacks by their values, and attributes of a nested stack by its outputs.
 * @throws LocalRunError when stacks use a name twice, or something refers to an export or output that is none
 */
export function joinStacks(stacks: readonly StackContent[]): JoinedStacks {
  const resolve = resolver(stacks);
  const joined: Record<string, unknown> = {};
  for (const stack of stacks)
    for (const [name, value] of Object.entries(stack.content))
      if (typeof value !== 'object') joined[name] = value;
      else if (name !== 'Outputs' && !(name === 'Parameters' && stack.nested !== undefined))
        joined[name] = union(
          Object(joined[name]),
          Object(resolve(name === 'Resources' ? withoutNested(Object(value)) : value, stack)),
          `${name} of ${stack.stackName}`,
        );
  const roots = stacks.filter(({ nested }) => nested === undefined);
  return {
    stackName: findCommonPrefix(roots.map(({ stackName }) => stackName)),
    // Exported outputs are for other stacks only, those of a nested stack for the one that contains it.
    content: {
      ...joined,
      Resources: importApis(Object(joined.Resources)),
      Outputs: Object.fromEntries(
        roots.flatMap((stack) =>
          Object.entries(section(stack.content, 'Outputs'))
            .filter(([, output]) => !Object(output).Export)
            .map(([name, output]) => [name, resolve(output, stack)]),
        ),
      ),
    },
  };
}

/** Resolves what refers to another stack. */
function resolver(stacks: readonly StackContent[]) {
  const byName = new Map(stacks.map((stack) => [stack.stackName, stack]));
  const byResource = new Map(stacks.map((stack) => [stack.nested?.logicalId, stack]));
  const exported = new Map(
    stacks.flatMap((stack) =>
      Object.values(section(stack.content, 'Outputs')).flatMap((output) => {
        const { Export, Value } = Object(output);
        return Export === undefined ? [] : [[String(Object(Export).Name), { value: Value, stack }] as const];
      }),
    ),
  );

  return function resolve(value: unknown, stack: StackContent): unknown {
    if (Array.isArray(value)) return value.map((item) => resolve(item, stack));
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value);
    const [[intrinsic, argument] = []] = entries;
    if (entries.length === 1) {
      if (intrinsic === 'Fn::ImportValue') {
        const found = typeof argument === 'string' ? exported.get(argument) : undefined;
        if (found !== undefined) return resolve(found.value, found.stack);
        throw new LocalRunError(
          `A stack imports ${JSON.stringify(argument)}, which no stack of the assembly exports`,
        );
      }
      const { nested } = stack;
      const parent = nested && byName.get(nested.parent);
      if (intrinsic === 'Ref' && parent && Object.hasOwn(nested.parameters, String(argument)))
        return resolve(nested.parameters[String(argument)], parent);
      if (intrinsic === 'Fn::GetAtt' && Array.isArray(argument)) {
        const [logicalId, attribute] = argument.map(String);
        const target = logicalId === undefined ? undefined : byResource.get(logicalId);
        if (target !== undefined) return resolve(outputOf(target, attribute), target);
      }
    }
    return Object.fromEntries(entries.map(([key, part]) => [key, resolve(part, stack)]));
  };
}

/** @throws LocalRunError when a nested stack has no such output */
function outputOf({ stackName, content }: StackContent, attribute = ''): unknown {
  const output = section(content, 'Outputs')[attribute.replace(/^Outputs\./, '')];
  if (output === undefined)
    throw new LocalRunError(`The stack ${stackName} has no ${attribute}, which another stack refers to`);
  return Object(output).Value;
}

/** Without nested stacks, whose resources take their place, and what waits for them. */
function withoutNested(resources: Section): Section {
  const isNested = (name: unknown) => Object(resources[String(name)]).Type === NESTED_STACK;
  const entries = Object.entries(resources).filter(([name]) => !isNested(name));
  return Object.fromEntries(
    entries.map(([name, resource]) => {
      const { DependsOn, ...others } = Object(resource);
      if (![DependsOn].flat().some(isNested)) return [name, resource];
      const left = [DependsOn].flat().filter((other) => !isNested(other));
      return [name, left.length === 0 ? others : { ...others, DependsOn: left }];
    }),
  );
}

const section = (content: Section, name: string): Section => Object(content[name]);

function union(first: Section, second: Section, where: string): Section {
  for (const [name, value] of Object.entries(second))
    if (Object.hasOwn(first, name) && JSON.stringify(first[name]) !== JSON.stringify(value))
      throw new LocalRunError(
        `${where}: another stack has a different ${name}, and the local run makes one of all stacks`,
      );
  return { ...first, ...second };
}

/** Without trailing separators. */
function findCommonPrefix([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return others.length === 0 ? first : first.slice(0, length).replace(/-+$/, '');
}

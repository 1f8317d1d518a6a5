import type { Template } from 'aws-cdk-lib/assertions';
import { expect, it } from 'vitest';
import { listStages } from '../../lib/infra/context.ts';
import { EVERYTHING, OTHER_ISSUER, SETTINGS, type TestContext } from './contexts.ts';
import { resourcesOf } from './reading.ts';
import { synthesize, synthesizeStage } from './synthesize.ts';

/*
 * The templates as they were last reviewed: `npx vitest run --config test/vitest.config.ts --project infra
 * test/infra/templates -u` writes what has changed, for the next review.
 */

/*
 * Templates as text for reviews: resources of a type that have the same properties are one entry, references
 * are written as in `Fn::Sub`, and nothing is shown that changes with the code of functions.
 */

type Values = Readonly<Record<string, unknown>>;
/** A resource's type and properties as they are shown, by its shown name. */
type Shown = Map<string, { type: string; values: Values }>;

/** Properties that another test compares for all resources, or that are another file. */
const LEFT_OUT = new Set(['Tags', 'UserPoolTags', 'DashboardBody', 'FunctionCode', 'AlarmDescription']);

/** Hashes of assets, of constructs' paths, and of versions that follow the code. */
const HASHES =
  /[0-9a-f]{64}|[0-9a-f]{32}|(?<=[A-Za-z])[0-9A-F]{8}(?![0-9A-Za-z])|(?<=[0-9A-F]{8})[0-9a-f]{32}/g;
const withoutHash = (id: string): string => id.replaceAll(/(?<=\w)(?:[0-9A-F]{8})+(?:[0-9a-f]{32})?$/g, '');

/** A value with its references as text. */
function shownValue(value: unknown, name: (text: string) => string): unknown {
  const show = (part: unknown): unknown => shownValue(part, name);
  if (typeof value === 'string') return name(value.replaceAll(HASHES, ''));
  if (Array.isArray(value)) return value.map(show);
  if (value === null || typeof value !== 'object') return value;
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': join, 'Fn::Sub': sub } = Object(value);
  if (typeof ref === 'string') return name(`\${${withoutHash(ref)}}`);
  if (Array.isArray(attribute)) return name(`\${${withoutHash(String(attribute[0]))}.${attribute[1]}}`);
  if (Array.isArray(join?.[1])) return join[1].map(show).join(String(join[0]));
  if (sub !== undefined) return show(sub);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !LEFT_OUT.has(key))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => [key, show(part)]),
  );
}

/** What all resources of a function share in their names, by the beginning of the resources' ids. */
function functionNames(template: Template): [id: string, name: string][] {
  return [...resourcesOf(template)]
    .map(([id, { Properties }]): [string, string] => [
      withoutHash(id).replace(/Function$/, ''),
      String(Object(Object(Properties).Environment).Variables?.FUNCTION_NAME ?? ''),
    ])
    .filter(([, name]) => name !== '')
    .toSorted(([a], [b]) => b.length - a.length);
}

/** The tree of paths, which its methods name, and a deployment, which lists them. */
const TYPES_LEFT_OUT = new Set(['AWS::ApiGateway::Resource', 'AWS::ApiGateway::Deployment']);

/** A method by its path, with the function that answers it and without what only names these two. */
function showMethod(template: Template, properties: Values): { name: string; values: Values } {
  const pathOf = (resource: unknown): string => {
    const { PathPart, ParentId } = Object(resourcesOf(template).get(Object(resource).Ref)?.Properties);
    return PathPart === undefined ? '' : `${pathOf(ParentId)}/${PathPart}`;
  };
  const { ResourceId, ...values } = properties;
  const text = JSON.stringify(values);
  const [, answering] = /:function:[a-z-]+?-(?:prod|staging|dev)-([a-z-]+)\/invocations/.exec(text) ?? [];
  const name = `${values.HttpMethod}:${pathOf(ResourceId) || '/'}`;
  if (answering === undefined) return { name, values };
  return { name: `${name}=${answering}`, values: JSON.parse(text.replace(`-${answering}/`, '-<function>/')) };
}

/** The template's resources, in which a function's own name is `<function>`, and the stage's `<stage>`. */
function showTemplate(template: Template, stage: string): Shown {
  const names = functionNames(template);
  const ofStage = (text: string) =>
    text.replaceAll(new RegExp(`(?<![a-z])${stage}(?![a-z])|(?<=Service)${stage}`, 'g'), '<stage>');
  const shown: Shown = new Map();
  for (const [name, { Value }] of Object.entries<{ Value: unknown }>(template.toJSON().Outputs))
    shown.set(name, { type: 'Output', values: { Value: shownValue(Value, ofStage) } });
  for (const [id, { Type, Properties = {}, ...attributes }] of resourcesOf(template)) {
    if (TYPES_LEFT_OUT.has(Type)) continue;
    const { name, values: properties } =
      Type === 'AWS::ApiGateway::Method'
        ? showMethod(template, Properties)
        : { name: withoutHash(id), values: Properties };
    const [prefix = '', own = ''] = names.find(([beginning]) => name.startsWith(beginning)) ?? [];
    const generalize = (text: string) =>
      prefix === ''
        ? ofStage(text)
        : ofStage(text)
            .replaceAll(new RegExp(`\\b${prefix}(?![a-z])`, 'g'), '<Function>')
            .replaceAll(new RegExp(`(?<![a-z])${own}(?![a-z])`, 'g'), '<function>');
    const { Metadata: _, ...shownAttributes } = Object(attributes);
    const values = Object(shownValue({ ...shownAttributes, ...properties }, generalize));
    shown.set(ofStage(name), { type: Type, values });
  }
  return shown;
}

/** Entries with the same text are one, with a list of their names. */
function group(entries: Iterable<readonly [name: string, text: string]>): string[] {
  const groups = Map.groupBy(entries, ([, text]) => text);
  return [...groups]
    .map(([text, members]) => {
      const names = members.map(([name]) => name).toSorted();
      return names.length === 1 ? `${names[0]} ${text}` : `${text}\n${wrap(names)}`;
    })
    .toSorted();
}

function wrap(names: readonly string[]): string {
  const lines = [''];
  for (const name of names) {
    const last = lines.at(-1) ?? '';
    if (last.length + name.length > 160) lines.push(`    ${name}`);
    else lines[lines.length - 1] = last === '' ? `    ${name}` : `${last} ${name}`;
  }
  return lines.join('\n');
}

const toText = (values: Values): string => JSON.stringify(values);

/** All resources, by their types. */
function describeTemplate(shown: Shown): string {
  const types = Map.groupBy(shown, ([, { type }]) => type);
  return [...types]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, resources]) => {
      const entries = group(resources.map(([name, { values }]) => [name, toText(values)] as const));
      return `${[type, ...entries].join('\n')}\n`;
    })
    .join('\n');
}

/** What one template has in place of another: properties, then resources that only one of them has. */
function describeDifference(base: Shown, shown: Shown): string {
  const changed = [...shown].flatMap(([name, { values }]) => {
    const before = base.get(name)?.values;
    if (before === undefined) return [];
    const text = toText(difference(before, values));
    return text === '{}' ? [] : [[name, text] as const];
  });
  const only = (one: Shown, other: Shown) => [...one].filter(([name]) => !other.has(name));
  const added = only(shown, base).map(
    ([name, { type, values }]) => [name, `${type} ${toText(values)}`] as const,
  );
  const removed = only(base, shown).map(([name, { type }]) => [name, type] as const);
  const sections: [string, string[]][] = [
    ['Different', group(changed)],
    ['Added', group(added)],
    ['Removed', group(removed)],
  ];
  return sections
    .filter(([, entries]) => entries.length > 0)
    .map(([title, entries]) => `${[title, ...entries].join('\n')}\n`)
    .join('\n');
}

/** The values that differ, at any depth of objects; null in place of one that is gone. */
function difference(before: Values, after: Values): Values {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...names].toSorted().flatMap((name) => {
      const [old, current] = [before[name], after[name]];
      if (JSON.stringify(old) === JSON.stringify(current)) return [];
      const areObjects = [old, current].every((value) => Object(value) === value && !Array.isArray(value));
      return [[name, areObjects ? difference(Object(old), Object(current)) : (current ?? null)]];
    }),
  );
}

const inProduction = showTemplate(synthesize(), 'prod');

it('production with a mailer has the template that was reviewed', async () => {
  await expect(describeTemplate(inProduction)).toMatchFileSnapshot('templates/prod.txt');
});

it.each<[string, context: TestContext]>([
  ['everything', EVERYTHING],
  ['settings', SETTINGS],
  ['other-issuer', OTHER_ISSUER],
])('what %s has in place of it was reviewed', async (name, context) => {
  const shown = showTemplate(synthesize(context), 'prod');
  await expect(describeDifference(inProduction, shown)).toMatchFileSnapshot(`templates/${name}.txt`);
});

it.each(listStages())('what stage %s has in place of it was reviewed', async (stage) => {
  const shown = showTemplate(await synthesizeStage(stage), stage);
  await expect(describeDifference(inProduction, shown)).toMatchFileSnapshot(`templates/stages/${stage}.txt`);
});

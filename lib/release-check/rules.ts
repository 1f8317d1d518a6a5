import { isDeepStrictEqual as isEqual } from 'node:util';
import { fullDiff, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import { objectsIn, type Release, type ReleaseStack, type Resource, refersTo } from './assembly.ts';
import { type Accepted, type Direction, type Finding, type Hit, toFindings } from './finding.ts';
import { isData, isRetained, isVariable, nameOf } from './resources.ts';

type Resources = Readonly<Record<string, Resource>>;

/** A stack of both releases, or a nested stack that is deleted. */
interface StackChange {
  stack: string;
  before: Resources;
  after: Resources;
  /** Properties that force a replacement, by logical id. */
  replaced: ReadonlyMap<string, string[]>;
  /** Resources of both releases. */
  kept: [id: string, old: Resource, next: Resource][];
}

interface Change {
  direction: Direction;
  from: Release;
  to: Release;
  stacks: StackChange[];
}

/**
 * What AWS refuses, or what is lost, when a release is deployed over another.
 * @param accepted with reasons
 */
export function checkUpdate(from: Release, to: Release, direction: Direction, accepted: Accepted): Finding[] {
  const stacks = [...from].flatMap(([stack, { template }]) => {
    const next = to.get(stack)?.template.Resources;
    const isDeleted = to.has(stack.replace(/\/[^/]*$/, ''));
    return next || isDeleted ? [compare(stack, template.Resources, next ?? {})] : [];
  });
  const change: Change = { direction, from, to, stacks };
  const hits = [
    ...stacks.flatMap((stack) => [
      ...checkReplacements(stack),
      ...checkLeaving(stack, direction),
      ...checkDocuments(stack),
      ...checkIndexes(stack),
    ]),
    ...checkExports(change),
    ...checkNames(change),
    ...checkSettings(change),
    ...checkRoots(change),
    // The earlier release was within them.
    ...(direction === 'deploy' ? [...to.values()].flatMap(checkLimits) : []),
  ];
  return toFindings(hits, direction, accepted);
}

function compare(stack: string, before: Resources, after: Resources): StackChange {
  const replaced = new Map<string, string[]>();
  const kept = Object.entries(after).flatMap(([id, next]): StackChange['kept'] => {
    const old = before[id];
    return old === undefined ? [] : [[id, old, next]];
  });
  // The library writes into its arguments.
  const diff = fullDiff(structuredClone({ Resources: before }), structuredClone({ Resources: after }));
  for (const [id, old, next] of kept) {
    const updates = Object.entries(diff.resources.changes[id]?.propertyUpdates ?? {});
    const causes = updates.filter(([, { changeImpact }]) => changeImpact === ResourceImpact.WILL_REPLACE);
    const names = causes.map(([name]) => name);
    if (hasOtherKeyTypes(old, next)) names.push('AttributeDefinitions');
    if (names.length > 0) replaced.set(id, names);
  }
  return { stack, before, after, replaced, kept };
}

const isTable = ({ Type }: Resource): boolean => /^AWS::DynamoDB::(?:Global)?Table$/.test(Type);

/** The objects of a list by one of their fields. */
const entriesBy = (key: string, list: unknown): Map<unknown, Record<string, unknown>> =>
  new Map((Array.isArray(list) ? list : []).map((entry) => [Object(entry)[key], Object(entry)]));

/** Whether a key of a table keeps its name and has another type, which the library does not see. */
function hasOtherKeyTypes(old: Resource, next: Resource): boolean {
  if (!isTable(old)) return false;
  const typesOf = ({ Properties }: Resource) => entriesBy('AttributeName', Properties.AttributeDefinitions);
  const [was, is] = [typesOf(old), typesOf(next)];
  return [...entriesBy('AttributeName', old.Properties.KeySchema).keys()].some(
    (key) => is.has(key) && !isEqual(was.get(key), is.get(key)),
  );
}

function checkReplacements({ stack, kept, replaced }: StackChange): Hit[] {
  return kept.flatMap(([resource, old, next]): Hit[] => {
    if (old.Type !== next.Type)
      return [{ rule: 'type-changed', level: 'error', stack, resource, note: `${old.Type} to ${next.Type}` }];
    const note = replaced.get(resource)?.join(', ');
    if (note === undefined || !isData(old)) return [];
    const isKept = isRetained(old.UpdateReplacePolicy);
    const detail = isKept ? 'leaves the old one outside of it' : 'deletes the old one';
    return [{ rule: 'data-replaced', level: isKept ? 'error' : 'warning', stack, resource, note, detail }];
  });
}

function checkLeaving({ stack, before, after }: StackChange, direction: Direction): Hit[] {
  const leaving = new Map(Object.entries(before).filter(([id]) => !(id in after)));
  return [...leaving].flatMap(([resource, old]): Hit[] => {
    const hit = { stack, resource, note: old.Type };
    if (!isRetained(old.DeletionPolicy))
      return isData(old) ? [{ rule: 'data-deleted', level: 'warning', ...hit }] : [];
    const name = nameOf(old);
    if (name !== undefined && !refersTo(name, leaving))
      return [{ rule: 'retained-name', level: 'error', ...hit }];
    // What a release added has no data of the earlier one.
    const level = direction === 'deploy' ? 'error' : 'warning';
    return isData(old) ? [{ rule: 'data-left', level, ...hit }] : [];
  });
}

/**
 * An import with the mode `overwrite` deletes what the document lacks, so AWS refuses siblings within it
 * only; with another mode, earlier paths stay (API Gateway Developer Guide, Import an OpenAPI file to update
 * an existing API definition).
 */
function checkDocuments({ stack, before, after, replaced }: StackChange): Hit[] {
  const pathsOf = (api?: Resource): string[] => Object.keys(Object(Object(api?.Properties.Body).paths));
  return Object.entries(after).flatMap(([id, api]): Hit[] => {
    if (api.Type !== 'AWS::ApiGateway::RestApi') return [];
    const stays = api.Properties.Mode !== 'overwrite' && !replaced.has(id);
    const paths = [...pathsOf(api), ...(stays ? pathsOf(before[id]) : [])];
    const prefixes = paths.flatMap((path) => {
      const parts = path.split('/');
      return parts.map((part, depth) => ({ part, parent: parts.slice(0, depth).join('/') }));
    });
    const variables = Object.groupBy(
      prefixes.filter(({ part }) => isVariable(part)),
      ({ parent }) => parent,
    );
    return Object.values(variables).flatMap((group = []) => {
      const siblings = [...new Set(group.map(({ parent, part }) => `${parent}/${part}`))];
      return siblings.length < 2
        ? []
        : [{ rule: 'path-variable', level: 'error', stack, resource: siblings.join(' beside ') }];
    });
  });
}

function checkIndexes({ stack, kept, replaced }: StackChange): Hit[] {
  return kept.flatMap(([resource, old, next]): Hit[] => {
    if (!isTable(next) || old.Type !== next.Type || replaced.has(resource)) return [];
    const indexesOf = ({ Properties }: Resource) => entriesBy('IndexName', Properties.GlobalSecondaryIndexes);
    const [was, is] = [indexesOf(old), indexesOf(next)];
    const names = [...new Set([...was.keys(), ...is.keys()])];
    const moved = names.filter((name) => was.has(name) !== is.has(name));
    const fixed = (index?: Record<string, unknown>) => [index?.KeySchema, index?.Projection];
    const changed = names.filter(
      (name) => !moved.includes(name) && !isEqual(fixed(was.get(name)), fixed(is.get(name))),
    );
    const hit = { level: 'error', stack, resource } as const;
    return [
      ...(moved.length > 1 ? [{ rule: 'index-count', ...hit, note: moved.join(', ') } as const] : []),
      ...(changed.length > 0 ? [{ rule: 'index-changed', ...hit, note: changed.join(', ') } as const] : []),
    ];
  });
}

function checkExports({ from, to, stacks }: Change): Hit[] {
  const exportsOf = (release: Release, stack: string) =>
    Object.values(release.get(stack)?.template.Outputs ?? {}).filter(({ Export }) => Export !== undefined);
  const imports = [...from].flatMap(([path, { template }]) =>
    [...objectsIn(template)].map((object) => ({ path, name: object['Fn::ImportValue'] })),
  );
  return stacks.flatMap(({ stack, replaced }) =>
    exportsOf(from, stack).flatMap(({ Value, Export }): Hit[] => {
      const importers = imports.filter(({ name }) => isEqual(name, Export?.Name)).map(({ path }) => path);
      const next = exportsOf(to, stack).find((other) => isEqual(other.Export, Export));
      const isKept = next !== undefined && isEqual(next.Value, Value) && !refersTo(Value, replaced);
      if (importers.length === 0 || isKept) return [];
      const detail = [...new Set(importers)].join(' and ');
      const resource = typeof Export?.Name === 'string' ? Export.Name : JSON.stringify(Export?.Name);
      return [{ rule: 'export-in-use', level: 'error', stack, resource, detail }];
    }),
  );
}

function checkNames({ from, to, stacks }: Change): Hit[] {
  const named = (release: Release) =>
    [...release].flatMap(([stack, { template }]) => {
      const own = new Map(Object.entries({ ...template.Parameters, ...template.Resources }));
      return Object.entries(template.Resources).flatMap(([id, resource]) => {
        const name = nameOf(resource);
        if (name === undefined) return [];
        // What it refers to is within the stack.
        return [
          { stack, id, name, key: JSON.stringify([resource.Type, name, refersTo(name, own) && stack]) },
        ];
      });
    });
  // What is abandoned has a rule of its own, for all its names.
  const abandoned = findAbandoned(from, to);
  const present = named(from).filter(({ stack }) => !abandoned.some((root) => isWithin(stack, root)));
  const held = new Map(present.map(({ key, stack, id }) => [key, { stack, id }]));
  return named(to).flatMap(({ stack, id: resource, name, key }): Hit[] => {
    const holder = held.get(key);
    const replaced: StackChange['replaced'] =
      stacks.find((change) => change.stack === stack)?.replaced ?? new Map();
    // A name with a reference to what is replaced is another one.
    if (holder === undefined || refersTo(name, replaced)) return [];
    const isSame = holder.stack === stack && holder.id === resource;
    if (isSame && !replaced.has(resource)) return [];
    const cause = isSame ? `replaced for ${replaced.get(resource)?.join(', ')}` : `was ${holder.id}`;
    const note = [...name.filter((part) => typeof part === 'string'), cause].join(', ');
    return [{ rule: 'name-taken', level: 'error', stack, resource, note, detail: holder.stack }];
  });
}

/** What only a setting of the stage's file brings, by its name. */
const SETTINGS: Readonly<Record<string, (resource: Resource) => boolean>> = {
  domain: ({ Type }) => Type === 'AWS::ApiGateway::DomainName',
  dashboard: ({ Type, Properties }) =>
    Type === 'AWS::CloudFront::Distribution' && Object(Properties.DistributionConfig).Aliases !== undefined,
  alarmEmail: ({ Type }) => Type === 'AWS::SNS::Subscription',
  mailFrom: ({ Properties }) => Object(Properties.Environment).Variables?.MAIL_FROM !== undefined,
  'user pool': ({ Type }) => Type === 'AWS::Cognito::UserPool',
};

function checkSettings({ direction, from, to }: Change): Hit[] {
  const hasAny = (release: Release, stack: string, isPart: (resource: Resource) => boolean) =>
    [...release]
      .filter(([path]) => isWithin(path, stack))
      .some(([, { template }]) => Object.values(template.Resources).some(isPart));
  const roots = [...to.keys()].filter((path) => !path.includes('/'));
  return roots.flatMap((stack) =>
    Object.entries(SETTINGS)
      .filter(([, isPart]) => hasAny(from, stack, isPart) && !hasAny(to, stack, isPart))
      .map(([resource]): Hit => {
        const level = direction === 'deploy' ? 'error' : 'warning';
        return { rule: 'setting-removed', level, stack, resource };
      }),
  );
}

const isWithin = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

/** Stacks of the earlier app that the later one lacks. */
const findAbandoned = (from: Release, to: Release): string[] =>
  [...from.keys()].filter((path) => !path.includes('/') && !to.has(path));

function checkRoots({ from, to }: Change): Hit[] {
  const roots = findAbandoned(from, to);
  if (roots.length === 0) return [];
  const held = [...from].filter(([path]) => roots.some((root) => isWithin(path, root)));
  const data = held.flatMap(([, { template }]) => Object.values(template.Resources)).filter(isData);
  const types = Object.entries(Object.groupBy(data, ({ Type }) => Type));
  const counts = types.map(([type, all]) => `${all?.length} ${type}`);
  const hit = { rule: 'stack-abandoned', level: 'error', stack: roots.join(', ') } as const;
  return (counts.length === 0 ? ['none'] : counts).map((resource) => ({ ...hit, resource }));
}

/** CloudFormation User Guide, Quotas. */
const LIMITS = { resources: 500, outputs: 200, parameters: 200, bytes: 1_048_576 };
const NEAR = 0.9;

function checkLimits({ path, size, template: { Resources, Outputs, Parameters } }: ReleaseStack): Hit[] {
  const [resources = 0, outputs = 0, parameters = 0] = [Resources, Outputs, Parameters].map(
    (section) => Object.keys(section).length,
  );
  const counts = Object.entries({ resources, outputs, parameters, bytes: size } satisfies typeof LIMITS);
  return counts.flatMap(([resource, count]): Hit[] => {
    const limit = LIMITS[resource as keyof typeof LIMITS];
    const note = `${count} of ${limit}`;
    if (count <= NEAR * limit) return [];
    return [{ rule: 'limit', level: count > limit ? 'error' : 'warning', stack: path, resource, note }];
  });
}

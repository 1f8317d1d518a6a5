import { isDeepStrictEqual as isEqual } from 'node:util';
import { fullDiff, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import { type Release, type Resource, refersTo, type Template } from './assembly.ts';
import { type Accepted, type Direction, type Finding, type Hit, toFindings } from './finding.ts';
import { isData, isRetained, nameOf } from './resources.ts';

/** A stack of both releases, or a nested stack that is deleted. */
interface StackChange {
  stack: string;
  resources: { id: string; old?: Resource; next?: Resource }[];
  /** Properties that force a replacement, by logical id. */
  replaced: ReadonlyMap<string, string[]>;
}

/**
 * What AWS refuses, or what is lost, when a release is deployed over another.
 * @param accepted with reasons
 */
export function checkUpdate(from: Release, to: Release, direction: Direction, accepted: Accepted): Finding[] {
  const abandoned = [...from.keys()].filter((path) => !to.has(rootOf(path)));
  const kept = [...from.keys()].filter((path) => !abandoned.includes(path));
  const stacks = kept.map((path) => compare(path, from, to));
  const hits = [
    ...stacks.flatMap((change) => checkResources(change, direction)),
    ...stacks.flatMap(checkDocuments),
    ...checkExports(stacks, from, to),
    ...checkNames(stacks, from, to),
    ...checkSettings(
      kept.filter((path) => path === rootOf(path)),
      from,
      to,
      direction,
    ),
    ...checkAbandoned(abandoned, from),
    // The earlier release was within them.
    ...(direction === 'deploy' ? [...to].flatMap(checkLimits) : []),
  ];
  return toFindings(hits, direction, accepted);
}

const rootOf = (path: string): string => path.split('/', 1)[0] ?? '';

function compare(stack: string, from: Release, to: Release): StackChange {
  const [before = {}, after = {}] = [from, to].map((release) => release.get(stack)?.Resources);
  // The library writes into its arguments.
  const diff = fullDiff(structuredClone({ Resources: before }), structuredClone({ Resources: after }));
  // Each access filters all resources.
  const { changes } = diff.resources;
  const resources = Object.keys({ ...before, ...after }).map((id) => ({
    id,
    old: before[id],
    next: after[id],
  }));
  const replaced = resources.flatMap(({ id, old, next }): [string, string[]][] => {
    if (old === undefined || next === undefined) return [];
    const causes = Object.entries(changes[id]?.propertyUpdates ?? {})
      .filter(([, { changeImpact }]) => changeImpact === ResourceImpact.WILL_REPLACE)
      .map(([name]) => name);
    // The library does not see a key of a table that keeps its name and has another type.
    if (causes.length === 0 && !isEqual(keysOf(old), keysOf(next))) causes.push('AttributeDefinitions');
    return causes.length > 0 ? [[id, causes]] : [];
  });
  return { stack, resources, replaced: new Map(replaced) };
}

function checkResources({ stack, resources, replaced }: StackChange, direction: Direction): Hit[] {
  const leaving = new Set(resources.filter(({ next }) => next === undefined).map(({ id }) => id));
  return resources.flatMap(({ id: resource, old, next }): Hit[] => {
    const hit = { stack, resource };
    if (old === undefined) return [];
    if (next === undefined) {
      const name = nameOf(old);
      const note = old.Type;
      if (!isRetained(old.DeletionPolicy))
        return isData(old) ? [{ rule: 'data-deleted', level: 'warning', ...hit, note }] : [];
      if (name !== undefined && !refersTo(name, leaving)) return [{ rule: 'retained-name', ...hit, note }];
      // What a release added has no data of the earlier one.
      const level = direction === 'deploy' ? 'error' : 'warning';
      return isData(old) ? [{ rule: 'data-left', level, ...hit, note }] : [];
    }
    if (old.Type !== next.Type)
      return [{ rule: 'type-changed', ...hit, note: `${old.Type} to ${next.Type}` }];
    const causes = replaced.get(resource);
    if (causes === undefined) return checkIndexes(old, next).map((found) => ({ ...hit, ...found }));
    if (!isData(old)) return [];
    const data = { rule: 'data-replaced', ...hit, note: causes.join(', ') } as const;
    return isRetained(old.UpdateReplacePolicy)
      ? [{ ...data, detail: 'leaves the old one outside of it' }]
      : [{ ...data, level: 'warning', detail: 'deletes the old one' }];
  });
}

/** The objects of a list, or of none. */
const objectsIn = (list: unknown): Record<string, unknown>[] => (Array.isArray(list) ? list : []);

/** Definitions of a table's keys. */
const keysOf = ({ Properties: { KeySchema, AttributeDefinitions } = {} }: Resource) =>
  objectsIn(KeySchema).map((key) =>
    objectsIn(AttributeDefinitions).find((attribute) => attribute.AttributeName === key.AttributeName),
  );

/** What of a table's global indexes cannot be changed, by their names. */
const indexesOf = ({ Properties: { GlobalSecondaryIndexes } = {} }: Resource) =>
  new Map(
    objectsIn(GlobalSecondaryIndexes).map((index) => [index.IndexName, [index.KeySchema, index.Projection]]),
  );

function checkIndexes(old: Resource, next: Resource): Pick<Hit, 'rule' | 'note'>[] {
  const [was, is] = [indexesOf(old), indexesOf(next)];
  const moved = [...was.keys(), ...is.keys()].filter((name) => !(was.has(name) && is.has(name)));
  const changed = [...was.keys()].filter((name) => is.has(name) && !isEqual(was.get(name), is.get(name)));
  const found: Pick<Hit, 'rule' | 'note'>[] = [];
  if (moved.length > 1) found.push({ rule: 'index-count', note: moved.join(', ') });
  if (changed.length > 0) found.push({ rule: 'index-changed', note: changed.join(', ') });
  return found;
}

/**
 * An import with the mode `overwrite` deletes what the document lacks, so AWS refuses siblings within it
 * only; with another mode, earlier paths stay (API Gateway Developer Guide, Import an OpenAPI file to update
 * an existing API definition).
 */
function checkDocuments({ stack, resources, replaced }: StackChange): Hit[] {
  return resources.flatMap(({ id, old, next }): Hit[] => {
    if (next?.Type !== 'AWS::ApiGateway::RestApi') return [];
    const stays = next.Properties?.Mode !== 'overwrite' && !replaced.has(id);
    const apis = stays && old ? [next, old] : [next];
    const paths = apis.flatMap(({ Properties = {} }) => Object.keys(Object(Object(Properties.Body).paths)));
    const variables = paths.flatMap((path) =>
      [...path.matchAll(/\{[^/]*\}/g)].map(({ 0: part, index }) => path.slice(0, index + part.length)),
    );
    const siblings = Map.groupBy(new Set(variables), (path) => path.slice(0, path.lastIndexOf('/')));
    return [...siblings.values()]
      .filter(({ length }) => length > 1)
      .map((group) => ({ rule: 'path-variable', stack, resource: group.join(' beside ') }));
  });
}

function checkExports(stacks: readonly StackChange[], from: Release, to: Release): Hit[] {
  const texts = [...from].map(([path, template]) => [path, JSON.stringify(template)] as const);
  const exportsOf = (release: Release, stack: string) => Object.values(release.get(stack)?.Outputs ?? {});
  return stacks.flatMap(({ stack, replaced }) =>
    exportsOf(from, stack).flatMap(({ Value, Export }): Hit[] => {
      const name = JSON.stringify(Export?.Name);
      const importers = texts.filter(([, text]) => text.includes(`{"Fn::ImportValue":${name}}`));
      const next = exportsOf(to, stack).find((other) => isEqual(other.Export, Export));
      const isKept = isEqual(next?.Value, Value) && !refersTo(Value, replaced);
      if (importers.length === 0 || isKept) return [];
      const detail = importers.map(([path]) => path).join(' and ');
      return [{ rule: 'export-in-use', stack, resource: name.replaceAll('"', ''), detail }];
    }),
  );
}

/** What has an explicit name, or a place for one. */
const namesIn = (release: Release) =>
  [...release].flatMap(([stack, { Parameters, Resources }]) => {
    const own = new Set(Object.keys({ ...Parameters, ...Resources }));
    return Object.entries(Resources).flatMap(([id, resource]) => {
      const name = nameOf(resource);
      if (name === undefined) return [];
      // What it refers to is within the stack.
      return [{ stack, id, name, key: JSON.stringify([resource.Type, name, refersTo(name, own) && stack]) }];
    });
  });

function checkNames(stacks: readonly StackChange[], from: Release, to: Release): Hit[] {
  const changes = new Map(stacks.map((change) => [change.stack, change]));
  // What is abandoned has a rule of its own, for all its names.
  const present = namesIn(from).filter(({ stack }) => changes.has(stack));
  const holders = new Map(present.map((named) => [named.key, named]));
  return namesIn(to).flatMap(({ stack, id, name, key }): Hit[] => {
    const holder = holders.get(key);
    const replaced = changes.get(stack)?.replaced ?? new Map<string, string[]>();
    // A name with a reference to what is replaced is another one.
    if (holder === undefined || refersTo(name, replaced)) return [];
    const isSame = holder.stack === stack && holder.id === id;
    if (isSame && !replaced.has(id)) return [];
    const cause = isSame ? `replaced for ${replaced.get(id)?.join(', ')}` : `was ${holder.id}`;
    const note = [...name.filter((part) => typeof part === 'string'), cause].join(', ');
    return [{ rule: 'name-taken', stack, resource: id, note, detail: holder.stack }];
  });
}

/** What only a setting of the stage's file brings, by its name. */
const SETTINGS: Readonly<Record<string, (resource: Resource) => boolean>> = {
  domain: ({ Type }) => Type === 'AWS::ApiGateway::DomainName',
  dashboard: ({ Type, Properties }) =>
    Type === 'AWS::CloudFront::Distribution' && Object(Properties?.DistributionConfig).Aliases !== undefined,
  alarmEmail: ({ Type }) => Type === 'AWS::SNS::Subscription',
  mailFrom: ({ Properties }) => Object(Properties?.Environment).Variables?.MAIL_FROM !== undefined,
  'user pool': ({ Type }) => Type === 'AWS::Cognito::UserPool',
};

function checkSettings(roots: readonly string[], from: Release, to: Release, direction: Direction): Hit[] {
  const level = direction === 'deploy' ? 'error' : 'warning';
  const hasAny = (release: Release, root: string, isPart: (resource: Resource) => boolean) =>
    [...release].some(
      ([path, { Resources }]) => rootOf(path) === root && Object.values(Resources).some(isPart),
    );
  return roots.flatMap((stack) =>
    Object.entries(SETTINGS)
      .filter(([, isPart]) => hasAny(from, stack, isPart) && !hasAny(to, stack, isPart))
      .map(([resource]): Hit => ({ rule: 'setting-removed', level, stack, resource })),
  );
}

function checkAbandoned(abandoned: readonly string[], from: Release): Hit[] {
  const stack = [...new Set(abandoned.map(rootOf))].join(', ');
  const data = abandoned.flatMap((path) => Object.values(from.get(path)?.Resources ?? {}).filter(isData));
  const counts = [...Map.groupBy(data, ({ Type }) => Type)].map(([type, all]) => `${all.length} ${type}`);
  if (counts.length === 0 && abandoned.length > 0) counts.push('none');
  return counts.map((resource) => ({ rule: 'stack-abandoned', stack, resource }));
}

/** CloudFormation User Guide, Quotas. */
const LIMITS = { Resources: 500, Outputs: 200, Parameters: 200, bytes: 1_048_576 };
const NEAR = 0.9;

function checkLimits([stack, template]: [string, Template]): Hit[] {
  const countOf = (section: string) => Object.keys(Object(Object(template)[section])).length;
  // As the CDK writes it.
  const bytes = Buffer.byteLength(JSON.stringify(template, null, 1));
  return Object.entries(LIMITS).flatMap(([section, limit]): Hit[] => {
    const count = section === 'bytes' ? bytes : countOf(section);
    const hit = { stack, resource: section.toLowerCase(), note: `${count} of ${limit}` };
    if (count <= NEAR * limit) return [];
    return [{ rule: 'limit', level: count > limit ? 'error' : 'warning', ...hit }];
  });
}

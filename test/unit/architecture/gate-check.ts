import { posix } from 'node:path';
import { ALLOWED, GLOBALS, isIn, OUTBOUND, OUTBOUND_CLIENTS, TAKEN_FROM_OUTBOUND } from './reach.ts';
import { isMemberName, type Loaded, nameOf, type Place, type Source } from './source.ts';

const GATE = 'tenancy/gate.ts';
/** All exports of the gate. */
const GATE_EXPORTS = ['Gate', 'GateClosed', 'NotPermitted', 'Permit', 'gate', 'requirePermit'];

/** Lists forbidden uses in a source file of the functions, each in a sentence. */
export function violationsOf(source: Source): string[] {
  const { path } = source;
  return [
    ...source.loads.flatMap((loaded) => wrongLoad(path, loaded)),
    ...source.places.flatMap((place) => [...wrongName(path, place), ...wrongRenaming(path, place)]),
    ...(path === GATE ? wrongExports(source) : source.places.flatMap((place) => wrongPermit(place))),
    ...(isIn(path, [OUTBOUND]) ? [] : wrongSenders(source)),
    ...ALLOWED.flatMap(({ permit }) => (permit?.in === path ? wrongEntrance(source, permit.before) : [])),
  ].map((fault) => `${path} ${fault}`);
}

function wrongLoad(path: string, loaded: Loaded): string[] {
  const { module, isTypeOnly } = loaded;
  if (module.startsWith('.')) return wrongRelative(path, loaded);
  // A type import has no effect at run time; the linter reports one whose module others would not have to
  // load.
  if (isTypeOnly) return [];
  const allowances = ALLOWED.filter(({ modules }) => modules.includes(module));
  if (allowances.length === 0) return [`loads ${module}, which is not in the table of what may be reached`];
  return allowances.some((allowed) => isIn(path, allowed.in)) ? [] : [`loads ${module}, which is not for it`];
}

const targetOf = (path: string, module: string): string => posix.join(posix.dirname(path), module);

function wrongRelative(path: string, { module, names, isTypeOnly }: Loaded): string[] {
  const target = targetOf(path, module);
  if (target.startsWith('..')) return [`loads ${module}, which is none of the functions`];
  if (isTypeOnly || !isIn(target, [OUTBOUND]) || isIn(path, [OUTBOUND])) return [];
  const taken = TAKEN_FROM_OUTBOUND.filter(({ from, by }) => from === target && isIn(path, by));
  return names
    .filter((name) => !taken.some((allowed) => allowed.name === name))
    .map((name) => `takes ${name} from ${target}, past the gate`);
}

function wrongName(path: string, place: Place): string[] {
  if (place.node.type !== 'Identifier') return [];
  const name = nameOf(place.node);
  const allowed = Object.hasOwn(GLOBALS, name) ? GLOBALS[name] : undefined;
  if (allowed === undefined || isMemberName(place) || isIn(path, allowed)) return [];
  return [`says ${name}, which is not for it`];
}

/** The guard and what it guards keep their names everywhere, so that this check finds them. */
function wrongRenaming(path: string, { node, within }: Place): string[] {
  if (node.type !== 'ImportSpecifier' || nameOf(node.imported) === nameOf(node.local)) return [];
  const module = nameOf(within.at(-1)?.source);
  const target = module.startsWith('.') ? targetOf(path, module) : module;
  return target === GATE || isIn(target, [OUTBOUND]) ? [`gives ${nameOf(node.imported)} another name`] : [];
}

/**
 * Only the gate makes permits: elsewhere they are parameters, never asserted, returned, stored or narrowed.
 */
function wrongPermit({ node, within }: Place): string[] {
  if (node.type !== 'Identifier' || nameOf(node) !== 'Permit') return [];
  const [reference, annotation, parameter, parameters] = within.toReversed();
  if (reference?.type === 'ImportSpecifier') return [];
  const isParameter =
    reference?.type === 'TSTypeReference' &&
    annotation?.type === 'TSTypeAnnotation' &&
    Array.isArray(parameters?.params) &&
    parameters.params.includes(parameter);
  return isParameter ? [] : ['names Permit other than as the type of a parameter'];
}

function wrongExports({ places }: Source): string[] {
  const exported = places.flatMap(({ node }) => {
    if (node.type === 'ExportAllDeclaration' || node.type === 'ExportDefaultDeclaration') return [node.type];
    if (node.type !== 'ExportNamedDeclaration') return [];
    const { declaration, specifiers } = node as { declaration?: unknown; specifiers?: unknown[] };
    const named = declaration as { id?: unknown; declarations?: { id: unknown }[] } | null | undefined;
    return [
      ...(named?.id ? [nameOf(named.id)] : []),
      ...(named?.declarations ?? []).map(({ id }) => nameOf(id)),
      ...(specifiers ?? []).map((specifier) => nameOf((specifier as { exported: unknown }).exported)),
    ];
  });
  return exported
    .filter((name) => !GATE_EXPORTS.includes(name))
    .map((name) => `gives ${name} away, which is its own`);
}

/** A client that sends is only passed to a sender, which gets the gate beside it. */
function wrongSenders({ places, loads }: Source): string[] {
  const hasGate = loads.some(
    ({ module, names }) => module.endsWith('/tenancy/gate.ts') && names.includes('gate'),
  );
  return places.flatMap(({ node, within }) => {
    if (node.type !== 'Identifier' || !OUTBOUND_CLIENTS.includes(nameOf(node))) return [];
    const [call, property, terms] = within.toReversed();
    if (call?.type === 'ImportSpecifier') return [];
    const isPassed =
      hasGate &&
      call?.type === 'CallExpression' &&
      call.callee === node &&
      property?.type === 'Property' &&
      property.value === call &&
      nameOf(property.key) === 'outbound' &&
      terms?.type === 'ObjectExpression' &&
      (terms.properties as unknown[]).some(isGate);
    return isPassed ? [] : ['makes a client that it does not give to a sender together with the gate'];
  });
}

/** Whether an object literal has `gate: gate(…)`. */
function isGate(property: unknown): boolean {
  const { key, value } = property as { key?: unknown; value?: { type?: string; callee?: unknown } };
  return nameOf(key) === 'gate' && value?.type === 'CallExpression' && nameOf(value.callee) === 'gate';
}

/**
 * The client's file sends nothing, and exports nothing that sends, except in functions that begin by
 * requiring a permit.
 */
function wrongEntrance({ places, loads }: Source, sending: readonly string[]): string[] {
  const loadsIt = loads.some(
    ({ module, names }) => module.endsWith('/tenancy/gate.ts') && names.includes('requirePermit'),
  );
  const sendings = places.filter(
    (place) =>
      place.node.type === 'Identifier' &&
      sending.includes(nameOf(place.node)) &&
      !isMemberName(place) &&
      place.within.at(-1)?.type !== 'ImportSpecifier',
  );
  if (!loadsIt || sendings.length === 0) return ['does not require a permit'];
  return sendings
    .filter(({ within }) => !within.some((node) => firstCallOf(node) === 'requirePermit'))
    .map(() => 'sends before it requires a permit');
}

/** The name of the function that the first statement of a function calls. */
function firstCallOf(node: Place['node']): string {
  const { body } = node as { body?: { body?: { expression?: { callee?: unknown } }[] } };
  return nameOf(body?.body?.[0]?.expression?.callee);
}

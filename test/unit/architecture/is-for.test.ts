import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nameOf, type Place, sourceOf } from './source.ts';

const ROOT = join(import.meta.dirname, '../../../functions');
/** The file of `isFor`. */
const OWNER = 'events/events.ts';

/** Whether a place reads whom an event names: it may only be written, as a property of a new object. */
function readsRecipient({ node, within }: Place): boolean {
  if (node.type === 'Literal') return node.value === 'onlyTo';
  if (node.type !== 'Identifier' || nameOf(node) !== 'onlyTo') return false;
  const [object, property] = within.slice(-2);
  return object?.type !== 'ObjectExpression' || property?.key !== node || property.shorthand === true;
}

/** Whether a place searches an endpoint's subscriptions. */
function searchesSubscriptions({ node }: Place): boolean {
  if (node.type !== 'MemberExpression') return false;
  const object = Object(node.object);
  const list = object.type === 'MemberExpression' ? nameOf(object.property) : nameOf(object);
  return list === 'events' && ['some', 'includes', 'indexOf', 'find'].includes(nameOf(node.property));
}

it('whom an event is for is decided in one place', () => {
  const faults = globSync('**/*.ts', { cwd: ROOT }).flatMap((path) => {
    const { places } = sourceOf(path, readFileSync(join(ROOT, path), 'utf8'));
    return places.some((place) => readsRecipient(place) || searchesSubscriptions(place)) ? [path] : [];
  });
  expect(faults).toEqual([OWNER]);
});

/**
 * The part of the abandoned reflect-metadata proposal without which tsyringe, a dependency of the certificate
 * library, does not load. Import it before `@peculiar/x509`.
 */
const metadata = new WeakMap<object, Map<unknown, unknown>>();

function read(key: unknown, target: object): unknown {
  return metadata.get(target)?.get(key);
}

function define(key: unknown, value: unknown, target: object): void {
  const entries = metadata.get(target) ?? new Map<unknown, unknown>();
  entries.set(key, value);
  metadata.set(target, entries);
}

if (!('getMetadata' in Reflect)) {
  Object.assign(Reflect, { getMetadata: read, getOwnMetadata: read, defineMetadata: define });
}

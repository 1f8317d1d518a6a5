/*
 * What Node.js 20 lacks and the sources use. The bundle of the packed program begins with it; in the
 * repository Node.js 24 runs the sources.
 */

const define = (owner: object, name: string, value: unknown): void => {
  if (!(name in owner)) Object.defineProperty(owner, name, { value, configurable: true, writable: true });
};

define(Promise, 'withResolvers', <T>() => {
  const parts: Partial<PromiseWithResolvers<T>> = {};
  const promise = new Promise<T>((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return { ...parts, promise };
});

define(Map, 'groupBy', <Item, Key>(items: Iterable<Item>, keyOf: (item: Item, index: number) => Key) => {
  const groups = new Map<Key, Item[]>();
  for (const [index, item] of [...items].entries()) {
    const key = keyOf(item, index);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
});

define(URL, 'parse', (text: string) => (URL.canParse(text) ? new URL(text) : null));

/** Only what the commands use: resources end in the reverse order. */
class Stack {
  readonly #ends: (() => unknown)[] = [];

  adopt<Resource>(resource: Resource, end: (resource: Resource) => unknown): Resource {
    this.#ends.push(() => end(resource));
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }
}
define(globalThis, 'AsyncDisposableStack', Stack);
